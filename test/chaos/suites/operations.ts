import assert from 'node:assert/strict'
import { until } from '../../support/until.ts'
import { expectStatuses } from '../attacks.ts'
import { STARTS_TAKE_CORES } from '../interruptions.ts'
import { restartOneByOne } from '../rolling-restart.ts'
import type { Run } from '../run.ts'
import type { Suite } from '../suite.ts'

const REQUESTS_A_SECOND = 50
/** Payouts in the queue at the pause. */
const QUEUED = 100
/** Payouts in the queue while the hot wallet is empty. */
const UNFUNDED = 12

export const operations: Suite = {
  networks: ['btc', 'eth'],
  options: { apis: 2, workers: 2, overload: STARTS_TAKE_CORES, config: { clocks: { drain: '2s' } } },
  cases: [
    { name: 'F21: answers every request during a rolling restart under 50 requests a second', work: restartUnderLoad },
    {
      name: 'F23: signs nothing after the command of a pause ends, and signs the whole queue after the resume',
      work: pauseAndResume,
    },
    {
      name: 'F24: holds payouts while the hot wallet is empty and signs all of them after it is funded',
      work: emptyAndFill,
    },
  ],
}

async function restartUnderLoad(run: Run): Promise<void> {
  const { answered, failed, created } = await restartOneByOne(run, REQUESTS_A_SECOND)
  assert.deepEqual(failed, [])
  assert.ok(answered > 4 * REQUESTS_A_SECOND, `${answered} requests were answered`)
  const rows = await run.fleet.database.query('select 1 from exchanges where id = any($1::uuid[])', [created])
  assert.equal(rows.length, created.length)
  assert.deepEqual(
    run.fleet.all.flatMap((one) => one.takeCrashes()),
    [],
  )
}

async function buySeveral(run: Run, count: number) {
  const order = { from: 'btc@btc', to: 'eth@eth', amount: '0.003' }
  return Promise.all(Array.from({ length: count }, () => run.customers.buy(order)))
}

async function countWaiting({ fleet }: Run): Promise<number> {
  const sql = "select 1 from payouts where purpose = 'payout' and network = 'eth' and state = 'reserved'"
  return (await fleet.database.query(sql)).length
}

async function pauseAndResume(run: Run): Promise<void> {
  const { database, store } = run.fleet
  await store.pauses.pause('payouts:eth', 'fill the queue', 'test')
  const bought = await buySeveral(run, QUEUED)
  await until('they are queued', async () => (await countWaiting(run)) === QUEUED)
  await store.pauses.resume('payouts:eth')
  await until('some are signed', async () => (await countWaiting(run)) <= QUEUED - 5)
  await store.pauses.pause('payouts:eth', 'stop', 'test')
  // The command of the operator also waits for the signature that began before.
  await store.pauses.waitForSigners()
  const [row] = await database.query<{ now: Date }>('select clock_timestamp() as now')
  const left = await countWaiting(run)
  assert.ok(left > 0, 'all payouts were signed before the pause')
  // The workers, which take the payouts of all networks in turn, pay on another one meanwhile.
  await expectStatuses(run, [await run.customers.buy({ from: 'eth@eth', to: 'btc@btc', amount: '0.1' })], ['finished'])
  assert.equal(await countWaiting(run), left)
  const signed = "select 1 from attempts where created_at > $1 and network = 'eth'"
  assert.deepEqual(await database.query(signed, [row?.now]), [])
  await store.pauses.resume('payouts:eth')
  await expectStatuses(run, bought, ['finished'])
}

async function emptyAndFill(run: Run): Promise<void> {
  const { cluster, chains, database, store } = run.fleet
  const hot = chains.get('eth')?.addresses.hot() ?? ''
  const balance = await cluster.call('eth', 'eth_getBalance', [hot, 'latest'])
  await cluster.call('eth', 'anvil_setBalance', [hot, '0x0'])
  const bought = await buySeveral(run, UNFUNDED)
  const alarm = "select 1 from alarms where subject = 'wallet:eth@eth'"
  // A payout that no worker has processed yet would not be held: it may be signed as soon as the wallet is funded.
  const heldPayouts = "select 1 from payouts where network = 'eth' and state = 'reserved' and held_until is not null"
  const isQueueHeld = async () =>
    (await database.query(heldPayouts)).length === UNFUNDED && (await database.query(alarm)).length > 0
  await until('the queue waits and an alarm is raised', isQueueHeld)
  await cluster.call('eth', 'anvil_setBalance', [hot, balance])
  const isSigned = async () => {
    // The reconciler may pause payouts because of the missing balance; the operator resumes them.
    await store.pauses.resume('payouts:eth')
    return (await countWaiting(run)) === 0
  }
  await until('they are signed', isSigned)
  await expectStatuses(run, bought, ['finished'])
  const rows = await database.query<{ nonce: string }>(
    `select split_part(t.conflict_key, ':', 2) as nonce from payouts p join transactions t on t.id = p.transaction_id
     where p.exchange_id = any($1::uuid[]) order by p.created_at, p.id`,
    [bought.map(({ id }) => id)],
  )
  const nonces = rows.map(({ nonce }) => Number(nonce))
  assert.equal(nonces.length, UNFUNDED)
  // The queue is in the order of readiness, which may differ from that of creation. No nonce is left out.
  const sorted = nonces.toSorted((a, b) => a - b)
  assert.deepEqual(
    sorted,
    sorted.map((_, n) => (sorted[0] ?? 0) + n),
  )
}
