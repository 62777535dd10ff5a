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

/** Every secret of the app, in every writing that a log or a column could hold it in. */
async function canaries(apiKey: string): Promise<ReadonlyMap<string, string>> {
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
  const written = bytes.flatMap(([name, value]): [string, string][] => [
    [`${name} in hexadecimal`, Buffer.from(value).toString('hex')],
    [`${name} in base64`, Buffer.from(value).toString('base64').replace(/=+$/, '')],
  ])
  return new Map([
    ...written,
    ['the pepper', cluster.pepper.toString()],
    ['the passphrase', cluster.passphrase],
    ['the words', cluster.words],
    ['three of the words', cluster.words.split(' ').slice(0, 3).join(' ')],
    ['the API key', apiKey],
    ['the secret of the API key', apiKey.split('_')[3] ?? ''],
  ])
}

/** All tables of all schemas, the jobs' included, a line each row. */
async function dump({ database: sql }: App): Promise<string> {
  const tables = await sql.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')`,
  )
  const texts: string[] = []
  for (const { name } of tables)
    for (const { row } of await sql.query<{ row: string }>(`select t::text as row from ${name} t`)) texts.push(row)
  return texts.join('\n')
}

/** Jobs are deleted once they are done: kept aside as they come. */
const keepJobs = (app: App) =>
  app.database.query(
    `create table seen_jobs (job text);
     create function keep_job() returns trigger language plpgsql as $$ begin insert into public.seen_jobs values (new::text); return new; end $$;
     create trigger keep_job after insert or update on graphile_worker._private_jobs for each row execute function keep_job();`,
  )

/** Whatever can go wrong with a secret in hand: wrong places, wrong bodies, wrong versions of it. */
async function makeMistakes({ http, store }: App, apiKey: string): Promise<void> {
  const headers = { 'x-api-key': apiKey }
  const post = (payload: string, more: Record<string, string> = {}) =>
    http.inject({
      method: 'POST',
      url: '/v1/cross-chain/exchange',
      headers: { ...headers, 'content-type': 'application/json', ...more },
      payload,
    })
  const asked = [
    http.inject({ url: RATE, headers: { 'x-api-key': `${apiKey.slice(0, -1)}!` } }),
    http.inject({ url: `${RATE}&x-api-key=${apiKey}`, headers }),
    http.inject({ url: `/v1/${apiKey}`, headers }),
    http.inject({ url: RATE, headers: { authorization: `Bearer ${apiKey}` } }),
    post(`{"apiKey": "${apiKey}"`),
    post(JSON.stringify({ apiKey, privateKey: apiKey })),
    post('{}', { 'idempotency-key': apiKey, 'x-request-id': apiKey }),
  ]
  for (const { statusCode, body } of await Promise.all(asked))
    if (statusCode >= 400) expect(body).not.toContain(apiKey.split('_')[3])
  await expect(store.transaction((tx) => tx.transactions.load('no id'))).rejects.toThrow()
}

test('no secret is in a log, an answer, a job or the database; no signed transaction in a log (I-32)', async () => {
  const lines: string[] = []
  const log = createLog({ level: 'debug', pretty: false, destination: { write: (line) => void lines.push(line) } })
  const { app, stop } = await cluster.open({ databaseUrl: database.url, log })
  await keepJobs(app)
  await cluster.fund(app)
  const partners = createPartnerStore(app.database)
  await partners.add({
    name: 'canary',
    feeBps: 0,
    openExchangesMax: 100,
    rateLimitPerMinute: 6_000,
    strict: false,
  })
  const { keyId, text: apiKey, hmac } = makeApiKey('test', cluster.pepper)
  await partners.keys.add('canary', { keyId, hmac, scopes: [...scopes], ipAllowList: [], createdBy: 'test' })
  expect((await app.http.inject({ url: RATE, headers: { 'x-api-key': apiKey } })).statusCode).toBe(200)
  await makeMistakes(app, apiKey)
  const paid = await cluster.order(app)
  cluster.pay(paid)
  await until('it is finished', () => isFinished(app, paid))
  // A payout that waits is looked at again and again, and stands in the jobs and in the dump.
  const held = await cluster.order(app)
  await app.store.pauses.pause('payouts:bsc', 'a test', 'test')
  cluster.pay(held)
  await until('it waits', async () => {
    const rows = await app.database.query('select 1 from payouts where exchange_id = $1', [held.id])
    return rows.length === 1
  })
  await stop()

  const again = await cluster.open({ databaseUrl: database.url, log })
  const tables = await dump(again.app)
  const raws = await again.app.database.query<{ raw: string }>('select raw from attempts')
  const seenJobs = await again.app.database.query<{ job: string }>('select job from seen_jobs')
  await again.stop()
  const logged = lines.join('')
  expect([raws.length > 0, seenJobs.length > 0]).toEqual([true, true])
  expect(logged).toContain('transaction signed')
  expect(tables).toContain(paid.recipient)
  for (const [name, canary] of await canaries(apiKey)) {
    expect(canary.length, name).toBeGreaterThan(11)
    expect(logged.includes(canary), `${name} in the logs`).toBe(false)
    expect(tables.includes(canary), `${name} in the database`).toBe(false)
  }
  for (const { raw } of raws) expect(logged.includes(raw.replace(/^0x/, ''))).toBe(false)
  for (const { job } of seenJobs) for (const { raw } of raws) expect(job.includes(raw.replace(/^0x/, ''))).toBe(false)
})
