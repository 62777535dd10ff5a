import { expect, test } from 'vitest'
import { btc } from '../../../../networks/btc.ts'
import { resolveNetwork } from '../../../core/domain/network.ts'
import { malformed } from '../shared/replies.ts'
import { parametersOf } from './address.ts'
import { createMempoolReader, createPendingInspector } from './mempool.ts'
import type { BitcoinNode } from './rpc.ts'

const pending = { txid: 't', coinbase: false, spends: ['a:0'], isReplaceable: false, outputs: [], blockHash: null }

const noon = new Date('2026-01-01T12:00:00Z')

type Change = Readonly<{
  isReplaceable?: boolean
  parents?: readonly string[]
  estimate?: bigint | null
  seenAt?: Date | null
}>
/** A payment of 1 000 units in 200 vB, which is 5 000 units per 1 000 vB. */
function makeNode(
  { isReplaceable = false, parents = [], estimate = 5_000n, seenAt = noon }: Change,
  asked: unknown[] = [],
) {
  return {
    transaction: async () => ({ ...pending, isReplaceable }),
    mempoolEntry: async () => ({ seenAt, feeUnits: 1_000n, evictedUnits: 1_000n, virtualBytes: 200n, parents }),
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
  expect(await inspect(change)).toEqual({ payment: { stopsClock, spends: ['a:0'], seenAt: noon }, asked: [3] })
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
    seenAt: noon,
  })
  expect(await createPendingInspector([failing, without])('t')).toBeNull()
  await expect(createPendingInspector([failing])('t')).rejects.toThrow('no usable answers')
})

// M16: what was paid during an outage of ours was seen half an hour after it. A node whose clock is slow makes no payment older.
test('M16: was seen when the last of the nodes saw it', async () => {
  const later = new Date(noon.getTime() + 1_000)
  const times = [null, noon, later, noon]
  const ask = (seenAts: readonly (Date | null)[]) =>
    createPendingInspector(seenAts.map((seenAt) => makeNode({ seenAt })))('t').then((payment) => payment?.seenAt)
  expect(await ask(times)).toEqual(later)
  expect(await ask([null])).toBeNull()
})

/** A node with the ids in its mempool. It names those that it is asked for, and pays 5 units to the key hash of 20 zero bytes. */
function makeMempool(txids: readonly string[], onLookup: (txid: string) => void = () => undefined) {
  const output = { vout: 0, units: 5n, script: `76a914${'00'.repeat(20)}88ac`, tokenCategory: null }
  return {
    mempool: async () => txids,
    transaction: async (txid: string) => {
      onLookup(txid)
      return { ...pending, txid, outputs: [output] }
    },
  } as unknown as BitcoinNode
}
const bitcoin = parametersOf(resolveNetwork(btc, 'production'))

test('reads the pending transactions beside one whose reply does not parse', async () => {
  const node = makeMempool(['a', 'b'], (txid) => {
    if (txid === 'a') throw malformed('amount')
  })
  expect((await createMempoolReader(bitcoin, [node])()).map(({ txHash }) => txHash)).toEqual(['b'])
})

// M16: 500 transactions per call, and a call every ten seconds: a restart saw the last of a full mempool after half an hour.
test.each([
  ['thousands of transactions of a near node', 1, 3_000],
  ['a few of a slow one', 1_000, 8],
])('M16: a call looks up %s, so that blocks wait for seconds at most', async (_, lookupMs, expected) => {
  let nowMs = 0
  const asked: string[] = []
  const txids = Array.from({ length: 10_000 }, (_, n) => `t${n}`)
  const node = makeMempool(txids, (txid) => {
    asked.push(txid)
    nowMs += lookupMs
  })
  await createMempoolReader(bitcoin, [node], () => nowMs)()
  expect(asked).toEqual(txids.slice(0, expected))
})

test('reports each transaction once, new arrivals before what is left of the start, and none that left the mempool', async () => {
  let nowMs = 0
  const txids = Array.from({ length: 24 }, (_, n) => `t${n}`)
  // Two batches of eight per call.
  const node = makeMempool(txids, () => {
    nowMs += 250
  })
  const read = createMempoolReader(bitcoin, [node], () => nowMs)
  const calls = [await read()]
  txids.splice(20, 4, 'arrival')
  for (let n = 0; n < 2; n++) calls.push(await read())
  const first = Array.from({ length: 16 }, (_, n) => `t${n}`)
  const second = ['arrival', 't16', 't17', 't18', 't19']
  expect(calls.map((call) => call.map(({ txHash }) => txHash))).toEqual([first, second, []])
})
