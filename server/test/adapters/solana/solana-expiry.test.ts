import { afterAll, beforeAll, expect, test } from 'vitest'
import { transferLamports } from '../../../src/adapters/solana/instructions.ts'
import { decodeTransaction, encodeUnsigned } from '../../../src/adapters/solana/transaction.ts'
import { createUser, type Market, startMarket, type User } from './solana-market.fixture.ts'

/* When a transaction can be in a block no more, and when the finalized height proves that it is in none. */

/** Blocks after the one of its hash in which a transaction is valid, as `lastValidBlockHeight` of a validator has them. */
const VALID_BLOCKS = 150

let market: Market

beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market?.stop())

const heightOf = (commitment: 'processed' | 'finalized') => market.node.bank.heightOf(commitment)

/** A signed transfer for the newest block, and the last height at which it is valid. */
async function signTransfer() {
  const user: User = await market.createFunded(1_000_000_000n)
  const { hash: blockhash, height } = market.node.bank.blockAt('processed')
  const instructions = [transferLamports(user.address, createUser().address, 10_000_000n)]
  const raw = market.sign(user, encodeUnsigned(user.address, blockhash, instructions).toString('base64'))
  const signed = await market.chain.readSigned(raw)
  const expiry = await market.chain.readExpiry(signed)
  expect(expiry).toEqual({ by: 'height', at: height + VALID_BLOCKS })
  expect(decodeTransaction(Buffer.from(raw, 'base64')).blockhash).toBe(blockhash)
  const sent = { signer: user.address, nonce: null, expiry }
  const observe = async () => (await market.chain.observe(signed.hash, sent)).kind
  return { raw, at: height + VALID_BLOCKS, observe }
}

test('a transaction that no block has is expired once the finalized height is past its last one, not the processed height', async () => {
  const { at, observe } = await signTransfer()
  market.mine(at + 2 - heightOf('processed'))
  // No block can include it from here on, but a fork may still replace those that others see.
  expect(heightOf('processed')).toBe(at + 2)
  expect(await observe()).toBe('unseen')
  market.mine(at + 1 - heightOf('finalized'))
  expect(heightOf('finalized')).toBe(at + 1)
  expect(heightOf('processed')).toBeGreaterThan(at + 30)
  expect(await observe()).toBe('unseen')
  market.mine(1)
  expect(heightOf('finalized')).toBe(at + 2)
  expect(await observe()).toBe('expired')
})

test('a transaction that is sent at its last height is in the block after it, and is never called expired', async () => {
  const { raw, at, observe } = await signTransfer()
  market.mine(at - heightOf('processed'))
  expect(await market.chain.broadcast(raw)).toEqual({ kind: 'accepted' })
  market.mine(1)
  for (let blocks = 0; blocks < 40; blocks += 1) {
    expect(['pending', 'included']).toContain(await observe())
    market.mine(1)
  }
  expect(heightOf('finalized')).toBeGreaterThan(at + 2)
  expect(await observe()).toBe('included')
})

test('a transaction that is sent a block later is refused as expired', async () => {
  const { raw, at } = await signTransfer()
  market.mine(at + 1 - heightOf('processed'))
  expect(await market.chain.broadcast(raw)).toMatchObject({ kind: 'rejected', because: 'expired' })
})
