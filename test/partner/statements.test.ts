import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseUnits } from '../../server/src/core/domain/amount.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { until } from '../support/until.ts'
import { type PartnerApp, startPartnerApp } from './partner-app.ts'

let app: PartnerApp
beforeAll(async () => {
  app = await startPartnerApp()
  // Half a percent, and a key that may only read statements.
  await app.app.database.query("update partners set fee_bps = 50 where name = 'sandbox'")
})
afterAll(() => app?.stop())

const today = () => new Date().toISOString().slice(0, 10)
const status = async (id: string) => (await app.get(`/v1/cross-chain/exchange/status?id=${id}`)).json().exchange
const bnb = { id: 'bnb@bsc', ticker: 'bnb', network: 'bsc', decimals: 18, contract: null } as const
const other = { 'x-api-key': 'sandbox-b' }

const waitForFee = () =>
  until('the fee is in effect', async () => (await app.get('/v1/partner/usage')).json().feePercent === '0.5')

async function finishOne() {
  await waitForFee()
  const order = await app.order()
  app.pay(order)
  await until('the exchange is finished', async () => (await status(order.id)).status === 'finished', PATIENCE_MS)
  return order
}

describe('what a partner reads about itself', () => {
  test('balances and the statement agree with the ledger, by day, currency and kind', async () => {
    const { id } = await finishOne()
    // 0.5 % of what is left after the spread, by hand from what was paid: out = gross × 0.995 − network fee.
    const [posting] = await app.app.database.query<{ units: string }>(
      `select sum(p.units)::text as units from postings p join journal j on j.id = p.journal_id
       where j.exchange_id = $1 and starts_with(p.credit, 'liability:partner:')`,
      [id],
    )
    const fee = BigInt(posting?.units ?? 0)
    expect(fee).toBeGreaterThan(0n)
    const decimal = `0.${fee.toString().padStart(18, '0')}`.replace(/0+$/, '')
    const balances = (await app.get('/v1/partner/balances')).json()
    expect(balances.data).toEqual([{ currency: 'bnb', network: 'bsc', amount: decimal }])
    const balancesAsCsv = await app.get('/v1/partner/balances?format=csv')
    expect(balancesAsCsv.headers).toMatchObject({
      'content-type': expect.stringContaining('text/csv'),
      'content-disposition': 'attachment; filename="balances.csv"',
      'cache-control': 'no-store',
    })
    expect(balancesAsCsv.body).toBe(`currency,network,amount\r\nbnb,bsc,${decimal}\r\n`)
    expect((await app.get('/v1/partner/balances', { accept: 'text/csv' })).body).toBe(balancesAsCsv.body)
    const period = { from: today(), to: today() }
    const statement = (await app.get(`/v1/partner/fees?${new URLSearchParams(period)}`)).json()
    const row = { currency: 'bnb', network: 'bsc', kind: 'exchangeFee', credited: decimal, debited: '0', count: 1 }
    expect(statement).toMatchObject({ ...period, data: [row] })
    const csv = await app.get(`/v1/partner/fees?${new URLSearchParams({ ...period, format: 'csv' })}`)
    expect(csv.headers['content-type']).toContain('text/csv')
    expect(csv.body).toBe(
      `date,currency,network,kind,credited,debited,count\r\n${statement.data[0].date},bnb,bsc,exchangeFee,${decimal},0,1\r\n`,
    )
    const accepted = await app.get(`/v1/partner/fees?${new URLSearchParams(period)}`, { accept: 'text/csv' })
    expect(accepted.body).toBe(csv.body)
    // Another partner has nothing of it.
    expect((await app.get('/v1/partner/balances?format=csv', other)).body).toBe('currency,network,amount\r\n')
    expect((await app.get('/v1/partner/balances', other)).json()).toEqual({ data: [], monthlyPayouts: [] })
    expect((await app.get(`/v1/partner/fees?${new URLSearchParams(period)}`, other)).json().data).toEqual([])
    // The sums by day are those of all postings.
    const [sums] = await app.app.database.query<{ days: string; postings: string }>(
      `select (select sum(credited - debited) from partner_days)::text as days, (select sum(units) filter (where
         starts_with(credit, 'liability:partner:')) - coalesce(sum(units) filter (where starts_with(debit, 'liability:partner:')), 0)
         from postings)::text as postings`,
    )
    expect(sums?.days).toBe(sums?.postings)
  })

  test('a quote states the service fee, the fee of its partner and the network costs apart, in the target currency', async () => {
    await waitForFee()
    const query = { fromCurrency: 'eth', fromNetwork: 'eth', toCurrency: 'bnb', toNetwork: 'bsc', amount: '0.1' }
    const quoteOf = async (headers: Record<string, string>) => {
      const quote = (await app.get(`/v1/cross-chain/rate?${new URLSearchParams(query)}`, headers)).json()
      const units = (name: string) => parseUnits(quote.fees[name], bnb)
      return {
        ...{ ours: units('service'), theirs: units('partner'), costs: units('network'), payment: units('payout') },
        net: parseUnits(`${quote.toAmount}`, bnb),
      }
    }
    const [charged, free] = [await quoteOf({}), await quoteOf(other)]
    const grossOf = ({ ours, theirs, costs, net }: typeof free) => ours + theirs + costs + net
    // The value at the reference rate is the same for both partners.
    expect(grossOf(charged)).toBe(grossOf(free))
    expect(free.theirs).toBe(0n)
    // 0.4 % of the value between coins of this class, then 0.5 % of the rest.
    expect(Number(free.ours) / Number(grossOf(free))).toBeCloseTo(0.004, 9)
    expect(Number(charged.theirs) / Number(grossOf(free))).toBeCloseTo(0.996 * 0.005, 9)
    expect(charged.costs).toBeGreaterThanOrEqual(charged.payment)
    expect(charged.payment).toBeGreaterThan(0n)
  })

  test('monthly payouts state the currency, the minimum and the verified recipient', async () => {
    const set = "from partners where name = 'sandbox'"
    const address = '0x52908400098527886E0F7030069857D2E4169EE7'
    await app.app.database.query(
      `insert into default_recipients (partner_id, asset_id, address) select id, 'bnb@bsc', $1 ${set}`,
      [address],
    )
    await app.app.database.query(
      `insert into monthly_payout_settings (partner_id, asset_id, minimum) select id, 'bnb@bsc', 250000000000000000 ${set}`,
    )
    const { monthlyPayouts } = (await app.get('/v1/partner/balances')).json()
    expect(monthlyPayouts).toEqual([
      { currency: 'bnb', network: 'bsc', minimum: '0.25', address, memo: null, convertsOthers: false },
    ])
    expect((await app.get('/v1/partner/balances', other)).json().monthlyPayouts).toEqual([])
  })

  test('a period that is none is refused with its reason', async () => {
    const ask = async (query: Record<string, string>) =>
      (await app.get(`/v1/partner/fees?${new URLSearchParams(query)}`)).json()
    expect(await ask({})).toMatchObject({ statusCode: 400, errors: [{ field: 'from' }, { field: 'to' }] })
    expect(await ask({ from: '2026-02-31', to: '2026-13-01' })).toMatchObject({
      statusCode: 400,
      errors: [{ field: 'from' }, { field: 'to' }],
    })
    expect(await ask({ from: '2026-11-02', to: '2026-11-01' })).toMatchObject({
      statusCode: 400,
      errors: [{ field: 'to' }],
    })
    expect(await ask({ from: '2025-01-01', to: '2026-11-01' })).toMatchObject({
      statusCode: 400,
      errors: [{ field: 'to' }],
    })
    expect(await ask({ from: '2026-11-01', to: '2026-11-02', format: 'xml' })).toMatchObject({
      errors: [{ field: 'format', allowed: ['json', 'csv'] }],
    })
  })

  test('usage states limits, open exchanges and the scopes of the key', async () => {
    const before = (await app.get('/v1/partner/usage')).json()
    expect(before).toMatchObject({
      keyId: 'sandbox',
      requestsPerMinute: 60_000,
      requestsLeft: null,
      openExchangesMax: 1_000_000,
      strict: false,
    })
    expect(before.scopes).toContain('exchange:create')
    await app.order()
    expect((await app.get('/v1/partner/usage')).json().openExchanges).toBe(before.openExchanges + 1)
    expect((await app.get('/v1/partner/usage', other)).json().openExchanges).toBe(0)
  })
})

describe('the report of all exchanges', () => {
  type Report = {
    data: { id: string; created: string; completedDate: string | null; exchanges: { payoutHash: string }[] }[]
    nextPage: string | null
  }
  const report = async (query: Record<string, string>): Promise<Report> =>
    (await app.get(`/v1/partner/exchanges?${new URLSearchParams(query)}`)).json()

  test('pages through a period, oldest first, without gaps or repeats', async () => {
    const made: string[] = []
    for (let n = 0; n < 5; n++) made.push((await app.order()).id)
    // Several of one millisecond, over the end of a page.
    await app.app.database.query('alter table exchanges disable trigger exchange_update')
    await app.app.database.query(
      "update exchanges set created_at = '2026-01-02T03:04:05.678Z' where id = any($1::uuid[])",
      [made],
    )
    await app.app.database.query('alter table exchanges enable trigger exchange_update')
    const period = { from: '2026-01-02', to: '2026-01-03', limit: '2' }
    const seen: string[] = []
    let page: string | null = null
    do {
      const one: Report = await report(page === null ? period : { ...period, page })
      seen.push(...one.data.map(({ id }) => id))
      page = one.nextPage
    } while (page !== null)
    expect(seen).toEqual([...made].sort())
    // The bounds: from inclusive, to exclusive.
    expect((await report({ from: '2026-01-02T03:04:05.678Z', to: '2026-01-02T03:04:05.679Z' })).data).toHaveLength(5)
    expect((await report({ from: '2026-01-02', to: '2026-01-02T03:04:05.678Z' })).data).toEqual([])
  })

  test('has hashes, contracts and chain ids, and any age, as JSON and as CSV', async () => {
    const { data } = await report({ limit: '500' })
    const finished = data.find(({ exchanges }) => exchanges.length > 0)
    expect(finished).toMatchObject({
      fromToken: { contractAddress: null, chainId: expect.any(Number) },
      toToken: { contractAddress: null, chainId: expect.any(Number) },
      exchanges: [{ payinHash: expect.any(String), payoutHash: expect.any(String) }],
    })
    // Contracts of tokens: test/scenarios/currencies-by-contract.test.ts.
    const csv = await app.get('/v1/partner/exchanges?format=csv')
    const [head = '', ...lines] = csv.body.trimEnd().split('\r\n')
    expect(head.split(',').slice(0, 3)).toEqual(['id', 'externalId', 'created'])
    expect(lines.map((line) => line.split(',')[0])).toEqual(data.map(({ id }) => id))
    expect(lines.join()).toContain(finished?.exchanges[0]?.payoutHash)
    expect((await app.get('/v1/partner/exchanges', other)).json()).toEqual({ data: [], nextPage: null })
  })

  const readClock = async () => {
    const [row] = await app.app.database.query<{ now: Date }>('select clock_timestamp() as now')
    return row?.now.getTime() ?? Number.NaN
  }
  /** The same in both forms; empty in CSV where it is null in JSON. */
  const readEnd = async (id: string): Promise<number | null> => {
    const found = (await report({ limit: '500' })).data.find((one) => one.id === id)
    const csv = await app.get('/v1/partner/exchanges?format=csv')
    const [head = [], ...lines] = csv.body.split('\r\n').map((line) => line.split(','))
    expect(lines.find(([first]) => first === id)?.[head.indexOf('completedDate')]).toBe(found?.completedDate ?? '')
    return found?.completedDate == null ? null : Date.parse(found.completedDate)
  }
  const expectBetween = (time: number | null, after: number, before: number) => {
    expect(time).toBeGreaterThanOrEqual(after)
    expect(time).toBeLessThanOrEqual(before)
  }

  test('has the time of the end, and none while an exchange is open, as JSON and as CSV', async () => {
    const startedAt = await readClock()
    const { id } = await finishOne()
    expectBetween(await readEnd(id), startedAt, await readClock())
    expect(await readEnd((await app.order()).id)).toBeNull()
  })

  test('a refund after a failure replaces the time of the end', async () => {
    const order = { fromCurrency: 'eth', fromNetwork: 'eth', toCurrency: 'bnb', toNetwork: 'bsc', fromAmount: '0.1' }
    const destinations = { address: app.recipient, refundAddress: app.recipient }
    const created = await app.post('/v1/cross-chain/exchange', { ...order, flow: 'standard', ...destinations })
    const { id, request } = created.json()
    const createdAt = await readClock()
    expect((await app.post('/v1/cross-chain/exchange/cancel', { id })).statusCode).toBe(201)
    const paidAt = await readClock()
    expectBetween(await readEnd(id), createdAt, paidAt)
    app.pay({ id, deposit: request.depositAddress, recipient: app.recipient })
    await until('the payment is refunded', async () => (await status(id)).status === 'refunded', PATIENCE_MS)
    expectBetween(await readEnd(id), paidAt, await readClock())
  })

  test('an externalId cannot become a formula of a spreadsheet', async () => {
    const order = { fromCurrency: 'eth', fromNetwork: 'eth', toCurrency: 'bnb', toNetwork: 'bsc', fromAmount: '0.1' }
    const externalId = '=HYPERLINK("http://x")'
    const created = await app.post('/v1/cross-chain/exchange', {
      ...{ ...order, flow: 'standard', address: app.recipient, externalId },
    })
    const csv = await app.get('/v1/partner/exchanges?format=csv')
    const line = csv.body.split('\r\n').find((one) => one.startsWith(created.json().id))
    expect(line).toContain(`,"'=HYPERLINK(""http://x"")",`)
  })

  test('takes a time with trailing zeros, as several languages write it', async () => {
    const { id } = await app.order()
    const { created } = (await report({ limit: '500' })).data.find((one) => one.id === id) ?? { created: '' }
    expect(created).toMatch(/\.\d{3}Z$/)
    const to = `${new Date().getUTCFullYear() + 1}-01-01T00:00:00`
    const plain = await report({ from: created, to: `${to}Z` })
    expect(plain.data.length).toBeGreaterThan(0)
    expect(await report({ from: created.replace('Z', '0000Z'), to: `${to}.000000000Z` })).toEqual(plain)
  })

  test('refuses a page or a time that is none', async () => {
    for (const [field, value, reason] of [
      ['page', 'AAAA', 'is not the nextPage of an answer'],
      ['page', '../..', 'must be the nextPage of an answer'],
      ['from', '2026-02-30', 'is not a day or time of the calendar'],
      ['from', '2026-02-28T00:00:00.0001Z', 'must be a day or a time in UTC'],
      ['to', 'yesterday', 'must be a day or a time in UTC'],
      ['limit', '501', 'must be a whole number from 1 to 500'],
    ] as const) {
      const answer = await app.get(`/v1/partner/exchanges?${new URLSearchParams({ [field]: value })}`)
      expect([answer.statusCode, answer.json().errors[0].field]).toEqual([400, field])
      expect(answer.json().message).toContain(`${field} ${reason}`)
    }
  })

  test('needs the scope of statements', async () => {
    await app.app.database.query("update api_keys set scopes = '{exchange:read}' where id = 'sandbox-b'")
    await until('the key lost its scope', async () => (await app.get('/v1/partner/balances', other)).statusCode === 403)
    for (const path of ['balances', `fees?from=${today()}&to=${today()}`, 'exchanges'])
      expect((await app.get(`/v1/partner/${path}`, other)).json()).toMatchObject({
        code: 'SCOPE_REQUIRED',
        errors: [{ scope: 'partner:read' }],
      })
    expect((await app.get('/v1/partner/usage', other)).json().scopes).toEqual(['exchange:read'])
  })
})
