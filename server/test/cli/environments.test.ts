import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { createDatabase } from '../../../test/support/database.ts'
import { type Database, openDatabase } from '../../src/adapters/postgres/core/database.ts'
import { migrate } from '../../src/adapters/postgres/core/migrate.ts'
import { prepareDatabase } from '../../src/app/app.ts'
import { seedSandboxPartners } from '../../src/app/sandbox-partners.ts'
import { createLog } from '../../src/lib/log.ts'
import { openShell, type Shell } from './shell.ts'

let shell: Shell
let url: string
let drop: () => Promise<void>
let database: Database
let production: Record<string, string>
beforeAll(async () => {
  shell = await openShell()
  const config = join(shell.folder, 'production.json')
  const networks = { btc: { rpcUrls: ['https://a.example'] } }
  const prices = { sources: ['a', 'b', 'c'].map((name) => `https://${name}.example/usd`), quorum: 2 }
  const signer = { limits: { 'btc@btc': { transaction: '1', hour: '2', day: '3' } } }
  writeFileSync(config, JSON.stringify({ networks, prices, signer }))
  production = { SWAPYARD_CONFIG: config, SWAPYARD_PEPPER: 'a pepper of production, long enough' }
})
afterAll(() => shell.close())
beforeEach(async () => {
  ;({ url, drop } = await createDatabase(inject('databaseUrl')))
  database = openDatabase(url, { max: 2, waitMs: 20_000, applicationName: 'test' })
})
afterEach(async () => {
  await database.close()
  await drop()
})

const log = createLog({ level: 'silent', pretty: false })
/** What a start does first, before it seeds partners, takes jobs or moves a cursor. */
async function start(environment: 'production' | 'sandbox'): Promise<void> {
  const opened = await prepareDatabase(url, { environment, poolMax: 2, poolWaitMs: 20_000, log })
  await opened.close()
}
const readEnvironment = async () => (await database.query<{ name: string }>('select name from environment'))[0]?.name
const run = (args: readonly string[], environment: Record<string, string> = {}) =>
  shell.swapyard(args, { DATABASE_URL: url, ...environment })

describe('a database', () => {
  test.each([
    ['production', 'sandbox', 'belongs to production, and these settings are of the sandbox: set SWAPYARD_CONFIG'],
    ['sandbox', 'production', 'belongs to the sandbox, and these settings are of production: set DATABASE_URL'],
  ] as const)('of %s refuses a start of the other environment', async (first, other, message) => {
    await start(first)
    expect(await readEnvironment()).toBe(first)
    await start(first)
    await expect(start(other)).rejects.toMatchObject({ name: 'ConfigError', message: expect.stringContaining(message) })
    expect(await readEnvironment()).toBe(first)
  })

  test('of production refuses `swapyard start --sandbox`, which seeds nothing there', async () => {
    await start('production')
    // No chains are started for it.
    const chains = { SWAPYARD_CHAINS: join(shell.folder, 'nowhere', 'chains.json'), SWAPYARD_CONFIG: '' }
    const started = await run(['start', '--sandbox', '--role', 'worker'], chains)
    expect(started).toMatchObject({ code: 2, error: expect.stringContaining('the database belongs to production') })
    expect(await database.query('select 1 from partners union all select 1 from operators')).toEqual([])
  })

  test('of production refuses commands of the sandbox, and takes those of production', async () => {
    await start('production')
    const pause = ['pause', 'all', '--reason', 'restore']
    for (const args of [pause, ['partners', 'list'], ['keystore', 'indexes']])
      expect(await run(args)).toMatchObject({
        ...{ code: 2, lines: [], error: expect.stringContaining('the database belongs to production') },
      })
    expect(await database.query('select 1 from pauses')).toEqual([])
    expect(await run(pause, production)).toMatchObject({ code: 0, lines: [{ paused: true }] })
  })

  test('of the sandbox takes its commands without a config file', async () => {
    await start('sandbox')
    expect(await run(['pauses'], { SWAPYARD_CONFIG: '' })).toMatchObject({ code: 0 })
  })

  test('that was never started takes commands of both, and belongs to none', async () => {
    expect(await run(['pauses'])).toMatchObject({ code: 0 })
    expect(await run(['pauses'], production)).toMatchObject({ code: 0 })
    expect(await readEnvironment()).toBeUndefined()
  })

  test('is migrated without a config file, in each environment', async () => {
    await start('production')
    expect(await run(['migrate'], { SWAPYARD_CONFIG: '' })).toMatchObject({ code: 0 })
    expect(await readEnvironment()).toBe('production')
  })
})

describe('the migration of a database that was started before', () => {
  /** Without the table, as it was before. */
  async function migrateAgain(): Promise<void> {
    await database.query('drop table environment')
    await database.query("delete from migrations where name like '%_environment.sql'")
    expect(await migrate(database)).toHaveLength(1)
  }

  test('recognizes the sandbox by its seeded key', async () => {
    await migrate(database)
    await seedSandboxPartners(database, Buffer.from('pepper'))
    await migrateAgain()
    expect(await readEnvironment()).toBe('sandbox')
  })

  test('recognizes production by partners without it', async () => {
    await migrate(database)
    expect(await run(['partners', 'add', 'sandbox'])).toMatchObject({ code: 0 })
    await migrateAgain()
    expect(await readEnvironment()).toBe('production')
    await expect(start('sandbox')).rejects.toThrow('belongs to production')
  })

  test('leaves an empty database to its first start', async () => {
    await migrate(database)
    await migrateAgain()
    expect(await readEnvironment()).toBeUndefined()
    await start('production')
    expect(await readEnvironment()).toBe('production')
  })
})

describe('without SWAPYARD_CONFIG, before the first start of the database', () => {
  test.each([
    ['DATABASE_URL', {}],
    ['SWAPYARD_KEYSTORE_PASSPHRASE', { DATABASE_URL: '', SWAPYARD_KEYSTORE_PASSPHRASE: 'a passphrase' }],
    ['SWAPYARD_PEPPER', { DATABASE_URL: '', SWAPYARD_PEPPER: 'a pepper' }],
  ])('a command is refused where %s is set', async (name, environment) => {
    const refused = await run(['pause', 'all', '--reason', 'restore'], { SWAPYARD_CONFIG: '', ...environment })
    expect(refused).toMatchObject({ code: 2, lines: [] })
    expect(refused.error).toContain(`SWAPYARD_CONFIG is missing, and these are set: ${name}. Without`)
  })

  test('`keystore addresses` asks whose addresses it lists, and states them', async () => {
    const passphrase = { SWAPYARD_KEYSTORE_PASSPHRASE: 'a passphrase of production' }
    expect(await run(['keystore', 'create'], { SWAPYARD_CONFIG: '', ...passphrase })).toMatchObject({ code: 0 })
    for (const environment of [{}, passphrase])
      expect(await run(['keystore', 'addresses'], { SWAPYARD_CONFIG: '', ...environment })).toMatchObject({
        ...{ code: 2, lines: [], error: expect.stringContaining('--environment') },
      })
    const btcOf = async (args: readonly string[], environment: Record<string, string>) => {
      const { lines } = await run(['keystore', 'addresses', ...args], environment)
      return lines.find(({ network }) => network === 'btc')
    }
    const ofProduction = { environment: 'production', hot: expect.stringMatching(/^bc1q/) }
    const ofSandbox = { environment: 'sandbox', hot: expect.stringMatching(/^bcrt1q/) }
    expect(await btcOf(['--environment', 'production'], { SWAPYARD_CONFIG: '' })).toMatchObject(ofProduction)
    expect(await btcOf([], production)).toMatchObject(ofProduction)
    expect(await btcOf(['--environment', 'sandbox'], { SWAPYARD_CONFIG: '' })).toMatchObject(ofSandbox)
    expect(await btcOf([], {})).toMatchObject(ofSandbox)
    // Nothing of a server is set.
    expect(await btcOf([], { SWAPYARD_CONFIG: '', DATABASE_URL: '' })).toMatchObject(ofSandbox)
  })
})
