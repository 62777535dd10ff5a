import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createBody } from '../../support/create-body.ts'
import { until } from '../../support/until.ts'
import { broadcastToFaultyNode, expectStatuses } from '../attacks.ts'
import type { Run } from '../run.ts'
import type { Suite } from '../suite.ts'
import type { TcpProxy } from '../tcp-proxy.ts'

/** The driver's COMMIT: the message `Query` of PostgreSQL's frontend/backend protocol. */
const COMMIT = 'Q\0\0\0\x0bcommit\0'
/** Name in the message `Bind` of the prepared statement that creates exchanges. */
const CREATE = 'create-exchanges'
/** COMMITs that are cut in a row. */
const CUTS = 8

const bitcoinToEther = { from: 'btc@btc', to: 'eth@eth', amount: '0.004' }
const etherToBitcoin = { from: 'eth@eth', to: 'btc@btc', amount: '0.1' }

export const unansweredRequests: Suite = {
  networks: ['btc', 'eth'],
  options: {
    ...{ apis: 1, workers: 2, fixedFees: ['eth'] },
    proxied: { database: true, networks: ['eth', 'btc'] },
  },
  cases: [
    { name: 'F6, F4: looks up the result of an unanswered COMMIT', work: cutCommits },
    {
      name: 'F12: rebroadcasts the same bytes to a node that accepted a transaction without an answer',
      work: broadcastToFaultyNodes,
    },
  ],
}

async function cutCommits(run: Run): Promise<void> {
  const { fleet, client, customers } = run
  const proxy = fleet.databaseProxy
  if (proxy === null) throw new Error('this fleet has no proxy in front of Postgres')
  const finish = fleet.interruptApis('connections to Postgres are cut, stalled and abandoned')
  // Transactions of workers with an unknown result, both committed and not committed.
  for (const part of ['answer', 'request'] as const) {
    const before = proxy.countCuts()
    proxy.cutAt(COMMIT, part, CUTS)
    await Promise.all([customers.buy(bitcoinToEther), customers.buy(etherToBitcoin)])
    await until('connections were cut', () => proxy.countCuts() >= before + CUTS)
  }
  // Creates with a lost reply. A repeated key returns the same exchange.
  proxy.cutAt(CREATE, 'answer', 3)
  const bought = await Promise.all(Array.from({ length: 6 }, () => customers.buy(bitcoinToEther)))
  assert.equal(new Set(bought.map(({ id }) => id)).size, bought.length)
  await stallConnections(run, proxy)
  // Idle connections that never answer again.
  proxy.abandon()
  await customers.buy(etherToBitcoin)
  const { status } = await client.call('GET', `/v1/cross-chain/exchange/status?id=${bought[0]?.id}`)
  assert.equal(status, 200)
  finish()
  assert.deepEqual(
    fleet.all.flatMap((one) => one.takeCrashes()),
    [],
  )
}

/** Stalls and then resets the connections to Postgres. The partner gets a 503. */
async function stallConnections({ fleet, client }: Run, proxy: TcpProxy): Promise<void> {
  proxy.blackHole(true)
  const key = { 'idempotency-key': randomUUID() }
  const { status } = await client.once(fleet.apis[0]?.url ?? '', 'POST', '/v1/cross-chain/exchange', createBody, key)
  assert.equal(status, 503)
  proxy.blackHole(false)
  proxy.reset()
}

async function broadcastToFaultyNodes(run: Run): Promise<void> {
  const { fleet, customers } = run
  await broadcastToFaultyNode(run)
  fleet.nodes.get('btc')?.queueFaults(['drop', 'silent', 'known'])
  const bought = await Promise.all(Array.from({ length: 3 }, () => customers.buy(etherToBitcoin)))
  await expectStatuses(run, bought, ['finished'])
  for (const [network, node] of fleet.nodes) {
    const byHash = [...Map.groupBy(node.broadcasts(), ({ hash }) => hash).values()]
    assert.ok(
      byHash.some((broadcasts) => broadcasts.length > 1),
      `no transaction was rebroadcast on ${network}`,
    )
    for (const broadcasts of byHash) assert.equal(new Set(broadcasts.map(({ raw }) => raw)).size, 1)
  }
  // A missing answer must cause neither a second attempt nor a replacement transaction.
  const replacements = await fleet.database.query(
    `select t.id from transactions t join attempts a on a.transaction_id = t.id group by t.id having count(*) > 1
     union all select id from transactions where state = 'expired'`,
  )
  assert.deepEqual(replacements, [])
}
