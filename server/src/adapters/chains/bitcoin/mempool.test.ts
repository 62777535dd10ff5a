import { expect, test } from 'vitest'
import { btc } from '../../../../networks/btc.ts'
import { resolveNetwork } from '../../../core/domain/network.ts'
import { malformed } from '../shared/replies.ts'
import { parametersOf } from './address.ts'
import { createMempoolReader, createPendingInspector } from './mempool.ts'
import type { BitcoinNode } from './rpc.ts'

const pending = { txid: 't', coinbase: false, spends: ['a:0'], isReplaceable: false, outputs: [], blockHash: null }

type Change = Readonly<{ isReplaceable?: boolean; parents?: readonly string[]; estimate?: bigint | null }>
/** A payment of 1 000 units in 200 vB, which is 5 000 units per 1 000 vB. */
function makeNode({ isReplaceable = false, parents = [], estimate = 5_000n }: Change, asked: unknown[] = []) {
  return {
    transaction: async () => ({ ...pending, isReplaceable }),
    mempoolEntry: async () => ({ feeUnits: 1_000n, evictedUnits: 1_000n, virtualBytes: 200n, parents }),
    estimateFeeRate: async (blocks?: number) => {
      asked.push(blocks)
      return estimate
    },
    minFeeRate: async () => ({ relay: 1_000n, mempool: 2_000n }),
  } as unknown as BitcoinNode
}
const inspect = (change: Change) => {
  const asked: unknown[] = []
  return createPendingInspector([makeNode(change, asked)])('t').then((payment) => ({ payment, asked }))
}

// M1: an unconfirmed payment stops the clock of a fixed rate only if it cannot be replaced and will be in a block soon.
test.each([
  ['pays the estimate for three blocks', {}, true],
  ['pays less than the estimate', { estimate: 5_001n }, false],
  ['signals replacement', { isReplaceable: true }, false],
  ['has an unconfirmed parent', { parents: ['p'] }, false],
  ['pays more than the minimum of a node without an estimate', { estimate: null }, true],
])('M1: a payment that %s', async (_, change, stopsClock) => {
  expect(await inspect(change)).toEqual({ payment: { stopsClock, spends: ['a:0'] }, asked: [3] })
})

// One node that does not have the payment yet made it count from its block only.
test('asks the other nodes for a payment that one node does not have or cannot name', async () => {
  const without = { transaction: async () => null, mempoolEntry: async () => null } as unknown as BitcoinNode
  const failing = {
    transaction: () => Promise.reject(malformed('amount')),
    mempoolEntry: async () => null,
  } as unknown as BitcoinNode
  expect(await createPendingInspector([failing, without, makeNode({})])('t')).toEqual({
    stopsClock: true,
    spends: ['a:0'],
  })
  expect(await createPendingInspector([failing, without])('t')).toBeNull()
  await expect(createPendingInspector([failing])('t')).rejects.toThrow('no usable answers')
})

test('reads the pending transactions beside one whose reply does not parse', async () => {
  // Pays 5 units to the key hash of 20 zero bytes.
  const output = { vout: 0, units: 5n, script: `76a914${'00'.repeat(20)}88ac`, tokenCategory: null }
  const node = {
    mempool: async () => ['a', 'b'],
    transaction: (txid: string) =>
      txid === 'a' ? Promise.reject(malformed('amount')) : Promise.resolve({ ...pending, txid, outputs: [output] }),
  } as unknown as BitcoinNode
  const read = createMempoolReader(parametersOf(resolveNetwork(btc, 'production')), [node])
  expect((await read()).map(({ txHash }) => txHash)).toEqual(['b'])
})
