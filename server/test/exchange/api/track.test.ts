import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { ltc, makeView } from '../../../src/exchange/domain/tracked-exchange.fixture.ts'
import { createTestApp, goodOrder } from '../../core/http/app-for-tests.ts'

const { app, services } = createTestApp()
afterAll(() => app.close())
const key = { 'x-api-key': 'sandbox' }

const create = async (payload: object = goodOrder) =>
  (await app.inject({ method: 'POST', url: '/v1/cross-chain/exchange', headers: key, payload })).json()
const tokenOf = ({ trackingUrl }: { trackingUrl: string }) => trackingUrl.split('/').at(-1) ?? ''
const track = (token: string, headers: Record<string, string> = {}) =>
  app.inject({ url: `/v1/track?token=${encodeURIComponent(token)}`, headers })

test('the token of a create opens the public status without a key, from every origin', async () => {
  const created = await create()
  const answer = await track(tokenOf(created))
  expect(answer.statusCode).toBe(200)
  expect(answer.headers['access-control-allow-origin']).toBe('*')
  expect(answer.json()).toEqual({
    id: created.id,
    created: created.created,
    exchangeType: 'standard',
    status: 'pending',
    statusReason: null,
    request: { ...created.request, depositMemo: null, recipientMemo: null, refundAddress: null, refundMemo: null },
    deposits: [],
    needsRefundAddress: false,
    expiresAt: created.expiresAt,
    fixedUntil: null,
    confirmationsRequired: 2,
    confirmationsSeen: 0,
    expectedSeconds: 1_800,
  })
})

test('an unchanged status is 304, and a changed one is not', async () => {
  const token = tokenOf(await create())
  const { etag = '' } = (await track(token)).headers
  expect((await track(token, { 'if-none-match': String(etag) })).statusCode).toBe(304)
  const [newest] = services.rows
  if (newest) newest.view = { ...newest.view, exchange: { ...newest.view.exchange, status: 'confirming' } }
  const changed = await track(token, { 'if-none-match': String(etag) })
  expect([changed.statusCode, changed.json().status]).toEqual([200, 'confirming'])
})

test('the status of the partner has the same trackingUrl; the list has none', async () => {
  const created = await create()
  for (const path of ['status?id=', 'status/standard?id=']) {
    const status = (await app.inject({ url: `/v1/cross-chain/exchange/${path}${created.id}`, headers: key })).json()
    expect((status.exchange ?? status).trackingUrl).toBe(created.trackingUrl)
  }
  const { data } = (await app.inject({ url: '/v1/cross-chain/exchange/list', headers: key })).json()
  expect(data[0]).not.toHaveProperty('trackingUrl')
})

test('the token of one exchange never opens another, and an id or a key opens none', async () => {
  const [one, other] = [await create(), await create()]
  expect((await track(tokenOf(one))).json().id).toBe(one.id)
  const mixed = tokenOf(one).slice(0, 22) + tokenOf(other).slice(22)
  const forged = Buffer.concat([Buffer.from(one.id.replaceAll('-', ''), 'hex'), Buffer.alloc(16)]).toString('base64url')
  for (const token of [mixed, forged, services.tracking.tokenOf(randomUUID())]) {
    const answer = await track(token, key)
    expect([answer.statusCode, answer.json().code]).toEqual([404, 'EXCHANGE_NOT_FOUND'])
    expect(answer.headers['access-control-allow-origin']).toBe('*')
  }
  for (const token of [one.id, '', 'sandbox', `${tokenOf(one)}%00`, `${tokenOf(one)}=`]) {
    const answer = await track(token, key)
    expect([answer.statusCode, answer.json().code]).toEqual([400, 'VALIDATION_ERROR'])
    expect(answer.headers['access-control-allow-origin']).toBe('*')
  }
})

test('nothing names the partner, the intermediary or the payment between the legs', async () => {
  const between = 'bb'.repeat(32)
  const {
    exchange: { legs },
  } = makeView()
  const [leg] = legs
  if (leg === undefined) throw new Error('the fixture has a leg')
  const view = makeView(
    {
      id: randomUUID(),
      type: 'private',
      status: 'finished',
      legs: [
        { from: leg.from, to: ltc },
        { from: ltc, to: leg.to },
      ],
    },
    [
      { status: 'finished', payoutHash: between, sentUnits: 77_777n },
      { leg: 1, status: 'finished', payinHash: between, payoutHash: '0xcc', sentUnits: 198n * 10n ** 15n },
    ],
  )
  services.insert('p1', view)
  const { body } = await track(services.tracking.tokenOf(view.exchange.id))
  expect(JSON.parse(body).deposits).toEqual([
    expect.objectContaining({ payinHash: 'aa'.repeat(32), payoutHash: '0xcc', amountToReceived: '0.198' }),
  ])
  expect(body).not.toMatch(/ltc|bbbb|0\.00077777|"p1"|partner/i)
})

// The networks confirm in different times, so the exact figure named the intermediary.
test('the expected time of a private exchange is the one for payers, before and after the deposit', async () => {
  const [leg] = makeView().exchange.legs
  if (leg === undefined) throw new Error('the fixture has a leg')
  const legs = [
    { from: leg.from, to: ltc },
    { from: ltc, to: leg.to },
  ]
  for (const executions of [[], [{ status: 'confirming' as const }]]) {
    const view = makeView({ id: randomUUID(), type: 'private', legs }, executions)
    services.insert('p1', view)
    expect((await track(services.tracking.tokenOf(view.exchange.id))).json().expectedSeconds).toBe(3_600)
    const status = await app.inject({ url: `/v1/cross-chain/exchange/status?id=${view.exchange.id}`, headers: key })
    expect(status.json().exchange.expectedSeconds).toBe(1_800)
  }
})
