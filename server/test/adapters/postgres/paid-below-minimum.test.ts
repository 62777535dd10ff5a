import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sqlState } from '../../../src/adapters/postgres/core/database.ts'
import { createSwapStore } from '../../../src/adapters/postgres/swap/swaps.ts'
import { present } from '../../../src/lib/assert.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'

let opened: TestDatabase
beforeAll(async () => {
  opened = await openTestDatabase()
})
afterAll(() => opened.close())

const MINIMUM = 900n
const partnerId = randomUUID()

/** Finishes a swap that paid so much. What its row then says. */
async function finish(network: string, receivedUnits: bigint) {
  const swaps = createSwapStore(opened.database)
  const side = { token: 'a token', decimals: 6, units: 1_000n }
  const [id, hash] = [randomUUID(), randomUUID()]
  const recorded = await swaps.record({
    ...{ id, partnerId, network, hash, sender: 's', nonce: null, recipient: 's', from: side, to: side },
    ...{ minReceived: MINIMUM, feePpm: 0, feeTo: null, owesFee: false, raw: null, externalId: null, ref: '' },
    expiry: { by: 'height', at: 7 },
  })
  const block = { height: 5, hash: 'b' }
  const progress = { status: 'finished', reason: null, receivedUnits, feeUnits: null, block, isFinal: true } as const
  const next = { progress, fee: null, isSeen: true, isSent: true, nextCheckMs: 0 }
  await swaps.advance(present(recorded, 'the swap'), next)
  const { swap } = present(await swaps.find(id), 'the swap')
  return { status: swap.status, receivedUnits: swap.receivedUnits }
}

test('a swap on Solana that the chain executed below its minimum ends with what it paid', async () => {
  await opened.database.query("insert into partners (id, name) values ($1, 'acme')", [partnerId])
  for (const paid of [MINIMUM, MINIMUM - 1n, 0n])
    expect(await finish('sol', paid)).toEqual({ status: 'finished', receivedUnits: paid })
})

test('on other networks the chain itself enforces the minimum, so that less is no result', async () => {
  for (const network of ['eth', 'sui']) {
    expect(await finish(network, MINIMUM)).toEqual({ status: 'finished', receivedUnits: MINIMUM })
    const error = await finish(network, MINIMUM - 1n).catch((cause: unknown) => cause)
    expect(sqlState(error)).toBe('23514')
  }
})
