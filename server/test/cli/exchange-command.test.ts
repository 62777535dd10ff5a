import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/adapters/postgres/core/database.ts'
import { createStore } from '../../src/adapters/postgres/exchange/store.ts'
import { btc, eth } from '../../src/exchange/domain/pricing.fixture.ts'
import { ltc, makeNewExchange, requireCreated } from '../exchange/money-path.ts'
import { plan } from '../exchange/private/private-money-path.ts'
import { payeeMacs } from '../payee-macs.ts'
import { openShell, type Shell } from './shell.ts'

let shell: Shell
let database: Database
beforeAll(async () => {
  shell = await openShell()
  await shell.swapyard(['partners', 'add', 'acme'])
  database = openDatabase(shell.url, { max: 1, applicationName: 'test' })
})
afterAll(async () => {
  await database.close()
  await shell.close()
})

const considered = [
  { assetId: 'ltc@ltc', toUnits: '77', seconds: 9 },
  { assetId: 'eth@eth', refused: 'SAME_NETWORK' },
] as const

test('finds an exchange by its deposit address in any encoding', async () => {
  const [partner] = await database.query<{ id: string }>("select id from partners where name = 'acme'")
  const store = createStore(database, payeeMacs)
  const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
  const row = {
    ...makeNewExchange({ from: eth, to: btc }),
    partnerId: partner?.id ?? '',
    deposit: { address, memo: null },
  }
  const { id } = requireCreated((await store.exchanges.create([row]))[0])
  requireCreated((await store.exchanges.create([{ ...makeNewExchange(), partnerId: partner?.id ?? '' }]))[0])
  const find = async (text: string) => (await shell.swapyard(['exchanges', 'find', text])).lines
  for (const text of [address, address.toLowerCase()])
    expect(await find(text)).toEqual([{ exchangeId: id, partner: 'acme', status: 'pending', by: 'deposit address' }])
  expect(await find('unknown')).toEqual([])
})

test('shows a private exchange with its plan and the considered intermediaries', async () => {
  const [partner] = await database.query<{ id: string }>("select id from partners where name = 'acme'")
  const row = { ...makeNewExchange({ via: ltc, plan: { ...plan, considered } }), partnerId: partner?.id ?? '' }
  const { id, deposit, recipient } = requireCreated((await createStore(database, payeeMacs).exchanges.create([row]))[0])
  const { code, lines } = await shell.swapyard(['exchanges', 'show', id])
  expect(code).toBe(0)
  expect(lines[0]).toMatchObject({ what: 'exchange', id, partner: 'acme', recipient_address: recipient?.address })
  expect(lines).toContainEqual(expect.objectContaining({ what: 'plan', withheldPpm: plan.withheldPpm }))
  expect(lines.filter(({ what }) => what === 'considered')).toEqual(
    considered.map((one) => ({ what: 'considered', ...one })),
  )
  expect(lines).toContainEqual(expect.objectContaining({ what: 'address', leg: 0, address: deposit.address }))
  expect(lines).toContainEqual(expect.objectContaining({ what: 'event', status: 'pending' }))
})
