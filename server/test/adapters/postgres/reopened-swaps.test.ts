import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSwapStore } from '../../../src/adapters/postgres/swap/swaps.ts'
import { present } from '../../../src/lib/assert.ts'
import { type SwapReason, unmined } from '../../../src/swap/domain/swap.ts'
import type { NewSwap } from '../../../src/swap/ports/store/swaps.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'

let opened: TestDatabase
beforeAll(async () => {
  opened = await openTestDatabase()
})
afterAll(() => opened.close())

const partnerId = randomUUID()
const side = { token: 'a token', decimals: 6, units: 1_000n }
const newSwap = (hash: string, raw: string | null): NewSwap => ({
  ...{
    id: randomUUID(),
    partnerId,
    network: 'sol',
    hash,
    sender: 's',
    nonce: null,
    recipient: 's',
    from: side,
    to: side,
  },
  ...{ minReceived: 1n, feePpm: 0, feeTo: null, owesFee: false, raw, externalId: null, ref: '' },
  expiry: { by: 'height', at: 7 },
})

/** The status of a swap that failed finally, after it was reported again. */
async function statusAfter(reason: SwapReason, raw: string | null): Promise<string> {
  const swaps = createSwapStore(opened.database)
  const hash = randomUUID()
  const first = present(await swaps.record(newSwap(hash, 'the bytes')), 'the swap')
  const progress = { ...unmined, status: 'failed', reason, isFinal: true } as const
  expect(await swaps.advance(first, { progress, fee: null, isSeen: false, isSent: true, nextCheckMs: 0 })).toBe(true)
  const again = present(await swaps.record(newSwap(hash, raw)), 'the same swap')
  expect(again.swap.id).toBe(first.swap.id)
  const { status } = again.swap
  // Only an open row can be advanced.
  const next = { ...progress, status: 'pending', reason: null, isFinal: false } as const
  const isOpen = await swaps.advance(again, { progress: next, fee: null, isSeen: true, isSent: true, nextCheckMs: 0 })
  expect(isOpen).toBe(status === 'pending')
  return status
}

test('an expired swap is open again if it is reported as found on the chain, and not if its bytes are sent again', async () => {
  await opened.database.query("insert into partners (id, name) values ($1, 'acme')", [partnerId])
  expect(await statusAfter('expired', null)).toBe('pending')
  expect(await statusAfter('expired', 'the bytes')).toBe('failed')
  expect(await statusAfter('dropped', 'the bytes')).toBe('pending')
  expect(await statusAfter('reverted', null)).toBe('failed')
})
