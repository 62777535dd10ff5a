import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/adapters/postgres/core/database.ts'
import { createStore } from '../../src/adapters/postgres/exchange/store.ts'
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
