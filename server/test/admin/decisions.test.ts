import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { formatUnits } from '../../src/core/domain/amount.ts'
import { journalEntry } from '../../src/core/domain/ledger/journal.ts'
import type { Exchange } from '../../src/exchange/domain/exchange.ts'
import { price } from '../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ETHER, type startMoneyPath } from '../exchange/money-path.ts'
import { type AdminServer, type Caller, rowsOf } from './admin-server.ts'
import { openMoneyPathServer } from './money-path-server.ts'

const PAID = COIN / 25n
const reason = 'she sent a passport'

let server: AdminServer
let path: Awaited<ReturnType<typeof startMoneyPath>>
let whole: ReturnType<typeof path.books.current>
let asker: Caller
let approver: Caller
let close: () => Promise<void>
beforeAll(async () => {
  ;({ server, path, close } = await openMoneyPathServer({ deps: { addresses: () => path.dependencies.chains } }))
  await path.fundWallets({ btc: 10n * COIN, eth: 12n * ETHER })
  whole = path.books.current()
  asker = await server.logIn(await server.addOperator('ada@example.com', 'admin'))
  approver = await server.logIn(await server.addOperator('bob@example.com', 'admin'))
})
afterAll(() => close())
beforeEach(() => path.books.replace(whole))

/** Quoted at 4 000 dollars per ether, and held at 4 800. */
async function holdByPrice(options: Parameters<typeof path.createExchange>[0] = {}): Promise<Exchange> {
  const exchange = await path.createExchange({
    ...{ fromUnits: PAID, toUnits: (995n * ETHER) / 1_000n, maxUnits: COIN / 10n, ...options },
  })
  path.books.replace({
    prices: { ...whole.prices, usd: new Map([...whole.prices.usd, ['eth', price('4800', '4800')]]) },
  })
  path.payDeposit(exchange, PAID)
  await path.mineBlocks(5)
  return exchange
}

/** 0.04 × 99 990 ÷ 4 800, − 0.4 %, − 0.1 %, − 0.00021. */
const AT_4800 = '0.828877083'
const paysRecipient = (exchange: Exchange) => ({
  ...{ pays: AT_4800, currency: 'eth@eth', to: exchange.recipient?.address, memo: null, fee: '0.00021' },
  note: expect.stringContaining('estimate'),
})
const paysRefund = (to: string | undefined, note: unknown) => ({
  ...{ pays: '0.039985', currency: 'btc@btc', to: to ?? null, memo: null, fee: '0.000015', note },
})

describe('a held deposit', () => {
  test('previews what a decision pays, to whom, and with which fee; the second person sees the same', async () => {
    const exchange = await holdByPrice()
    const body = { exchangeId: exchange.id, reason }
    const preview = async (decision: string) =>
      (await asker.post(`exchanges/${decision}`, { ...body, preview: true })).body
    expect(await preview('release')).toMatchObject({ state: 'preview', result: { will: paysRecipient(exchange) } })
    expect(await preview('convert')).toMatchObject({ result: { will: paysRecipient(exchange) } })
    const refund = paysRefund(exchange.refund?.address, expect.stringContaining('fee is an estimate'))
    expect(await preview('refund')).toMatchObject({ result: { will: refund } })
    expect(await preview('fail')).toMatchObject({
      result: { will: { pays: null, to: null, note: expect.stringMatching('pays nothing') } },
    })
    const asked = await asker.post('exchanges/release', body)
    expect(asked.body).toMatchObject({ state: 'asked', result: { will: paysRecipient(exchange) } })
    const id = asked.body['requestId']
    expect((await approver.post('requests/approve', { id, preview: true })).body).toMatchObject({
      state: 'preview',
      result: { will: paysRecipient(exchange) },
    })
    expect((await approver.post('requests/approve', { id })).status).toBe(201)
    await path.runJobs()
    expect(await path.listPayouts(exchange)).toMatchObject([
      { units: '828877083000000000', address: exchange.recipient?.address },
    ])
  })

  test('says that a refund waits for an address where none was named', async () => {
    const { id: exchangeId } = await holdByPrice({ refund: null })
    const { body } = await asker.post('exchanges/refund', { exchangeId, reason, preview: true })
    const note = expect.stringContaining('no refund address: the refund waits for one')
    expect(body).toMatchObject({ result: { will: paysRefund(undefined, note) } })
  })

  test('is listed with its payees and with what each decision would pay', async () => {
    const exchange = await holdByPrice()
    const held = rowsOf(await asker.get('held')).find(({ exchangeId }) => exchangeId === exchange.id)
    expect(held).toMatchObject({
      ...{ recipient: exchange.recipient?.address, refundAddress: exchange.refund?.address },
      ...{ quoted: '0.995', quotedCurrency: 'eth@eth', due: null, dueCurrency: 'eth@eth' },
    })
    const rows = rowsOf(await asker.get(`held/decisions?exchangeId=${exchange.id}&deposit=${held?.['depositId']}`))
    expect(rows.map(({ action }) => action)).toEqual(
      ['release', 'refund', 'convert', 'fail'].map((name) => `exchanges-${name}`),
    )
    expect(rows[0]).toMatchObject(paysRecipient(exchange))
    expect(rows[1]).toMatchObject(paysRefund(exchange.refund?.address, expect.anything()))
    expect(rowsOf(await asker.get(`held/decisions?exchangeId=${exchange.id}&deposit=nothing`))).toEqual([])
  })
})

test('a decision about a deposit that left its chain after its coins were spent says what it waits for', async () => {
  const exchange = await holdByPrice()
  const { deposit } = await path.readExecution(exchange)
  const units = (await path.readWalletUnits('btc@btc')) - PAID + 5n
  const spent = { debit: 'equity:capital', credit: 'asset:wallet', assetId: 'btc@btc', units } as const
  await path.store.ledger.post(journalEntry('spent', 'a test', null, [spent]))
  path.fakes.btc.reorg(5, (txHash) => txHash === deposit.txHash)
  await path.runWorkers()
  const decide = async (decision: string) =>
    (await asker.post(`exchanges/${decision}`, { exchangeId: exchange.id, reason, preview: true })).body['result']
  const waits = (then: string) =>
    expect.stringMatching(`Until asset:wallet has 0.00000005 btc@btc more.*hot wallet.*${then}`)
  expect(await decide('refund')).toMatchObject({ waitsFor: waits('held again') })
  expect(await decide('fail')).toMatchObject({
    waitsFor: waits('closed as failed'),
    will: { note: expect.stringContaining('not on its chain') },
  })
  const filled = { ...spent, debit: 'asset:wallet', credit: 'equity:capital' } as const
  await path.store.ledger.post(journalEntry('filled', 'a test', null, [filled]))
  expect(await decide('fail')).not.toHaveProperty('waitsFor')
  expect((await asker.post('exchanges/fail', { exchangeId: exchange.id, reason })).body).toMatchObject({
    state: 'done',
  })
  await path.store.pauses.resume('asset:btc@btc')
  await path.runJobs()
  expect(await path.readStatus(exchange)).toBe('failed')
})

describe('the refund address of a held exchange', () => {
  const previewBySecond = async (exchangeId: string) => {
    const asked = await asker.post('exchanges/set-refund', { exchangeId, address: 'her-wallet', reason })
    expect(asked.body).toMatchObject({ state: 'asked' })
    const id = asked.body['requestId']
    const { body } = await approver.post('requests/approve', { id, preview: true })
    expect(body['result']).toEqual(asked.body['result'])
    return { id, result: body['result'] }
  }

  test('pays the refund that waits for it, and the second person sees which, how much and where', async () => {
    const exchange = await holdByPrice({ refund: null })
    await path.decide(exchange, 'refund')
    await path.runJobs()
    const { deposit, reason: heldFor } = await path.readExecution(exchange)
    expect(heldFor).toBe('REFUND_ADDRESS_REQUIRED')
    const { id, result } = await previewBySecond(exchange.id)
    expect(result).toEqual({
      ...{ exchangeId: exchange.id, refundAddress: 'her-wallet', refundMemo: null },
      refunds: [
        {
          ...{ deposit: deposit.id, txHash: deposit.txHash },
          ...paysRefund('her-wallet', expect.stringContaining('fee is an estimate')),
        },
      ],
    })
    expect((await approver.post('requests/approve', { id })).status).toBe(201)
    await path.runJobs()
    expect(await path.listPayouts(exchange)).toMatchObject([
      { purpose: 'refund', units: '3998500', address: 'her-wallet' },
    ])
  })

  test('pays nothing where the deposit is held for another reason, and says so', async () => {
    const { id } = await holdByPrice()
    expect((await previewBySecond(id)).result).toMatchObject({
      ...{ refunds: [], note: expect.stringContaining('pays nothing now') },
    })
  })
})

describe('the guards of an exchange', () => {
  const readGuards = async ({ id }: Exchange) =>
    (await asker.get(`exchanges/story?id=${id}`)).body['guards'] as Record<string, unknown>

  test('say what the price guard found when it held a deposit, and what it finds now', async () => {
    const exchange = await holdByPrice()
    const compared = { currency: 'eth@eth', quoted: '0.995', current: AT_4800, movePercent: '-16.7' }
    expect(await readGuards(exchange)).toMatchObject({
      ...{ fixedUntil: null, includedBy: null, tolerancePercent: null, maxAmount: '0.1' },
      price: {
        allowedPercent: '10',
        whenHeld: [{ ...compared, allowedPercent: '10', deposit: expect.any(String), at: expect.any(String) }],
        now: [{ ...compared, isFar: true }],
      },
    })
    path.books.replace(whole)
    expect(await readGuards(exchange)).toMatchObject({
      price: { whenHeld: [compared], now: [{ quoted: '0.995', isFar: false }] },
    })
  })

  test('have the ends of the lock and of the inclusion, and the tolerance, of a fixed rate', async () => {
    const exchange = await path.createExchange({ flow: 'fixed-rate', fromUnits: PAID, toUnits: (96n * ETHER) / 100n })
    const until = exchange.fixedUntil?.getTime() ?? 0
    expect(await readGuards(exchange)).toMatchObject({
      fixedUntil: new Date(until).toISOString(),
      includedBy: new Date(until + 1_800_000).toISOString(),
      ...{ tolerancePercent: '1', leastPercent: '98', maxAmount: '0' },
      price: { whenHeld: [], now: [{ deposit: null, quoted: '0.96', isFar: false }] },
    })
  })
})

describe('the actions of a payout', () => {
  const listed = async (id: string) =>
    rowsOf<{ id: string; acts: readonly string[] }>(await asker.get('payouts')).find((one) => one.id === id)
  /** Which of the two actions the server carries out now, by their previews. */
  const accepted = async (payoutId: string) => {
    const found: string[] = []
    for (const act of ['release', 'drop'])
      if ((await asker.post(`payouts/${act}`, { payoutId, reason, preview: true })).status === 201)
        found.push(`payouts-${act}`)
    return found
  }

  test('say to the second person what is paid, to whom and with which memo, or what is not', async () => {
    const again = (await path.listPayouts(await path.queuePayout()))[0]?.id ?? ''
    await server.test.database.query("update payouts set lost = true, attention = 'LOST' where id = $1", [again])
    const [reversed] = await path.store.payouts.find([again])
    const own = await path.insertPayout('eth', ETHER / 100n, 'somewhere', 'sweep')
    const withMemo = randomUUID()
    const none = { exchangeId: null, executionId: null, depositId: null, leg: null }
    const sent = {
      network: 'eth',
      assetId: 'eth@eth',
      from: 'hot',
      address: 'elsewhere',
      memo: '7',
      units: ETHER,
    } as const
    await path.store.payouts.insert({ id: withMemo, purpose: 'gas', ...none, ...sent })
    await path.store.payouts.holdForOperator([own], 'PAYEE')
    await path.store.payouts.holdForOperator([withMemo], 'REVERTED')
    const seenBySecond = async (act: string, payoutId: string) => {
      const asked = await asker.post(`payouts/${act}`, { payoutId, reason })
      const { body } = await approver.post('requests/approve', { id: asked.body['requestId'], preview: true })
      return (body['result'] as { will: object }).will
    }
    const pays = { currency: 'eth@eth', fee: null }
    expect(await seenBySecond('release', again)).toEqual({
      ...{ ...pays, pays: formatUnits(reversed?.units ?? 0n, 18), to: reversed?.address, memo: null },
      note: expect.stringContaining('pays it a second time'),
    })
    expect(await seenBySecond('release', own)).toEqual({
      ...{ ...pays, pays: '0.01', to: 'somewhere', memo: null, note: expect.stringContaining('signer refuses it') },
    })
    expect(await seenBySecond('release', withMemo)).toEqual({
      ...pays,
      pays: '1',
      to: 'elsewhere',
      memo: '7',
      note: null,
    })
    expect(await seenBySecond('drop', withMemo)).toMatchObject({
      ...{ pays: null, note: expect.stringContaining('1 eth@eth to elsewhere with the memo 7 will not be sent') },
    })
    await server.test.database.query('update payouts set lost = false, attention = null where id = $1', [again])
  })

  test('are those that the server accepts: for one of an exchange, one that waits, and one of our own', async () => {
    const queuedOf = async () => (await path.listPayouts(await path.queuePayout()))[0]?.id ?? ''
    const [held, waiting, queued] = [await queuedOf(), await queuedOf(), await queuedOf()]
    const sweep = await path.insertPayout('eth', ETHER / 100n, 'somewhere', 'sweep')
    const own = await path.insertPayout('eth', ETHER / 100n, 'somewhere', 'withdrawal')
    await path.store.payouts.holdForOperator([held, sweep], 'PAYEE')
    await path.store.payouts.postpone([waiting], 'payout-fee:eth')
    for (const [id, acts] of [
      [held, []],
      [waiting, ['payouts-release']],
      [queued, []],
      [sweep, ['payouts-release', 'payouts-drop']],
      [own, ['payouts-drop']],
    ] as const) {
      expect(await listed(id)).toMatchObject({ acts })
      expect(await accepted(id)).toEqual(acts)
    }
    expect(rowsOf(await asker.get('payouts/queue?network=eth'))).toContainEqual(
      expect.objectContaining({ id: waiting, waitsFor: 'payout-fee:eth', acts: ['payouts-release'] }),
    )
  })
})
