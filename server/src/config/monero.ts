import Type, { type Static } from 'typebox'
import { moneroDefaults } from '../adapters/chains/monero/chain.ts'
import type { WalletSettings } from '../app/chains.ts'

/** A block of Monero's main chain is younger than this for some hundred years. */
const HEIGHT_MAX = 100_000_000
/** More than one transaction's change can be split into at four times. */
const OUTPUTS_MAX = 64

/** Of the worker's own wallet (docs/private-exchanges.md). */
export const moneroSchema = Type.Optional(
  Type.Object(
    {
      restoreHeight: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: HEIGHT_MAX,
          default: moneroDefaults.restoreHeight,
          description:
            'The block from which the worker’s wallet looks for its coins: the height at which the keystore was made. From 0 the main chain takes hours',
        }),
      ),
      outputsReady: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: OUTPUTS_MAX,
          default: moneroDefaults.outputsReady,
          description:
            'Outputs that the hot wallet keeps: a payout locks its change for ten blocks, and meanwhile the others pay',
        }),
      ),
    },
    { additionalProperties: false },
  ),
)

export const assembleMonero = (file: Static<typeof moneroSchema> | undefined): WalletSettings => ({
  ...moneroDefaults,
  ...file,
})
