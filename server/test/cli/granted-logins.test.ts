import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ExternalPostgres, startExternalPostgres } from '../../../test/support/external-postgres.ts'
import { openShell, type Shell } from './shell.ts'

/* The database belongs to one login, and a process has another one, as docs/guides/operate.md says. */

let postgres: ExternalPostgres
let shell: Shell
beforeAll(async () => {
  postgres = await startExternalPostgres({ hasChecksums: true })
  await postgres.administer(
    "create role swapyard_owner login password 'owner'",
    "create role swapyard_worker login password 'worker'",
    'create database swapyard owner swapyard_owner',
  )
  shell = await openShell()
  const owner = { DATABASE_URL: postgres.urlOf('swapyard_owner', 'owner', 'swapyard') }
  expect(await shell.swapyard(['migrate', '--grant', 'swapyard_worker'], owner)).toMatchObject({ code: 0 })
})
afterAll(async () => {
  await shell?.close()
  await postgres?.stop()
})

const run = (...args: string[]) =>
  shell.swapyard(args, { DATABASE_URL: postgres.urlOf('swapyard_worker', 'worker', 'swapyard') })

/** The index that the next address of each branch gets. It is used up. */
async function takeIndexes(): Promise<readonly number[]> {
  const text = "select nextval('deposit_key_index')::int as deposit, nextval('change_key_index')::int as change"
  const rows = await postgres.query<{ deposit: number; change: number }>(text, 'swapyard')
  return rows.flatMap(({ deposit, change }) => [deposit, change])
}

test('the login of a process carries out every command of a restore', async () => {
  const before = await takeIndexes()
  expect(await run('pause', 'all', '--reason', 'restore')).toMatchObject({ code: 0 })
  expect(await run('pause', 'payouts:all', '--reason', 'looking')).toMatchObject({ code: 0 })
  expect(await run('signer', 'missing')).toMatchObject({ code: 0, lines: [] })
  expect(await run('signer', 'import')).toMatchObject({ code: 0, lines: [{ imported: [] }] })
  expect(await run('signer', 'release', '--reason', 'a look', '--preview')).toMatchObject({
    ...{ code: 0, error: '', lines: [{ preview: true, released: true }, { preview: true }] },
  })
  const previewed = await takeIndexes()
  expect(previewed).toEqual(before.map((index) => index + 1))
  expect(await run('signer', 'release', '--reason', 'nothing is missing')).toMatchObject({
    ...{ code: 0, error: '', lines: [{ released: true, stillPaused: [{ scope: 'all' }, { scope: 'payouts:all' }] }] },
  })
  for (const scope of ['all', 'payouts:all']) expect(await run('resume', scope)).toMatchObject({ code: 0 })
  expect(await run('pauses')).toMatchObject({ code: 0, lines: [] })
  const after = await takeIndexes()
  expect(after.map((index, branch) => index - (before[branch] ?? 0) > 1_000_000)).toEqual([true, true])
})

test('the login of a process sets no sequence itself', async () => {
  const sequences = await postgres.query<{ name: string }>(
    `select sequencename as name from pg_sequences
     where has_sequence_privilege('swapyard_worker', format('%I.%I', schemaname, sequencename), 'update') order by 1`,
    'swapyard',
  )
  expect(sequences).toEqual([])
})
