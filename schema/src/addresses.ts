import Type, { type Static } from 'typebox'
import { Problem } from './errors.ts'
import { textOrNull } from './scalars.ts'

export const AddressValidation = Type.Object(
  {
    valid: Type.Boolean({ description: 'Whether a create accepts this address and memo.', examples: [true] }),
    address: textOrNull({
      description: 'The address in its canonical form; null if it is not valid.',
      examples: ['0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'],
    }),
    memo: textOrNull({
      description: 'The memo in its canonical form; null without a memo or if it is not valid.',
      examples: [null],
    }),
    errors: Type.Array(Problem, { description: 'All problems; empty if `valid`.' }),
  },
  { description: 'Result of an address validation. Additive.' },
)
export type AddressValidation = Static<typeof AddressValidation>
