import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { assetId } from '../../server/src/core/domain/asset.ts'
import { createDatabase } from '../support/database.ts'
import { answeredDeposits, type NodeBalances } from '../support/holdings.ts'
import { checkInvariants } from '../support/invariants.ts'
import { type MemoryApp, startMemoryApp } from '../support/memory-app.ts'
import { tamper } from '../support/tamper.ts'
import { until } from '../support/until.ts'

let database: Awaited<ReturnType<typeof createDatabase>>
let memory: MemoryApp
beforeAll(async () => {
  database = await createDatabase(inject('databaseUrl'))
  memory = await startMemoryApp({ databaseUrl: database.url })
})
afterAll(async () => {
  await memory?.stop()
  await database.drop()
})

test('pays each of twenty exchanges on in-memory chains once', async () => {
  const { count, seconds, recipients, depositAddresses } = await memory.run(20)
  expect([count, new Set(recipients).size]).toEqual([20, 20])
  expect(seconds).toBeGreaterThan(0)
  const rows = await memory.app.database.query<{ address: string; units: string }>(
    'select address, units from payouts where execution_id is not null and state <> $1',
    ['void'],
  )
  const unitsByAddress = new Map(rows.map(({ address, units }) => [address, BigInt(units)]))
  expect(unitsByAddress.size).toBe(20)
  const network = memory.memoryNetworks.get('bsc')
  for (const address of recipients) {
    const transfers = network?.transfersTo(address) ?? []
    expect(transfers.map(({ units }) => units)).toEqual([unitsByAddress.get(address)])
    expect(network?.balance(address)).toBe(unitsByAddress.get(address))
  }
  const account = async (id: string, address: string, contract: string | null = null) =>
    memory.memoryNetworks.get(id)?.balance(address, contract) ?? 0n
  const outputs = async (id: string, addresses: readonly string[]) =>
    (await Promise.all(addresses.map((address) => account(id, address)))).reduce((sum, units) => sum + units, 0n)
  const received: NodeBalances['received'] = async (id, { txHash, address, contract }) =>
    (memory.memoryNetworks.get(id)?.transfersTo(address) ?? [])
      .filter((one) => one.txHash === txHash && one.contract === contract)
      .reduce((sum, { units }) => sum + units, 0n)
  const nodes = { outputs, account, received }
  const deposits = answeredDeposits(memory.app, nodes, (id) => (id === 'eth' ? depositAddresses : []))
  await checkInvariants(memory.app, nodes, deposits)
})

// Last: the pause stays until an operator ends it. The check itself is tested in ledger-check.test.ts.
test('I-1: workers check the ledger periodically, and pause all payouts for one unit that no posting explains', async () => {
  const { store, database: rows } = memory.app
  expect([await store.alarms.find('ledger:faults'), await store.pauses.list()]).toEqual([null, []])
  const change = (units: number) =>
    tamper(rows, 'balances', [
      `update balances set units = units + $1 where account = 'equity:capital' and asset_id = $2`,
      [units, assetId('bnb', 'bsc')],
    ])
  await change(1)
  await until('the alarm is raised', async () => (await store.alarms.find('ledger:faults')) !== null)
  await until('the payouts are paused', async () => (await store.pauses.list()).length > 0)
  expect(await store.pauses.list()).toEqual([{ scope: 'payouts:all', reason: 'the ledger is inconsistent' }])
  await change(-1)
  await until('the alarm ends', async () => (await store.alarms.find('ledger:faults')) === null)
})
