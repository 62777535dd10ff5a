import { expect, test } from 'vitest'
import { createPendingInspector } from './mempool.ts'
import type { BitcoinNode } from './rpc.ts'

/** A payment of 1 000 units in 200 vB, which is 5 000 units per 1 000 vB. */
const inspect = (
  change: Readonly<{ isReplaceable?: boolean; parents?: readonly string[]; estimate?: bigint | null }>,
) => {
  const { isReplaceable = false, parents = [], estimate = 5_000n } = change
  const asked: (number | undefined)[] = []
  const node = {
    transaction: async () => ({
      txid: 't',
      coinbase: false,
      spends: ['a:0'],
      isReplaceable,
      outputs: [],
      blockHash: null,
    }),
    mempoolEntry: async () => ({ feeUnits: 1_000n, virtualBytes: 200n, parents }),
    estimateFeeRate: async (blocks?: number) => {
      asked.push(blocks)
      return estimate
    },
    minFeeRate: async () => ({ relay: 1_000n, mempool: 2_000n }),
  } as unknown as BitcoinNode
  return createPendingInspector([node])('t').then((payment) => ({ payment, asked }))
}

// M1: an unconfirmed payment stops the clock of a fixed rate only if it cannot be replaced and will be in a block soon.
test.each([
  ['pays the estimate for three blocks', {}, true],
  ['pays less than the estimate', { estimate: 5_001n }, false],
  ['signals replacement', { isReplaceable: true }, false],
  ['has an unconfirmed parent', { parents: ['p'] }, false],
  ['pays more than the minimum of a node without an estimate', { estimate: null }, true],
])('a payment that %s', async (_, change, stopsClock) => {
  expect(await inspect(change)).toEqual({ payment: { stopsClock, spends: ['a:0'] }, asked: [3] })
})
