import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { requeuePayouts } from '../../../src/exchange/payouts/requeue-payouts.ts'
import { createLog } from '../../../src/lib/log.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

/* What the log and the alarms say about our own transactions. */
let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => fixture.expectBalanced())

/** A signed payout in ether that no node has. */
async function signPayout() {
  const exchange = await fixture.queuePayout()
  const { behaviour } = fixture.fakes.eth
  behaviour.dropsBroadcasts = true
  await fixture.services.dispatch('eth')
  const [row] = await fixture.database.query<{ id: string; payoutId: string }>(
    'select transaction_id as id, id as "payoutId" from payouts where exchange_id = $1 and transaction_id is not null',
    [exchange.id],
  )
  const transaction = await fixture.store.transactions.load(row?.id ?? '')
  if (!row || !transaction) throw new Error(`exchange ${exchange.id} has no transaction`)
  const [attempt] = transaction.attempts
  return { exchange, transaction, transactionId: row.id, payoutId: row.payoutId, txHash: attempt?.txHash }
}

test.each([
  [null, 'transaction invalidated: its payouts are queued again'],
  ['REVERTED', 'transaction invalidated: its payouts are held for the operator'],
])('logs once which payouts an invalidated transaction returns, with the attention %s', async (attention, message) => {
  const { exchange, transaction, transactionId, payoutId } = await signPayout()
  const lines: unknown[] = []
  const log = createLog({
    level: 'info',
    pretty: false,
    destination: { write: (line) => void lines.push(JSON.parse(line)) },
  })
  const { store, signer } = fixture
  const requeue = () =>
    requeuePayouts({ store, signer, log }, transaction, {
      proof: { reverted: '0xab', height: 9 },
      attention,
      isCancelled: true,
    })
  await requeue()
  expect(lines).toMatchObject([
    { msg: message, network: 'eth', transactionId, payoutIds: [payoutId], attention, isCancelled: true },
  ])
  // Another worker has done it.
  await requeue()
  expect(lines).toHaveLength(1)
  expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'reserved', attention }])
})

test('an alarm says that a higher fee would not help, and names network, transaction and hash', async () => {
  const { transactionId, txHash } = await signPayout()
  const { behaviour } = fixture.fakes.eth
  await fixture.services.advance(transactionId)
  // The transaction offers five times the new rate.
  const { feeRate } = behaviour
  behaviour.feeRate = feeRate / 5n
  await fixture.database.query(
    "update attempts set created_at = created_at - interval '1 day' where transaction_id = $1",
    [transactionId],
  )
  await fixture.services.advance(transactionId)
  behaviour.feeRate = feeRate
  expect((await fixture.store.alarms.find(`stuck:${transactionId}`))?.detail).toEqual({
    network: 'eth',
    transactionId,
    txHash,
    code: 'FEE_HIGH_ENOUGH',
  })
})
