import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { until } from '../../support/until.ts'
import { nodesThatDoNotAnswer, told } from '../attacks.ts'
import type { Run } from '../run.ts'
import type { Suite } from '../suite.ts'
import type { TcpProxy } from '../tcp-proxy.ts'

/** COMMIT as the driver sends it: a simple query (PostgreSQL, frontend/backend protocol, `Query`). */
const COMMIT = 'Q\0\0\0\x0bcommit\0'
/** The statement that creates exchanges, by its name in `Bind`. */
const CREATE = 'create-exchanges'
/** Commits lost at a time. */
const CUTS = 8

const bitcoinToEther = { from: 'btc@btc', to: 'eth@eth', amount: '0.004' }
const etherToBitcoin = { from: 'eth@eth', to: 'btc@btc', amount: '0.1' }

export const answersThatNeverCome: Suite = {
  networks: ['btc', 'eth'],
  options: { apis: 1, workers: 2, proxied: { database: true, networks: ['eth', 'btc'] } },
  cases: [
    { name: 'F6, F4: whether a COMMIT that nobody answered was done is looked up, never guessed', work: loseCommits },
    {
      name: 'F12: a node that takes a transaction and does not say so is offered the same bytes again',
      work: loseSends,
    },
  ],
}

async function loseCommits(run: Run): Promise<void> {
  const { fleet, client, customers } = run
  const proxy = fleet.databaseProxy
  if (proxy === null) throw new Error('this fleet has no proxy before Postgres')
  // Workers: transactions whose end is unknown, done and not done.
  for (const lost of ['answer', 'request'] as const) {
    const before = proxy.cuts()
    proxy.cutAt(COMMIT, lost, CUTS)
    await Promise.all([customers.buy(bitcoinToEther), customers.buy(etherToBitcoin)])
    await until('connections were cut', () => proxy.cuts() >= before + CUTS)
  }
  // Creates whose reply is lost: the same key again is the same exchange.
  proxy.cutAt(CREATE, 'answer', 3)
  const bought = await Promise.all(Array.from({ length: 6 }, () => customers.buy(bitcoinToEther)))
  assert.equal(new Set(bought.map(({ id }) => id)).size, bought.length)
  await hang(run, proxy)
  // Connections that nobody will answer on again, and that nobody ends either.
  proxy.abandon()
  await customers.buy(etherToBitcoin)
  const { status } = await client.call('GET', `/v1/cross-chain/exchange/status?id=${bought[0]?.id}`)
  assert.equal(status, 200)
  assert.deepEqual(
    fleet.all.flatMap((one) => one.takeCrashes()),
    [],
  )
}

/** Connections to Postgres that hang, and are then reset: a partner is told to come again. */
async function hang({ fleet, client }: Run, proxy: TcpProxy): Promise<void> {
  proxy.blackHole(true)
  const [from, to] = [bitcoinToEther.from, bitcoinToEther.to].map((id) => id.split('@'))
  const order = {
    fromCurrency: from?.[0],
    fromNetwork: from?.[1],
    toCurrency: to?.[0],
    toNetwork: to?.[1],
    fromAmount: '0.01',
    flow: 'standard',
    address: '0x8ba1f109551bd432803012645ac136ddd64dba72',
  }
  const key = { 'idempotency-key': randomUUID() }
  const { status } = await client.once(fleet.apis[0]?.url ?? '', 'POST', '/v1/cross-chain/exchange', order, key)
  assert.equal(status, 503)
  proxy.blackHole(false)
  proxy.reset()
}

async function loseSends(run: Run): Promise<void> {
  const { fleet, customers } = run
  await nodesThatDoNotAnswer(run)
  fleet.nodes.get('btc')?.misbehave(['lie', 'silent', 'known'])
  const bought = await Promise.all(Array.from({ length: 3 }, () => customers.buy(etherToBitcoin)))
  await told(run, bought, ['finished'])
  for (const [network, node] of fleet.nodes) {
    const byHash = [...Map.groupBy(node.offered(), ({ hash }) => hash).values()]
    assert.ok(
      byHash.some((offers) => offers.length > 1),
      `nothing was offered twice on ${network}`,
    )
    for (const offers of byHash) assert.equal(new Set(offers.map(({ raw }) => raw)).size, 1)
  }
  // Silence is no reason for other bytes: neither a second attempt, nor another transaction in its place.
  const others = await fleet.database.query(
    `select t.id from transactions t join attempts a on a.transaction_id = t.id group by t.id having count(*) > 1
     union all select id from transactions where state = 'expired'`,
  )
  assert.deepEqual(others, [])
}
