import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { type ExchangeStatus, statusReasons } from './exchange.ts'
import { btc, eth, ltc, makeView } from './tracked-exchange.fixture.ts'
import { trackExchange } from './tracked-exchange.ts'

const between = 'bb'.repeat(32)
const payout = `0x${'cc'.repeat(32)}`
const legs = [
  { from: btc, to: ltc },
  { from: ltc, to: eth },
]
const confirmations = { network: 'ltc', height: 9, required: 6, seen: 5 }
const refund = { assetId: btc.id, units: 990_000n, address: 'back', memo: null, txHash: null }

describe('a private exchange is shown to its payer', () => {
  test.each<[first: ExchangeStatus, second: ExchangeStatus | null, shown: ExchangeStatus]>([
    ['confirming', null, 'confirming'],
    ['exchanging', null, 'exchanging'],
    ['sending', null, 'exchanging'],
    ['sending', 'confirming', 'exchanging'],
    ['finished', 'confirming', 'exchanging'],
    ['finished', 'exchanging', 'exchanging'],
    ['finished', 'verifying', 'verifying'],
    ['finished', 'sending', 'sending'],
    ['finished', 'refunding', 'refunding'],
  ])('with its legs in %s and %s as %s, without the payment between them', (first, second, shown) => {
    const isPaid = first === 'sending' || first === 'finished'
    const one = { status: first, ...(isPaid ? { payoutHash: between, sentUnits: 77_777n } : {}) }
    const two =
      second === null
        ? []
        : [{ leg: 1, status: second, payinHash: between, receivedUnits: 77_777n, confirmations } as const]
    const status = second ?? first
    const tracked = trackExchange(makeView({ type: 'private', legs, status }, [one, ...two]))
    expect(tracked).toMatchObject({ status: shown, from: btc, to: eth, isOpen: true })
    expect(tracked.deposits).toHaveLength(1)
    expect(tracked.deposits[0]).toMatchObject({
      ...{ status: shown, receivedUnits: 1_000_000n, sentUnits: null, payoutHash: null },
      confirmations: { network: 'btc', required: 2, seen: 1 },
    })
    expect(inspect(tracked.deposits, { depth: null })).not.toMatch(/bbbb|77777|ltc/)
  })

  test('finished, with the deposit of the first leg and the payout of the last', () => {
    const tracked = trackExchange(
      makeView({ type: 'private', legs, status: 'finished' }, [
        { status: 'finished', payoutHash: between, sentUnits: 77_777n },
        { leg: 1, status: 'finished', payinHash: between, payoutHash: payout, sentUnits: 5n, confirmations },
      ]),
    )
    expect(tracked).toMatchObject({ status: 'finished', isOpen: false })
    expect(tracked.deposits).toMatchObject([{ payinHash: 'aa'.repeat(32), payoutHash: payout, sentUnits: 5n }])
  })

  test('with two deposits, each with its own payout', () => {
    const other = 'dd'.repeat(32)
    const tracked = trackExchange(
      makeView({ type: 'private', legs, status: 'sending' }, [
        { status: 'finished', payinHash: 'in 1', payoutHash: between },
        { status: 'finished', payinHash: 'in 2', payoutHash: other },
        { leg: 1, status: 'sending', payinHash: other, payoutHash: 'out 2' },
        { leg: 1, status: 'finished', payinHash: between, payoutHash: 'out 1' },
      ]),
    )
    expect(tracked.deposits.map(({ payinHash, payoutHash }) => [payinHash, payoutHash])).toEqual([
      ['in 1', 'out 1'],
      ['in 2', 'out 2'],
    ])
  })

  test('with its payout also if another attempt of the payment between the legs was mined', () => {
    const tracked = trackExchange(
      makeView({ type: 'private', legs, status: 'finished' }, [
        { status: 'finished', payoutHash: between },
        { leg: 1, status: 'finished', payinHash: 'another attempt', payoutHash: payout },
      ]),
    )
    expect(tracked.deposits).toMatchObject([{ status: 'finished', payoutHash: payout }])
  })

  test('refunded from either leg, with the refund and no payout', () => {
    const sent = { ...refund, txHash: 'back' }
    for (const executions of [
      [{ status: 'refunded', payoutHash: 'back', refund: sent } as const],
      [
        { status: 'finished', payoutHash: between } as const,
        { leg: 1, status: 'refunded', payinHash: between, payoutHash: 'back', refund: sent } as const,
      ],
    ])
      expect(trackExchange(makeView({ type: 'private', legs, status: 'refunded' }, executions)).deposits).toMatchObject(
        [{ status: 'refunded', payoutHash: null, refund: { txHash: 'back' } }],
      )
  })
})

describe('a standard exchange is shown to its payer', () => {
  test('by its latest open deposit, and a deposit that left the chain is none', () => {
    const tracked = trackExchange(
      makeView({ status: 'confirming' }, [
        { status: 'finished', payoutHash: payout },
        { status: 'confirming', payinHash: 'second' },
        { status: 'pending', payinHash: 'left the chain' },
      ]),
    )
    expect(tracked).toMatchObject({ status: 'confirming', current: { payinHash: 'second' } })
  })

  test('in a terminal status that stays while a later deposit is open', () => {
    const tracked = trackExchange(makeView({ status: 'finished' }, [{ status: 'finished' }, { status: 'exchanging' }]))
    expect(tracked).toMatchObject({ status: 'finished', isOpen: true, current: { status: 'exchanging' } })
  })

  test('and no answer says that screening stopped it', () => {
    const tracked = trackExchange(
      makeView({ status: 'verifying', reason: 'SCREENING' }, [{ status: 'verifying', reason: 'SCREENING' }]),
    )
    expect(tracked).toMatchObject({ reason: 'OPERATOR', deposits: [{ reason: 'OPERATOR' }] })
    for (const reason of statusReasons.filter((one) => one !== 'SCREENING'))
      expect(trackExchange(makeView({ status: 'verifying', reason }, [{ status: 'verifying', reason }])).reason).toBe(
        reason,
      )
  })
})

describe('a refund address is needed', () => {
  const waiting = { status: 'verifying', reason: 'REFUND_ADDRESS_REQUIRED' } as const

  test('while a refund waits for it, also of a closed exchange', () => {
    expect(trackExchange(makeView(waiting, [waiting])).needsRefundAddress).toBe(true)
    const expired = makeView({ status: 'failed', reason: 'EXPIRED' }, [waiting])
    expect(trackExchange(expired)).toMatchObject({ needsRefundAddress: true, isOpen: true, status: 'failed' })
  })

  test('neither before that, nor with an address', () => {
    expect(trackExchange(makeView()).needsRefundAddress).toBe(false)
    expect(trackExchange(makeView({}, [{ status: 'refunding' }])).needsRefundAddress).toBe(false)
    const named = makeView({ ...waiting, refund: { address: 'back', memo: null } }, [waiting])
    expect(trackExchange(named).needsRefundAddress).toBe(false)
  })
})
