import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Partner } from '../../src/core/domain/partner.ts'
import { eventTypes } from '../../src/events/domain/event-types.ts'
import { exchangeStatuses } from '../../src/exchange/domain/exchange.ts'
import { swapStatuses } from '../../src/swap/domain/swap.ts'
import { addExchange, type EventStage, openEventStage, setStatuses } from './event-stage.ts'

let stage: EventStage
let partner: Partner
beforeAll(async () => {
  stage = await openEventStage()
  partner = await stage.addPartner()
})
afterAll(() => stage.close())

const typesOf = async (subject: string): Promise<string[]> =>
  (
    await stage.database.query<{ type: string }>(
      'select type from partner_events where subject_id = $1 and partner_id = $2 order by seq',
      [subject, partner.id],
    )
  ).map(({ type }) => type)

test('the types are every status of exchanges and swaps, a refund that needs an address, and a change of a fee address', () => {
  const statuses = [...exchangeStatuses.map((one) => `exchange.${one}`), ...swapStatuses.map((one) => `swap.${one}`)]
  const others = ['exchange.refund_address_required', 'partner.fee_address_changed']
  expect([...eventTypes].sort()).toEqual([...statuses, ...others].sort())
})

test('each change of the status of an exchange is recorded once, other changes and a rolled back one are not', async () => {
  const id = await addExchange(stage.database, partner)
  expect(await typesOf(id)).toEqual([])
  await setStatuses(stage.database, id, ['confirming', 'confirming', 'pending', 'confirming', 'failed'])
  await stage.database.query("update exchanges set reason = 'EXPIRED' where id = $1", [id])
  const failing = stage.database.transaction(async (tx) => {
    await tx.query("update exchanges set status = 'refunding' where id = $1", [id])
    throw new Error('rolled back')
  })
  await expect(failing).rejects.toThrow('rolled back')
  expect(await typesOf(id)).toEqual(['confirming', 'pending', 'confirming', 'failed'].map((one) => `exchange.${one}`))
})

test('each deposit whose refund begins to wait for an address is recorded, whatever the status of the exchange', async () => {
  const id = await addExchange(stage.database, partner)
  const deposit = async (reason: string | null) => {
    const [row] = await stage.database.query<{ id: string }>(
      `with d as (insert into deposits (network, identity, tx_hash, exchange_id, leg, address, units, required_confirmations)
         values ('btc', $1, $1, $2, 0, 'an address', 1, 2) returning id)
       insert into executions (id, exchange_id, deposit_id, leg, payin_hash, status, reason)
       select gen_random_uuid(), $2, d.id, 0, $1, 'verifying', $3 from d returning id`,
      [randomUUID(), id, reason],
    )
    return row?.id ?? ''
  }
  const [first, second] = [await deposit(null), await deposit('PRICE_GUARD')]
  for (const reason of ['REFUND_ADDRESS_REQUIRED', 'REFUND_ADDRESS_REQUIRED', null])
    await stage.database.query('update executions set reason = $2 where id = $1', [first, reason])
  await stage.database.query("update executions set reason = 'REFUND_ADDRESS_REQUIRED' where id = $1", [second])
  expect((await typesOf(id)).filter((type) => type === 'exchange.refund_address_required').length).toBe(2)
})

test('a swap is recorded from its report on, with the status that it has then', async () => {
  const add = async (told: boolean) => {
    const id = randomUUID()
    await stage.database.query(
      `insert into swaps (id, partner_id, network, hash, told, token_in, decimals_in, units_in, token_out, decimals_out,
         expected_units, min_units, sender, recipient, fee_ppm, owes_fee, expires_by)
       values ($1, $2, 'eth', $3, $4, 'a', 18, 1, 'b', 18, 1, 1, 's', 'r', 0, false, 'never')`,
      [id, partner.id, id, told],
    )
    return id
  }
  const set = (id: string, change: string) => stage.database.query(`update swaps set ${change} where id = $1`, [id])
  const finished = "status = 'finished', received_units = 1, block_hash = 'h', block_height = 1"
  const reported = await add(true)
  await set(reported, "status = 'confirming'")
  await set(reported, finished)
  expect(await typesOf(reported)).toEqual(['swap.confirming', 'swap.finished'])
  const found = await add(false)
  await set(found, "status = 'confirming'")
  expect(await typesOf(found)).toEqual([])
  await set(found, 'told = true')
  await set(found, finished)
  expect(await typesOf(found)).toEqual(['swap.confirming', 'swap.finished'])
  const early = await add(false)
  await set(early, 'told = true')
  expect(await typesOf(early)).toEqual([])
})
