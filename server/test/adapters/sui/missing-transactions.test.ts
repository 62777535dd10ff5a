import { expect, test } from 'vitest'
import { createSuiSwapChain } from '../../../src/adapters/sui/chain.ts'
import { createSuiNode, type SuiNode } from '../../../src/adapters/sui/node.ts'
import { findTransaction, observe } from '../../../src/adapters/sui/track.ts'
import { sendSwap } from './send-swap.ts'
import { network, startSui } from './start-sui.ts'

/* What it means that a node does not have a transaction: it may lag, or have pruned it. */

const unavailable = { code: 'NETWORK_UNAVAILABLE' }
const closed = 'http://127.0.0.1:9'

const terms = { ref: `0x${'7e'.repeat(32)}`, feePpm: 0, feeTo: null, expiry: { by: 'epoch', at: 0 } } as const

async function start() {
  const started = await startSui(['cetus'])
  return { ...started, sendSwap: () => sendSwap(started, terms), honest: createSuiNode('honest', started.node.url) }
}

const dropTransactions = (node: SuiNode): SuiNode => ({ ...node, findTransaction: async () => null })

test('a swap of a known checkpoint is reopened only if a node has another checkpoint there', async () => {
  const { node, honest, sendSwap, tick } = await start()
  const hash = await sendSwap()
  tick()
  const observed = await observe([honest], hash, undefined)
  if (observed.kind !== 'included') throw new Error('it is in no checkpoint')
  const { block } = observed
  const sent = { ...{ signer: '', nonce: null, block }, expiry: { by: 'epoch', at: 0 } as const }
  const lagging = dropTransactions(honest)
  const behind: SuiNode = {
    ...lagging,
    readCheckpoint: async (height) => (height === block.height ? null : honest.readCheckpoint(height)),
  }
  const reorged: SuiNode = {
    ...lagging,
    readCheckpoint: async (height) => {
      const checkpoint = await honest.readCheckpoint(height)
      return checkpoint && { ...checkpoint, hash: 'another' }
    },
  }
  const lags = [[honest, lagging], [lagging, honest], [honest, behind], [lagging], [lagging, behind]]
  for (const nodes of lags) await expect(observe(nodes, hash, sent)).rejects.toMatchObject(unavailable)
  expect(await observe([honest, honest], hash, sent)).toEqual(observed)
  expect(await observe([honest, reorged], hash, sent)).toEqual({ kind: 'pending' })
  expect(await observe([lagging, reorged], hash, sent)).toEqual({ kind: 'unseen' })
  // Nor does the end of its epoch end it.
  node.endEpoch()
  tick()
  await expect(observe([lagging, lagging], hash, sent)).rejects.toMatchObject(unavailable)
})

test('a node that has pruned checkpoints since the epoch before an expiry does not prove the expiry', async () => {
  const { node, honest, tick } = await start()
  const sent = { signer: '', nonce: null, expiry: { by: 'epoch', at: 2 } as const }
  for (let ended = 0; ended <= sent.expiry.at; ended++) {
    tick()
    node.endEpoch()
  }
  tick()
  const epochs = await Promise.all([2, 3, 7].map(async (height) => (await honest.readCheckpoint(height))?.epoch))
  expect(epochs).toEqual([0, 1, 3])
  const keeping = (height: number): SuiNode => ({ ...honest, readLowestHeight: async () => height })
  const unknown = '1'.repeat(32)
  expect(await honest.readLowestHeight()).toBe(0)
  expect(await observe([honest, keeping(2)], unknown, sent)).toEqual({ kind: 'expired' })
  for (const height of [3, 7])
    for (const nodes of [
      [honest, keeping(height)],
      [keeping(height), honest],
    ])
      await expect(observe(nodes, unknown, sent)).rejects.toMatchObject(unavailable)
})

test('a transaction is found at whichever node has it, and denied only by all nodes', async () => {
  const [first, second] = [await start(), await start()]
  const hash = await first.sendSwap()
  const at = (...rpcUrls: string[]) => createSuiSwapChain({ network, rpcUrls })
  const [has, lacks] = [first.node.url, second.node.url]
  for (const chain of [at(lacks, has), at(has, lacks), at(closed, lacks, has)])
    expect(await chain.findTransaction(hash)).toMatchObject({ hash, action: { kind: 'swap' } })
  expect(await at(lacks, lacks).findTransaction(hash)).toBeNull()
  for (const chain of [at(closed, lacks), at(lacks, closed)])
    await expect(chain.findTransaction(hash)).rejects.toMatchObject(unavailable)
})

test('a node that shows the bytes of another transaction is not believed', async () => {
  const { honest, sendSwap } = await start()
  const [hash, other] = [await sendSwap(), await sendSwap()]
  const liar: SuiNode = { ...honest, findTransaction: () => honest.findTransaction(other) }
  expect(await findTransaction([liar, honest], hash)).toMatchObject({ hash })
  await expect(findTransaction([liar], hash)).rejects.toMatchObject(unavailable)
})
