import { fromBase64 } from '@mysten/sui/utils'
import { expect, test } from 'vitest'
import { suiTokens } from '../../../../sandbox/src/sui/coins.ts'
import { createSuiNode, type SuiNode } from '../../../src/adapters/sui/node.ts'
import { createSuiSwapChain } from '../../../src/adapters/sui/swap-chain.ts'
import { findTransaction, observe } from '../../../src/adapters/sui/track.ts'
import type { SwapOrder } from '../../../src/swap/ports/swap-chain.ts'
import { executeRoute, SHARE_ALL } from '../../../src/swap/routing/execute.ts'
import { network, startSui } from './start-sui.ts'

/* What it means that a node does not have a transaction: it may lag, or have pruned it. */

const SUI = '0x2::sui::SUI'
const usdc = suiTokens[0]?.type ?? ''
const unavailable = { code: 'NETWORK_UNAVAILABLE' }
const closed = 'http://127.0.0.1:9'

async function start() {
  const started = await startSui(['cetus'])
  const { pools, chain, createFunded, node } = started

  /** A swap that is executed but in no checkpoint. */
  async function sendSwap(): Promise<string> {
    const { keypair, address: account } = createFunded(50_000_000_000n)
    const [pool] = pools.current()?.pools ?? []
    if (pool === undefined) throw new Error('no pool')
    const amountIn = 10_000_000_000n
    const executed = executeRoute([{ pool, tokenIn: 0, tokenOut: 1, share: SHARE_ALL }], SUI, usdc, amountIn)
    if (executed.amountOut === null) throw new Error('the pool cannot trade')
    const order: SwapOrder = {
      ...{ account, recipient: account, tokenIn: SUI, tokenOut: usdc, amountIn, ref: `0x${'7e'.repeat(32)}` },
      ...{ minReceived: 1n, feePpm: 0, feeTo: null, swaps: executed.swaps, expiry: { by: 'epoch', at: 0 } },
    }
    const { swap } = await chain.prepare(order)
    const raw = JSON.stringify(await keypair.signTransaction(fromBase64(swap)))
    expect(await chain.broadcast(raw)).toEqual({ kind: 'accepted' })
    return (await chain.readSigned(raw)).hash
  }
  return { ...started, sendSwap, honest: createSuiNode('honest', node.url) }
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
