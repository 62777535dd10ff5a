import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { PATIENCE } from '../../../test/support/patience.ts'
import { outputDefaults } from '../../src/exchange/domain/output-plan.ts'
import { price } from '../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ETHER, type startMoneyPath } from '../exchange/money-path.ts'
import { type AdminServer, type Answer, type Caller, rowsOf } from './admin-server.ts'
import { openMoneyPathServer } from './money-path-server.ts'

const PAID = COIN / 25n
const reason = 'looked at it today'
const outdated = { statusCode: 409, code: 'REQUEST_OUTDATED', message: expect.stringContaining('then ask again') }

let server: AdminServer
let path: Awaited<ReturnType<typeof startMoneyPath>>
let whole: ReturnType<typeof path.books.current>
let asker: Caller
let approver: Caller
let close: () => Promise<void>
beforeAll(async () => {
  ;({ server, path, close } = await openMoneyPathServer({
    deps: {
      addresses: () => path.dependencies.chains,
      coldAddresses: ['eth:cold'],
      outputs: { ...outputDefaults, ready: 40, smallMax: 0 },
    },
  }))
  await path.fundWallets({ btc: 10n * COIN, eth: 12n * ETHER })
  whole = path.books.current()
  asker = await server.logIn(await server.addOperator('ada@example.com', 'admin'))
  approver = await server.logIn(await server.addOperator('bob@example.com', 'admin'))
  await path.setRefundToSender(false)
})
afterAll(() => close())
beforeEach(() => {
  path.books.replace(whole)
  path.screening.verdict = 'allow'
})

async function ask(act: string, given: object): Promise<string> {
  const { body } = await asker.post(act, { ...given, reason })
  expect(body).toMatchObject({ state: 'asked' })
  return String(body['requestId'])
}
const approve = (id: string): Promise<Answer> => approver.post('requests/approve', { id })
const query = <Row extends object>(text: string, values: readonly unknown[] = []) =>
  server.test.database.query<Row>(text, values)

/** The second person sees that it is outdated, and the approval closes the request. */
async function expectOutdated(id: string): Promise<void> {
  expect((await approver.post('requests/approve', { id, preview: true })).body).toMatchObject(outdated)
  expect((await approve(id)).body).toMatchObject(outdated)
  expect((await approve(id)).body).toMatchObject({ code: 'REQUEST_CLOSED' })
  const listed = rowsOf(await asker.get('requests')).find((one) => one['id'] === id)
  expect(listed).toMatchObject({ state: 'failed', result: { message: expect.stringContaining('changed') } })
}

describe('the end of a pause', () => {
  const pause = (why: string, scope = 'all') => asker.post('pauses/begin', { scope, reason: why })
  const listScopes = async () => (await path.store.pauses.list()).map(({ scope }) => scope)
  const readReasons = async () => (await path.store.pauses.list()).map((one) => one.reason)

  test('that was asked for twice does not end a later pause of the same scope', async () => {
    await pause('the node is behind')
    const [first, second] = [await ask('pauses/end', { scope: 'all' }), await ask('pauses/end', { scope: 'all' })]
    expect((await approve(first)).status).toBe(201)
    expect(await listScopes()).toEqual([])
    // Also for the same reason, by the same operator.
    await pause('the node is behind')
    await expectOutdated(second)
    expect(await listScopes()).toEqual(['all'])
  })

  test('does not end a pause that another reason continues', async () => {
    const id = await ask('pauses/end', { scope: 'all' })
    await pause('an intrusion')
    await expectOutdated(id)
    expect(await readReasons()).toEqual(['an intrusion'])
    expect((await approve(await ask('pauses/end', { scope: 'all' }))).status).toBe(201)
  })

  test('of a scope that is not paused is refused', async () => {
    const { body } = await asker.post('pauses/end', { scope: 'network:btc', reason })
    expect(body).toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringContaining('is not paused') })
  })
})

describe('a decision about an exchange', () => {
  /** Quoted at 4 000 dollars per ether, and held at 4 800. */
  async function holdByPrice() {
    const exchange = await path.createExchange({
      ...{ fromUnits: PAID, toUnits: (995n * ETHER) / 1_000n, maxUnits: COIN / 10n },
    })
    await payAt4800(exchange)
    return exchange
  }
  async function payAt4800(exchange: Parameters<typeof path.payDeposit>[0]) {
    path.books.replace({
      prices: { ...whole.prices, usd: new Map([...whole.prices.usd, ['eth', price('4800', '4800')]]) },
    })
    path.payDeposit(exchange, PAID)
    await path.mineBlocks(5)
  }
  const readItem = async (exchange: Parameters<typeof path.readExecution>[0], n = 0) => {
    const { status, reason: heldFor, decision } = await path.readExecution(exchange, n)
    return { status, reason: heldFor, decision }
  }

  test('applies to the deposit that was held when it was asked for, and to no later one', async () => {
    const exchange = await holdByPrice()
    const id = await ask('exchanges/release', { exchangeId: exchange.id })
    expect((await asker.post('exchanges/fail', { exchangeId: exchange.id, reason })).status).toBe(201)
    await path.runJobs()
    await payAt4800(exchange)
    expect(await readItem(exchange, 1)).toMatchObject({ status: 'verifying', decision: null })
    await expectOutdated(id)
    expect(await readItem(exchange, 1)).toMatchObject({ status: 'verifying', decision: null })
  })

  test('does not clear a hold for another reason', async () => {
    const exchange = await holdByPrice()
    const id = await ask('exchanges/release', { exchangeId: exchange.id })
    // The price returns, and the screening holds the same deposit.
    path.books.replace(whole)
    path.screening.verdict = 'review'
    await path.runJobs()
    const heldFor = { status: 'verifying', reason: 'SCREENING', decision: null }
    expect(await readItem(exchange)).toEqual(heldFor)
    await expectOutdated(id)
    expect(await readItem(exchange)).toEqual(heldFor)
  })

  test('does not refund to an address that was set after it was asked for', async () => {
    const exchange = await holdByPrice()
    const id = await ask('exchanges/refund', { exchangeId: exchange.id })
    const other = await ask('exchanges/set-refund', { exchangeId: exchange.id, address: 'another-refund' })
    expect((await approve(other)).status).toBe(201)
    await expectOutdated(id)
    expect(await readItem(exchange)).toMatchObject({ status: 'verifying', decision: null })
  })
})

test('a payout that is held for another reason since is not released', async () => {
  const id = await path.insertPayout('eth', ETHER / 100n, 'somewhere', 'sweep')
  await path.store.payouts.holdForOperator([id], 'REVERTED')
  const request = await ask('payouts/release', { payoutId: id })
  await path.store.payouts.holdForOperator([id], 'PAYEE')
  await expectOutdated(request)
  expect(await path.store.operator.findPayout(id)).toMatchObject({ attention: 'PAYEE' })
})

test('a request of an earlier version of the program, which has no state, is refused', async () => {
  const [row] = await query<{ id: string }>(
    `insert into operator_requests (id, action, arguments, reason, asked_by, expires_at)
     select gen_random_uuid(), 'partners-add', '{"name": "early"}', 'signed', id, clock_timestamp() + interval '1 hour'
     from operators where login = 'ada@example.com' returning id`,
  )
  expect((await approve(row?.id ?? '')).body).toMatchObject({ statusCode: 409, code: 'REQUEST_OUTDATED' })
  expect(await query("select 1 from partners where name = 'early'")).toEqual([])
})

test('the state of a request never changes', async () => {
  const id = await ask('partners/set', { name: 'partner', feeBps: 30 })
  const changed = query('update operator_requests set found_hash = sha256(found_hash) where id = $1', [id])
  await expect(changed).rejects.toThrow('terms never change')
})

test('a change that commits while the approval waits for the row is seen', async () => {
  const id = await ask('partners/set', { name: 'partner', feeBps: 40 })
  let approval: Promise<Answer> | null = null
  await server.test.database.transaction(async (tx) => {
    await tx.query("update partners set suspended = true where name = 'partner'")
    approval = approve(id)
    const countWaiting = async () =>
      (
        await query<{ count: string }>(
          "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        )
      )[0]?.count
    await expect.poll(countWaiting, PATIENCE).toBe('1')
  })
  expect(((await approval) as Answer | null)?.body).toMatchObject(outdated)
  expect(await query("select fee_bps from partners where name = 'partner'")).not.toEqual([{ fee_bps: 40 }])
})

describe('balances and times of use do not outdate', () => {
  test('a withdrawal, a ceiling or a split', async () => {
    const requests = [
      await ask('treasury/withdraw', { currency: 'eth@eth', amount: '0.1', address: 'cold', key: 'one' }),
      await ask('treasury/ceiling', { currency: 'eth@eth', amount: '10', address: 'cold', key: 'two' }),
      await ask('treasury/split', { network: 'btc' }),
    ]
    await path.fundWallets({ btc: COIN, eth: ETHER })
    for (const id of requests) expect((await approve(id)).body).toMatchObject({ state: 'done' })
  })

  test('a change of a key', async () => {
    const added = await asker.post('partners/keys/add', { name: 'partner', scopes: ['rates:read'], reason })
    await approve(String(added.body['requestId']))
    const { keyId } = (rowsOf(await asker.get('requests'))[0]?.['result'] ?? {}) as { keyId: string }
    const requests = [
      await ask('partners/keys/set', { keyId, ipAllowList: ['192.0.2.1'] }),
      await ask('partners/keys/set', { keyId, scopes: ['exchange:read'] }),
    ]
    await query('update api_keys set last_used_at = clock_timestamp() where id = $1', [keyId])
    expect((await approve(requests[0] ?? '')).body).toMatchObject({ state: 'done' })
    // The other one does: the addresses are not those of when it was asked for.
    await expectOutdated(requests[1] ?? '')
  })

  test('the end of the hold after a restore', async () => {
    await path.store.pauses.pause('payouts:all', 'a restored database', 'signer')
    expect((await approve(await ask('signer/release', {}))).body).toMatchObject({ state: 'done' })
    expect(await path.store.pauses.list()).toEqual([])
  })
})

test('the end of the hold after a restore settles only what was listed, and ends only the pause that was seen', async () => {
  await path.store.pauses.pause('payouts:all', 'a restored database', 'signer')
  const id = await ask('signer/release', {})
  await path.store.pauses.pause('payouts:all', 'an intrusion', 'operator:bob@example.com')
  await expectOutdated(id)
  expect(await path.store.pauses.list()).toMatchObject([{ scope: 'payouts:all', reason: 'an intrusion' }])
  await query('insert into signing_journals (id, segments, bytes, compared) values (gen_random_uuid(), 1, 1, null)')
  const { body } = await asker.post('signer/release', { reason })
  expect(body).toMatchObject({ message: expect.stringContaining('1 workers that reported in the last three minutes') })
  await query('update signing_journals set compared = gen_random_uuid()')
  const another = await ask('signer/release', {})
  await query(
    `insert into forgotten_payouts (network, tx_hash, payout_id, asset_id, address, units, released_at)
     values ('eth', 'hash', 'payout', 'eth@eth', 'customer', 1, clock_timestamp())`,
  )
  await expectOutdated(another)
  expect(await query('select 1 from forgotten_payouts where acknowledged_at is null')).toHaveLength(1)
})
