import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSolanaRpc } from '@solana/kit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { LocalChain } from '../local-chain.ts'
import { createSolanaChain } from './solana-chain.ts'

let folder: string
let chain: LocalChain
let rpcUrl: string
let rpc: ReturnType<typeof createSolanaRpc>

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'swapyard-solana-'))
  chain = await createSolanaChain(folder, 0, { isFrozen: true })
  rpcUrl = chain.rpcUrls[0] ?? ''
  rpc = createSolanaRpc(rpcUrl)
})
afterEach(async () => {
  await chain.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function getBlock(slot: bigint) {
  const params = [Number(slot), { commitment: 'confirmed', transactionDetails: 'none' }]
  const response = await fetch(rpcUrl, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getBlock', params }),
  })
  return (await response.json()) as { result?: { parentSlot: number; blockHeight: number }; error?: unknown }
}

test('asks for a block every 400 ms, the time of a slot', () => {
  expect(chain.blockIntervalMs).toBe(400)
})

test('skips one slot in 26, which has no block and no height', async () => {
  const read = async () => ({
    slot: await rpc.getSlot({ commitment: 'confirmed' }).send(),
    height: await rpc.getBlockHeight({ commitment: 'confirmed' }).send(),
  })
  await chain.mine(5)
  const before = await read()
  await chain.mine(50)
  const after = await read()
  expect(after.height - before.height).toBe(50n)
  expect(after.slot - before.slot).toBe(52n)

  const slots = await rpc.getBlocks(before.slot, after.slot, { commitment: 'confirmed' }).send()
  const range = Array.from({ length: Number(after.slot - before.slot) + 1 }, (_, n) => before.slot + BigInt(n))
  const skipped = range.filter((slot) => !slots.includes(slot))
  expect(skipped).toHaveLength(2)
  for (const slot of skipped) {
    const { error } = await getBlock(slot)
    expect(error).toEqual({
      code: -32009,
      message: `Slot ${slot} was skipped, or missing in long-term storage`,
    })
    // The block after it follows the one before it.
    const { result: next } = await getBlock(slot + 1n)
    const { result: previous } = await getBlock(slot - 1n)
    expect(next?.parentSlot).toBe(Number(slot - 1n))
    expect(next?.blockHeight).toBe((previous?.blockHeight ?? 0) + 1)
  }
})
