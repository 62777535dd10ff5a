import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createPartnerStore } from '../../server/src/adapters/postgres/core/partners.ts'
import { createKeySource } from '../../server/src/adapters/signers/keys.ts'
import { decryptSeed, readKeystoreFile } from '../../server/src/adapters/signers/keystore-file.ts'
import type { App } from '../../server/src/app/app.ts'
import { scopes } from '../../server/src/core/domain/partner.ts'
import { makeApiKey } from '../../server/src/core/services/partner-keys.ts'
import { createLog } from '../../server/src/lib/log.ts'
import { createDatabase } from '../support/database.ts'
import { isFinished, type MemoryCluster, startMemoryCluster } from '../support/memory-cluster.ts'
import { until } from '../support/until.ts'

let cluster: MemoryCluster
let database: Awaited<ReturnType<typeof createDatabase>>
beforeAll(async () => {
  cluster = await startMemoryCluster('the canaries')
  database = await createDatabase(inject('databaseUrl'))
})
afterAll(async () => {
  await cluster.stop()
  await database.drop()
})

const RATE =
  '/v1/cross-chain/rate?fromCurrency=eth&fromNetwork=eth&toCurrency=bnb&toNetwork=bsc&amount=0.1&flow=standard'

/** Every secret of the app in every encoding that a log or a column could contain. */
async function listSecrets(apiKey: string): Promise<ReadonlyMap<string, string>> {
  const seed = await decryptSeed(readKeystoreFile(cluster.keystore), cluster.passphrase)
  const keys = createKeySource(seed, 60)
  const bytes: [string, Uint8Array][] = [
    ['the seed', seed],
    ['the pepper', cluster.pepper],
    ['the passphrase', Buffer.from(cluster.passphrase)],
    ['the words', Buffer.from(cluster.words)],
    ['the hot key', keys.privateKey({ branch: 'hot', index: 0 })],
    ...[0, 1, 2].map((index): [string, Uint8Array] => [
      `deposit key ${index}`,
      keys.privateKey({ branch: 'deposit', index }),
    ]),
  ]
  const encoded = bytes.flatMap(([name, value]): [string, string][] => [
    [`${name} in hexadecimal`, Buffer.from(value).toString('hex')],
    [`${name} in base64`, Buffer.from(value).toString('base64').replace(/=+$/, '')],
  ])
  return new Map([
    ...encoded,
    ['the pepper', cluster.pepper.toString()],
    ['the passphrase', cluster.passphrase],
    ['the words', cluster.words],
    ['three of the words', cluster.words.split(' ').slice(0, 3).join(' ')],
    ['the API key', apiKey],
    ['the secret of the API key', apiKey.split('_')[3] ?? ''],
  ])
}

/** All rows of all tables in all schemas, one line each, jobs included. */
async function dumpTables({ database: sql }: App): Promise<string> {
  const tables = await sql.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')`,
  )
  const texts: string[] = []
  for (const { name } of tables)
    for (const { row } of await sql.query<{ row: string }>(`select t::text as row from ${name} t`)) texts.push(row)
  return texts.join('\n')
}

/** Copies every job into a table, because finished jobs are deleted. */
const recordJobs = (app: App) =>
  app.database.query(
    `create table recorded_jobs (job text);
     create function record_job() returns trigger language plpgsql as $$ begin insert into public.recorded_jobs values (new::text); return new; end $$;
     create trigger record_job after insert or update on graphile_worker._private_jobs for each row execute function record_job();`,
  )

/** Sends the API key in wrong places, in malformed bodies and with a wrong character. */
async function sendBadRequests({ http, store }: App, apiKey: string): Promise<void> {
  const headers = { 'x-api-key': apiKey }
  const post = (payload: string, more: Record<string, string> = {}) =>
    http.inject({
      method: 'POST',
      url: '/v1/cross-chain/exchange',
      headers: { ...headers, 'content-type': 'application/json', ...more },
      payload,
    })
  const requests = [
    http.inject({ url: RATE, headers: { 'x-api-key': `${apiKey.slice(0, -1)}!` } }),
    http.inject({ url: `${RATE}&x-api-key=${apiKey}`, headers }),
    http.inject({ url: `/v1/${apiKey}`, headers }),
    http.inject({ url: RATE, headers: { authorization: `Bearer ${apiKey}` } }),
    post(`{"apiKey": "${apiKey}"`),
    post(JSON.stringify({ apiKey, privateKey: apiKey })),
    post('{}', { 'idempotency-key': apiKey, 'x-request-id': apiKey }),
  ]
  for (const { statusCode, body } of await Promise.all(requests))
    if (statusCode >= 400) expect(body).not.toContain(apiKey.split('_')[3])
  await expect(store.transaction((tx) => tx.transactions.load('no id'))).rejects.toThrow()
}

test('writes no secret to a log, an answer, a job or the database, and no signed transaction to a log (I-32)', async () => {
  const lines: string[] = []
  const log = createLog({ level: 'debug', pretty: false, destination: { write: (line) => void lines.push(line) } })
  const { app, stop } = await cluster.open({ databaseUrl: database.url, log })
  await recordJobs(app)
  await cluster.fund(app)
  const partners = createPartnerStore(app.database)
  await partners.add({
    name: 'canary',
    feeBps: 0,
    openExchangesMax: 100,
    rateLimitPerMinute: 6_000,
    strict: false,
    refundToSender: false,
  })
  const { keyId, text: apiKey, hmac } = makeApiKey('test', cluster.pepper)
  await partners.keys.add('canary', { keyId, hmac, scopes: [...scopes], ipAllowList: [], createdBy: 'test' })
  expect((await app.http.inject({ url: RATE, headers: { 'x-api-key': apiKey } })).statusCode).toBe(200)
  await sendBadRequests(app, apiKey)
  const paid = await cluster.order(app)
  cluster.pay(paid)
  await until('the exchange is finished', () => isFinished(app, paid))
  // A paused payout is checked repeatedly and appears in the jobs and in the dump.
  const held = await cluster.order(app)
  await app.store.pauses.pause('payouts:all', 'a test', 'test')
  cluster.pay(held)
  await until('the payout is reserved', async () => {
    const rows = await app.database.query('select 1 from payouts where exchange_id = $1', [held.id])
    return rows.length === 1
  })
  await stop()

  const reopened = await cluster.open({ databaseUrl: database.url, log })
  const tables = await dumpTables(reopened.app)
  const raws = await reopened.app.database.query<{ raw: string }>('select raw from attempts')
  const recordedJobs = await reopened.app.database.query<{ job: string }>('select job from recorded_jobs')
  await reopened.stop()
  const logged = lines.join('')
  expect([raws.length > 0, recordedJobs.length > 0]).toEqual([true, true])
  expect(logged).toContain('transaction signed')
  expect(tables).toContain(paid.recipient)
  for (const [name, secret] of await listSecrets(apiKey)) {
    expect(secret.length, name).toBeGreaterThan(11)
    expect(logged.includes(secret), `${name} in the logs`).toBe(false)
    expect(tables.includes(secret), `${name} in the database`).toBe(false)
  }
  for (const { raw } of raws) expect(logged.includes(raw.replace(/^0x/, ''))).toBe(false)
  for (const { job } of recordedJobs)
    for (const { raw } of raws) expect(job.includes(raw.replace(/^0x/, ''))).toBe(false)
})
