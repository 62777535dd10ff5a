import Type, { type Static } from 'typebox'
import { textOrNull } from './scalars.ts'

export const NamedRefundAddress = Type.Object(
  {
    id: Type.String({ description: 'Exchange id.', examples: ['0198c5a2-7c1e-7b3a-9f0d-2f6f1c0a9b7e'] }),
    refundAddress: Type.String({
      description: 'Refund address, in the canonical form of its network.',
      examples: ['bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'],
    }),
    refundMemo: textOrNull({ description: 'Memo of the refund address, or null.', examples: [null] }),
  },
  { description: 'The refund address of an exchange.' },
)
export type NamedRefundAddress = Static<typeof NamedRefundAddress>
