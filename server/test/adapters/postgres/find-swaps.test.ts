import assert from 'node:assert'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSwapStore } from '../../../src/adapters/postgres/swap/swaps.ts'
import { createEvmAddressFormat } from '../../../src/adapters/swap-chain/address-format.ts'
import { createSwapNetworks } from '../../../src/swap/networks.ts'
import { createFindSwap, createListSwaps } from '../../../src/swap/track/list-swaps.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'

let opened: TestDatabase
beforeAll(async () => {
  opened = await openTestDatabase()
})
afterAll(() => opened.close())

const partner = {
  ...{ id: randomUUID(), name: 'one', feeBps: 0, suspended: false, strict: false, refundToSender: false },
  ...{ openExchangesMax: 1, rateLimitPerMinute: 1, defaultRecipients: new Map() },
}
const other = { ...partner, id: randomUUID() }
/** No network is served: the formats of the families still find the rows. */
const networks = createSwapNetworks(new Map(), { current: () => assert.fail() }, [createEvmAddressFormat()])
const side = { token: `0x${'22'.repeat(20)}`, decimals: 6, units: 1_000n }
const [alice, bob] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`]
const hashOf = (n: number) => `0x${n.toString(16).padStart(64, '0')}`

async function recordSwap(n: number, sender: string, partnerId = partner.id): Promise<string> {
  const id = randomUUID()
  await createSwapStore(opened.database).record({
    ...{ id, partnerId, network: 'eth', hash: hashOf(n), sender, nonce: n, recipient: sender, from: side, to: side },
    ...{
      minReceived: 1n,
      feePpm: 0,
      feeTo: alice,
      expiry: { by: 'time', at: 1 },
      owesFee: false,
      raw: null,
      externalId: null,
      ref: '',
    },
  })
  return id
}

/** Rows keep the time of their creation, so the triggers are off for one transaction. */
const makeOld = (id: string) =>
  opened.database.transaction(async (tx) => {
    await tx.query('alter table swaps disable trigger user')
    await tx.query("update swaps set created_at = created_at - interval '30 days' where id = $1", [id])
    await tx.query('alter table swaps enable trigger user')
  })

test('a swap of any age is found by its id or hash, in any case, by its partner alone', async () => {
  const swaps = createSwapStore(opened.database)
  const find = createFindSwap({ networks, swaps })
  const list = createListSwaps({ networks, swaps })
  const [first, second] = [await recordSwap(0xab, alice), await recordSwap(2, bob)]
  await recordSwap(3, alice, other.id)
  await makeOld(first)
  expect((await find(partner, { id: first.toUpperCase() }))?.swap.hash).toBe(hashOf(0xab))
  expect((await find(partner, { hash: hashOf(0xab).replace('ab', 'AB') }))?.swap.id).toBe(first)
  for (const key of [{ id: first }, { hash: hashOf(0xab) }]) expect(await find(other, key)).toBeNull()
  for (const key of [{ id: 'x' }, { hash: '0x' }, { hash: '\u0000' }]) expect(await find(partner, key)).toBeNull()

  const total = async (filter: object) => (await list(partner, filter, null)).total
  expect(await total({})).toBe(1)
  expect([await total({ hash: hashOf(2) }), await total({ account: bob.toUpperCase().replace('0X', '0x') })]).toEqual([
    1, 1,
  ])
  expect([await total({ hash: hashOf(3) }), await total({ account: alice }), await total({ account: 'é' })]).toEqual([
    0, 0, 0,
  ])
  const { rows } = await list(partner, { account: bob }, { page: 1, limit: 10 })
  for await (const { swap } of rows) expect(swap.id).toBe(second)
})
