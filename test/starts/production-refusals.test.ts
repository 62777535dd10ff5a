import { rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSolanaNode } from '../../sandbox/src/solana/solana-node.ts'
import { startSuiNode } from '../../sandbox/src/sui/sui-node.ts'
import { EMBEDDED_VERSION } from '../support/debian-postgres.ts'
import { describeWith } from '../support/describe-with.ts'
import { until } from '../support/until.ts'
import { type ProductionSetup, startProductionSetup } from './production-setup.ts'
import type { Program } from './program.ts'

let setup: ProductionSetup
const programs: Program[] = []

beforeAll(async () => {
  setup = await startProductionSetup({ hasChecksums: false })
  setup.writeConfig()
  await setup.run('keystore', 'create')
  await setup.run('keystore', 'export-public', join(setup.folder, 'public.json'))
})

afterAll(async () => {
  for (const program of programs) program.kill('SIGKILL')
  await setup?.stop()
})

/** Starts a role that must refuse, and returns its exit code and its output. */
async function startRefused(role: 'api' | 'worker', environment: Record<string, string> = {}) {
  const program = setup.start(role, environment)
  programs.push(program)
  const isStarted = await program.waitUntilReady().then(
    () => true,
    () => false,
  )
  if (isStarted) program.kill('SIGKILL')
  const { code } = await program.ended
  return { code, output: program.output() }
}

/** Changes settings of the server, and waits until new sessions have them. */
async function administer(statement: string): Promise<void> {
  const loadedAt = 'select pg_conf_load_time()::text as at'
  const [before] = await setup.postgres.query<{ at: string }>(loadedAt)
  await setup.postgres.administer(statement, 'select pg_reload_conf()')
  await until('the settings are loaded', async () => {
    const [after] = await setup.postgres.query<{ at: string }>(loadedAt)
    return after?.at !== before?.at
  })
}

describeWith('a PostgreSQL of Debian', 'the refusals on an older PostgreSQL than the embedded one', () => {
  test('run on it', async () => {
    expect(await setup.postgres.majorVersion()).toBeLessThan(EMBEDDED_VERSION)
  })
})

test.each([
  ['fsync', 'alter system set fsync = off', 'alter system reset fsync'],
  ['full_page_writes', 'alter system set full_page_writes = off', 'alter system reset full_page_writes'],
  [
    'synchronous_commit',
    'alter role swapyard_worker set synchronous_commit = off',
    'alter role swapyard_worker reset synchronous_commit',
  ],
])('refuses a database whose %s is off', async (name, turnOff, reset) => {
  await administer(turnOff)
  const { code, output } = await startRefused('worker')
  await administer(reset)
  expect(code).toBe(2)
  expect(output).toContain(`DATABASE_URL: ${name} is off: `)
  const tables = await setup.postgres.query("select 1 from pg_tables where tablename = 'migrations'", 'swapyard')
  expect(tables).toEqual([])
})

test('refuses a login that may not create the tables, until the owner has', async () => {
  const { code, output } = await startRefused('worker')
  expect(code).toBe(1)
  expect(output).toContain('this login may not change it: run "swapyard migrate" with the login of the owner')
  await setup.migrate()
})

test.each([
  // With one of these a stolen login could change what is append-only, and hide it.
  'alter table operator_acts disable trigger user',
  'drop trigger balances_follow_postings on balances',
  'truncate operator_acts',
  'create or replace function forbid_change() returns trigger language plpgsql as $$ begin return new; end $$',
  'create temporary table balances (account text)',
  'create schema other',
  "set session_replication_role = 'replica'",
  'delete from migrations',
])('the login of a process may not: %s', async (statement) => {
  for (const role of ['api', 'worker'] as const) {
    const client = new pg.Client({ connectionString: setup.databaseUrls[role] })
    await client.connect()
    try {
      // insufficient_privilege
      await expect(client.query(statement)).rejects.toMatchObject({ code: '42501' })
    } finally {
      await client.end()
    }
  }
})

test('refuses a worker with the public half of the keystore', async () => {
  const { code, output } = await startRefused('worker', { SWAPYARD_KEYSTORE: join(setup.folder, 'public.json') })
  expect(code).toBe(1)
  expect(output).toContain('holds public keys only')
})

test('refuses an EVM network whose nodes offer no traces, until its settings accept that', async () => {
  const { endpoints } = setup.chains.eth
  for (const endpoint of endpoints)
    endpoint.set(({ method }) =>
      /trace/.test(method) ? { error: { code: -32601, message: 'the method does not exist' } } : undefined,
    )
  for (const role of ['api', 'worker'] as const) {
    const { code, output } = await startRefused(role)
    expect(code).toBe(2)
    expect(output).toContain('networks.eth: no node offers traces')
    expect(output).not.toContain('networks.bsc')
  }

  setup.writeConfig((config) => {
    config.networks.eth.traces = false
  })
  const worker = setup.start('worker')
  programs.push(worker)
  const url = await worker.waitUntilReady()
  await worker.waitForOutput('no node offers traces: deposits of the native currency from contracts are not recorded')
  // Accepted, so the blocks without traces raise no alarm.
  const { anvil } = setup.chains.eth
  await anvil.sendAndMine({ to: anvil.accounts[1], value: 1n })
  expect(await (await fetch(`${url}/metrics`)).text()).not.toContain('note="traces-missing"')
  worker.kill('SIGTERM')
  expect(await worker.ended).toEqual({ code: 0, signal: null })
})

test('starts with one node that offers traces', async () => {
  const [first, second] = setup.chains.eth.endpoints
  first.set(({ method }) => (/trace/.test(method) ? { error: { code: -32601, message: '' } } : undefined))
  second.set(() => undefined)
  setup.writeConfig()
  const worker = setup.start('worker')
  programs.push(worker)
  await worker.waitUntilReady()
  worker.kill('SIGTERM')
  expect(await worker.ended).toEqual({ code: 0, signal: null })
})

test('holds payouts when a worker has lost its signing journal, until the operator confirms the new one', async () => {
  setup.writeConfig()
  const listScopes = async () => (await setup.run('pauses')).map(({ scope }) => scope)
  expect(await listScopes()).not.toContain('payouts:all')
  rmSync(join(setup.folder, 'worker/signed.log'))
  const worker = setup.start('worker')
  programs.push(worker)
  await worker.waitUntilReady()
  expect(await listScopes()).toContain('payouts:all')
  expect(await setup.run('alarms')).toContainEqual(
    expect.objectContaining({ subject: 'journal:new', severity: 'critical' }),
  )
  worker.kill('SIGTERM')
  expect(await worker.ended).toEqual({ code: 0, signal: null })
  await setup.run('signer', 'release', '--reason', 'the disk of the worker was replaced')
  const again = setup.start('worker')
  programs.push(again)
  await again.waitUntilReady()
  expect(await listScopes()).not.toContain('payouts:all')
  again.kill('SIGTERM')
  expect(await again.ended).toEqual({ code: 0, signal: null })
})

test('refuses nodes of another network for swaps on Solana and Sui', async () => {
  const [sol, sui] = [await startTwo(startSolana), await startTwo(startSui)]
  setup.writeConfig((config) => {
    for (const [network, nodes] of Object.entries({ sol, sui })) {
      config.networks[network] = { rpcUrls: nodes.map(({ url }) => url) }
      config.swaps.networks[network] = { enabled: true }
    }
  })
  const { code, output } = await startRefused('api')
  for (const { stop } of [...sol, ...sui]) await stop()
  expect(code).toBe(2)
  for (const network of ['sol', 'sui'])
    expect(output).toContain(`networks.${network}: a node belongs to another network`)
})

type LocalNode = Readonly<{ url: string; stop(): Promise<void> }>
const startTwo = (start: () => Promise<LocalNode>) => Promise.all([start(), start()])
const startSolana = async (): Promise<LocalNode> => {
  const { rpcUrl: url, stop } = await startSolanaNode({ port: 0, log: () => undefined })
  return { url, stop }
}
const startSui = (): Promise<LocalNode> => startSuiNode({ notify: () => undefined })

test('reports a database without data checksums at every start', async () => {
  expect(await setup.postgres.query('show data_checksums')).toEqual([{ data_checksums: 'off' }])
  setup.writeConfig()
  const worker = setup.start('worker')
  programs.push(worker)
  await worker.waitUntilReady()
  await worker.waitForOutput('the database has no data checksums')
  expect(await setup.run('alarms')).toMatchObject([{ subject: 'checksums:database', severity: 'warning' }])
  worker.kill('SIGTERM')
  expect(await worker.ended).toEqual({ code: 0, signal: null })
})
