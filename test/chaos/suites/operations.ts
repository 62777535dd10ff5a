import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../../support/until.ts'
import { told } from '../attacks.ts'
import { restartOneByOne } from '../rolling-restart.ts'
import type { Run } from '../run.ts'
import type { Suite } from '../suite.ts'

const REQUESTS_A_SECOND = 50
/** Payouts that wait when the switch is thrown, and when the wallet is empty. */
const QUEUED = 100
const UNFUNDED = 12
const PATIENCE_MS = 120_000
/** Longer than a hold of the queue lasts: there is nothing to wait for but time. */
const STILL_MS = 7_000

export const operations: Suite = {
  networks: ['btc', 'eth'],
  options: { apis: 2, workers: 2, config: { clocks: { drain: '2s' } } },
  cases: [
    { name: 'F21: processes restarted one by one under 50 requests a second fail nobody', work: restart },
    { name: 'F23: after a pause commits, nothing is signed; after it ends, everything is', work: pauseAndResume },
    {
      name: 'F24: an empty hot wallet holds its queue up, and once it is filled the queue goes on in its order',
      work: emptyAndFill,
    },
  ],
}

async function restart(run: Run): Promise<void> {
  const { answered, failed, created } = await restartOneByOne(run, REQUESTS_A_SECOND)
  assert.deepEqual(failed, [])
  assert.ok(answered > 4 * REQUESTS_A_SECOND, `${answered} requests were answered`)
  const found = await run.fleet.database.query('select 1 from exchanges where id = any($1::uuid[])', [created])
  assert.equal(found.length, created.length)
  assert.deepEqual(
    run.fleet.all.flatMap((one) => one.takeCrashes()),
    [],
  )
}

async function queue(run: Run, count: number) {
  const order = { from: 'btc@btc', to: 'eth@eth', amount: '0.003' }
  return Promise.all(Array.from({ length: count }, () => run.customers.buy(order)))
}

async function waiting({ fleet }: Run): Promise<number> {
  const sql = "select 1 from payouts where purpose = 'payout' and network = 'eth' and state = 'reserved'"
  return (await fleet.database.query(sql)).length
}

async function pauseAndResume(run: Run): Promise<void> {
  const { database, store } = run.fleet
  await store.pauses.pause('payouts:eth', 'a queue is to form', 'test')
  const bought = await queue(run, QUEUED)
  await until('they are queued', async () => (await waiting(run)) === QUEUED, PATIENCE_MS)
  await store.pauses.resume('payouts:eth')
  await until('some are signed', async () => (await waiting(run)) <= QUEUED - 5, PATIENCE_MS)
  await store.pauses.pause('payouts:eth', 'stop', 'test')
  const [row] = await database.query<{ now: Date }>('select clock_timestamp() as now')
  const left = await waiting(run)
  assert.ok(left > 0, 'the pause came too late to be seen')
  await delay(STILL_MS)
  assert.equal(await waiting(run), left)
  const signed = "select 1 from attempts where created_at > $1 and network = 'eth'"
  assert.deepEqual(await database.query(signed, [row?.now]), [])
  await store.pauses.resume('payouts:eth')
  await told(run, bought, ['finished'])
}

async function emptyAndFill(run: Run): Promise<void> {
  const { cluster, chains, database, store } = run.fleet
  const hot = chains.get('eth')?.addresses.hot() ?? ''
  const held = await cluster.call('eth', 'eth_getBalance', [hot, 'latest'])
  await cluster.call('eth', 'anvil_setBalance', [hot, '0x0'])
  const bought = await queue(run, UNFUNDED)
  const alarm = "select 1 from alarms where subject = 'wallet:eth'"
  // One that nobody has looked at yet may be signed at once when the wallet is filled: it has not waited for coins.
  const lookedAt = "select 1 from payouts where network = 'eth' and state = 'reserved' and held_until is not null"
  const stands = async () =>
    (await database.query(lookedAt)).length === UNFUNDED && (await database.query(alarm)).length > 0
  await until('the queue stands, and somebody was told', stands, PATIENCE_MS)
  await cluster.call('eth', 'anvil_setBalance', [hot, held])
  const isSigned = async () => {
    // The reconciler may have seen the hole: ending its pause is the operator's word.
    await store.pauses.resume('payouts:eth')
    return (await waiting(run)) === 0
  }
  await until('they are signed', isSigned, PATIENCE_MS)
  await told(run, bought, ['finished'])
  const rows = await database.query<{ nonce: string }>(
    `select split_part(t.conflict_key, ':', 2) as nonce from payouts p join transactions t on t.id = p.transaction_id
     where p.exchange_id = any($1::uuid[]) order by p.created_at, p.id`,
    [bought.map(({ id }) => id)],
  )
  const nonces = rows.map(({ nonce }) => Number(nonce))
  assert.equal(nonces.length, UNFUNDED)
  assert.deepEqual(
    nonces,
    nonces.toSorted((a, b) => a - b),
  )
}
