import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ExchangeStatus, exchangeStatuses, statusReasons } from './exchange.ts'
import {
  decide,
  decisions,
  type Facts,
  isTerminal,
  moveTo,
  nextStatuses,
  overallStatus,
  type Step,
  terminals,
} from './lifecycle.ts'

const root = join(import.meta.dirname, '../../../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const edges = exchangeStatuses.flatMap((from) => nextStatuses[from].map((to) => `${from} → ${to}`)).sort()

const domains = {
  status: exchangeStatuses,
  deposit: ['shallow', 'deep', 'missing'],
  credited: [false, true],
  rejected: [false, true],
  isBookedAsLoss: [false, true],
  expired: [false, true],
  fill: ['none', 'filled', 'rejected', 'unknown'],
  payout: ['none', 'reserved', 'limited', 'refused', 'signed', 'confirmed'],
  decision: [null, ...decisions],
  source: ['unconfirmed', 'sound', 'missing', 'returned'],
  nextLegFunded: [true, false],
  stalled: [false, true],
  // Has a test of its own.
  isNetworkMissing: [false],
} as const satisfies { [K in keyof Facts]: readonly Facts[K][] }

/** Every status with every combination of facts: 9 × 3 × 2⁶ × 4² × 6 × 5. */
function allFacts(): readonly Facts[] {
  let all: Record<string, unknown>[] = [{}]
  for (const [key, values] of Object.entries(domains))
    all = all.flatMap((facts) => values.map((value) => ({ ...facts, [key]: value })))
  return all as unknown as Facts[]
}
const everything = allFacts()

/** The statuses that one act may set. */
function targetsOf(step: Step, from: ExchangeStatus): readonly ExchangeStatus[] {
  switch (step.act) {
    case 'wait':
    case 'reverseLoss':
    case 'queuePayout':
      return [from]
    case 'queueRefund':
      return [from, 'verifying', 'failed']
    case 'reopen':
      return ['confirming']
    case 'credit':
      return from === 'failed' ? ['refunding'] : ['exchanging', 'refunding', 'verifying', 'failed']
    case 'revertToPending':
      return ['pending']
    case 'bookLoss':
      return [isTerminal(from) || from === 'verifying' ? from : 'verifying']
    case 'convert':
      return ['exchanging', 'refunding', 'verifying']
    case 'reconvert':
      return ['exchanging']
    case 'send':
      return ['sending']
    case 'refund':
      return ['refunding']
    case 'hold':
    case 'holdForSource':
      return ['verifying']
    case 'resume':
      return ['exchanging', 'sending', 'refunding']
    case 'close':
      return [step.status]
  }
}

describe('the table of status edges', () => {
  test('equals the rows of status_edges', () => {
    const sql = read('server/migrations/0002_exchanges.sql')
    const inserted = /insert into status_edges values([^;]*);/.exec(sql)?.[1] ?? ''
    const rows = [...inserted.matchAll(/\('(\w+)', '(\w+)'\)/g)].map(([, from, to]) => `${from} → ${to}`)
    expect(rows.sort()).toEqual(edges)
  })

  test('equals the table in docs/lifecycle.md', () => {
    const page = read('docs/lifecycle.md')
    const section = page.slice(page.indexOf('## Edges'), page.indexOf("## The exchange's own status"))
    const rows = [...section.matchAll(/^\| `(\w+)` \| `(\w+)` \|/gm)].map(([, from, to]) => `${from} → ${to}`)
    expect(rows.sort()).toEqual(edges)
  })

  test('has every operator decision on the same page, each with its effect', () => {
    const page = read('docs/lifecycle.md')
    const section = page.slice(page.indexOf('## What a person decides'), page.indexOf('| held | released'))
    const rows = [...section.matchAll(/^\| `(\w+)` \| \S.* \|$/gm)].map(([, decision]) => decision)
    expect(rows).toEqual([...decisions])
  })

  test('leaves a terminal status only for a late deposit', () => {
    expect(terminals).toEqual(['finished', 'failed', 'refunded'])
    expect(nextStatuses.finished).toEqual([])
    expect(nextStatuses.refunded).toEqual([])
    expect(nextStatuses.failed).toEqual(['refunding'])
  })

  test('reaches a terminal status from every status', () => {
    for (const status of exchangeStatuses) {
      const reachable = new Set<ExchangeStatus>([status])
      for (const one of reachable) for (const to of nextStatuses[one]) reachable.add(to)
      expect([...reachable].some(isTerminal), status).toBe(true)
    }
  })

  test('is enforced by moveTo', () => {
    for (const from of exchangeStatuses) {
      for (const to of exchangeStatuses) {
        const move = () => moveTo({ id: 'x', status: from }, to, null)
        if (from === to || nextStatuses[from].includes(to))
          expect(move()).toEqual({ id: 'x', status: to, reason: null })
        else expect(move).toThrow(`${from} → ${to}`)
      }
    }
  })
})

describe('decide', () => {
  test('returns a step along an allowed edge for every combination of facts', () => {
    expect(everything).toHaveLength(9 * 3 * 2 ** 6 * 4 ** 2 * 6 * 5)
    const illegal = everything.flatMap((facts) => {
      const step = decide(facts)
      const targets = targetsOf(step, facts.status).filter(
        (to) => to !== facts.status && !nextStatuses[facts.status].includes(to),
      )
      return targets.map((to) => ({ facts, step, to }))
    })
    expect(illegal).toEqual([])
  })

  test('is pure', () => {
    for (const facts of everything.filter((_, n) => n % 97 === 0)) expect(decide({ ...facts })).toEqual(decide(facts))
  })

  test('reverses nothing and reserves nothing after a payout is signed', () => {
    const forbidden = ['revertToPending', 'refund', 'convert', 'reconvert', 'queuePayout', 'queueRefund', 'credit']
    const wrong = everything.filter((facts) => {
      if (facts.payout !== 'signed' && facts.payout !== 'confirmed') return false
      if (facts.status === 'confirming' || facts.status === 'pending') return false
      const { act } = decide(facts)
      return forbidden.includes(act) || (act === 'hold' && facts.payout === 'signed')
    })
    expect(wrong).toEqual([])
  })

  // M27.2: each step of such an exchange failed, and nothing refunded it.
  test('M27.2: holds what needs a network that is not configured, and changes no other step', () => {
    const held = everything.flatMap((facts) => {
      const [served, missing] = [decide(facts), decide({ ...facts, isNetworkMissing: true })]
      return JSON.stringify(served) === JSON.stringify(missing) ? [] : [{ facts, missing }]
    })
    expect(new Set(held.map(({ missing }) => JSON.stringify(missing)))).toEqual(
      new Set([JSON.stringify({ act: 'hold', reason: 'NETWORK_UNAVAILABLE' })]),
    )
    expect(new Set(held.map(({ facts }) => facts.status))).toEqual(
      new Set(['confirming', 'exchanging', 'sending', 'refunding']),
    )
    const isPaid = ({ status, payout }: Facts) => status !== 'confirming' && ['signed', 'confirmed'].includes(payout)
    expect(held.filter(({ facts }) => isPaid(facts))).toEqual([])
  })

  test('pays and refunds only credited deposits', () => {
    for (const facts of everything.filter(({ status }) => status === 'verifying')) {
      const { act } = decide(facts)
      if (!facts.credited && facts.payout !== 'confirmed')
        expect(['resume', 'refund', 'reconvert'], JSON.stringify(facts)).not.toContain(act)
      if (facts.deposit === 'missing' && facts.payout !== 'confirmed')
        expect(['resume', 'refund', 'reconvert']).not.toContain(act)
    }
  })

  test('books a loss only for a credited deposit that is missing', () => {
    for (const facts of everything)
      if (decide(facts).act === 'bookLoss') expect(facts).toMatchObject({ credited: true, deposit: 'missing' })
  })

  test('credits a deposit and reverses a loss only when the deposit is deep', () => {
    for (const facts of everything) {
      const { act } = decide(facts)
      if (act === 'credit' || act === 'reverseLoss') expect(facts.deposit).toBe('deep')
      if (act === 'reverseLoss') expect(facts.isBookedAsLoss).toBe(true)
    }
  })

  test('signs nothing for a second leg while the customer deposit is missing', () => {
    const paying = ['convert', 'reconvert', 'queuePayout', 'queueRefund', 'refund']
    const wrong = everything.filter((facts) => {
      if (facts.source !== 'missing') return false
      const { act } = decide(facts)
      return paying.includes(act) || (act === 'resume' && facts.payout !== 'confirmed')
    })
    expect(wrong).toEqual([])
  })

  test('finishes and refunds only with a confirmed payout', () => {
    for (const facts of everything) {
      const step = decide(facts)
      if (step.act === 'close' && step.status !== 'failed') expect(facts.payout).toBe('confirmed')
    }
  })

  test('gives reasons that the guide names beside their status', () => {
    // The first is that of overallStatus below.
    const given = new Set(['pending DEPOSIT_VANISHED'])
    for (const step of everything.map(decide)) {
      if (step.act === 'hold') given.add(`verifying ${step.reason}`)
      if (step.act === 'refund') given.add(`refunding ${step.reason}`)
      if (step.act === 'close' && step.reason !== null) given.add(`${step.status} ${step.reason}`)
    }
    const guide = read('docs/partners/statuses.md')
    const isNamed = (status = '', reason = '') => new RegExp(`^\\| .${reason}. \\|[^|]*.${status}`, 'm').test(guide)
    expect([...given].filter((one) => !isNamed(...one.split(' ')))).toEqual([])
  })

  test('holds every payout that waits for the operator', () => {
    const waits = everything.filter(
      ({ status, payout }) =>
        ['exchanging', 'sending', 'refunding'].includes(status) && (payout === 'limited' || payout === 'refused'),
    )
    for (const facts of waits) expect(['hold', 'revertToPending'], JSON.stringify(facts)).toContain(decide(facts).act)
  })

  test('leaves a terminal status only for a deep deposit that was never credited', () => {
    for (const facts of everything.filter(({ status }) => isTerminal(status))) {
      const { act } = decide(facts)
      expect(['wait', 'bookLoss', 'reverseLoss', 'credit']).toContain(act)
      if (act === 'credit')
        expect(facts).toMatchObject({
          status: 'failed',
          deposit: 'deep',
          credited: false,
          rejected: false,
          isBookedAsLoss: false,
          payout: 'none',
        })
    }
  })

  test('waits only for fills, signatures, confirmations or the operator', () => {
    // The deposit is deep and credited; only what other parts of the program supply is missing.
    for (const facts of everything.filter(({ status }) => !isTerminal(status))) {
      const consistent =
        facts.deposit === 'deep' &&
        facts.credited === (facts.status !== 'confirming' && facts.status !== 'pending') &&
        !facts.isBookedAsLoss &&
        !facts.rejected &&
        facts.source !== 'unconfirmed' &&
        facts.nextLegFunded
      if (!consistent || decide(facts).act !== 'wait') continue
      const isSupplied =
        facts.payout === 'reserved' ||
        facts.payout === 'signed' ||
        facts.fill === 'unknown' ||
        (facts.payout === 'none' && facts.status === 'sending')
      expect(isSupplied || (facts.status === 'verifying' && facts.decision === null), JSON.stringify(facts)).toBe(true)
    }
  })
})

const state = fc.record({
  leg: fc.constant(0),
  status: fc.constantFrom(...exchangeStatuses),
  reason: fc.option(fc.constantFrom(...statusReasons)),
})
const waiting = fc.record({ sighted: fc.boolean(), expired: fc.boolean(), lastLeg: fc.constant(0) })
const isOpen = ({ status }: { status: ExchangeStatus }): boolean => !isTerminal(status) && status !== 'pending'

describe('overallStatus', () => {
  test('keeps a terminal status, except for the refund of a late deposit', () => {
    fc.assert(
      fc.property(state, fc.array(state), waiting, (current, executions, facts) => {
        fc.pre(isTerminal(current.status))
        const overall = overallStatus(current, executions, facts)
        const isRefunding = current.status === 'failed' && executions.filter(isOpen).at(-1)?.status === 'refunding'
        expect(overall.status).toBe(isRefunding ? 'refunding' : current.status)
      }),
    )
  })

  test('is the status of the latest open execution', () => {
    fc.assert(
      fc.property(state, fc.array(state, { minLength: 1 }), waiting, (current, executions, facts) => {
        fc.pre(!isTerminal(current.status))
        const latest = executions.filter(isOpen).at(-1)
        if (latest) expect(overallStatus(current, executions, facts)).toEqual(latest)
      }),
    )
  })

  test('without an open execution prefers finished, then refunded, then failed', () => {
    fc.assert(
      fc.property(
        fc.array(
          state.filter((one) => isTerminal(one.status)),
          { minLength: 1 },
        ),
        waiting,
        (executions, facts) => {
          const { status } = overallStatus({ status: 'confirming', reason: null }, executions, facts)
          const has = (expected: ExchangeStatus) => executions.some((one) => one.status === expected)
          if (has('finished')) expect(status).toBe('finished')
          else if (has('refunded')) expect(status).toBe('refunded')
          else expect(status).toBe(facts.sighted && !facts.expired ? 'confirming' : 'failed')
        },
      ),
    )
  })

  test('never ends with an open execution, and ends at the expiry without any', () => {
    fc.assert(
      fc.property(fc.array(state), waiting, (executions, facts) => {
        const { status } = overallStatus({ status: 'pending', reason: null }, executions, facts)
        if (executions.some(isOpen)) expect(isTerminal(status)).toBe(false)
        // M1: a payment in no block does not keep an exchange open.
        else if (facts.expired && executions.length === 0) expect(status).toBe('failed')
      }),
    )
  })

  test('is the same from the last execution of each status as from all', () => {
    fc.assert(
      fc.property(state, fc.array(state, { maxLength: 30 }), waiting, (current, executions, facts) => {
        const last = executions.filter(
          ({ status }, n) => !executions.slice(n + 1).some((later) => later.status === status),
        )
        expect(overallStatus(current, last, facts)).toEqual(overallStatus(current, executions, facts))
      }),
    )
  })

  test('of two legs ends with the last leg, or with a refund', () => {
    const [now, facts] = [{ status: 'sending', reason: null } as const, { sighted: false, expired: false, lastLeg: 1 }]
    const first = { leg: 0, status: 'finished', reason: null } as const
    const second = (status: ExchangeStatus) => ({ leg: 1, status, reason: null })
    expect(overallStatus(now, [first], facts).status).toBe('pending')
    for (const status of [
      'confirming',
      'exchanging',
      'sending',
      'verifying',
      'refunding',
      'finished',
      'refunded',
    ] as const)
      expect(overallStatus(now, [first, second(status)], facts).status).toBe(status)
  })

  test('credits a second leg only after its funding is confirmed, and finishes the first only after that', () => {
    for (const facts of everything) {
      const step = decide(facts)
      if (step.act === 'credit') expect(facts.source, JSON.stringify(facts)).not.toBe('unconfirmed')
      if (step.act === 'close' && step.status === 'finished') expect(facts.nextLegFunded).toBe(true)
    }
  })

  test('states the reason of a failure', () => {
    const pending = { status: 'pending', reason: null } as const
    expect(overallStatus(pending, [], { sighted: false, expired: false, lastLeg: 0 })).toEqual(pending)
    expect(overallStatus(pending, [], { sighted: true, expired: false, lastLeg: 0 })).toEqual({
      status: 'confirming',
      reason: null,
    })
    expect(overallStatus(pending, [], { sighted: true, expired: true, lastLeg: 0 })).toEqual({
      status: 'failed',
      reason: 'EXPIRED',
    })
    expect(overallStatus(pending, [], { sighted: false, expired: true, lastLeg: 0 })).toEqual({
      status: 'failed',
      reason: 'EXPIRED',
    })
    const withMissingDeposit = [{ leg: 0, status: 'pending', reason: 'DEPOSIT_VANISHED' }] as const
    expect(overallStatus(pending, withMissingDeposit, { sighted: false, expired: true, lastLeg: 0 })).toEqual({
      status: 'failed',
      reason: 'DEPOSIT_VANISHED',
    })
    expect(overallStatus(pending, withMissingDeposit, { sighted: false, expired: false, lastLeg: 0 })).toEqual({
      status: 'pending',
      reason: 'DEPOSIT_VANISHED',
    })
  })
})
