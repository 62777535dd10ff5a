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
  next,
  overallStatus,
  type Step,
  terminals,
} from './lifecycle.ts'

const root = join(import.meta.dirname, '../../../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const edges = exchangeStatuses.flatMap((from) => next[from].map((to) => `${from} → ${to}`)).sort()

const domains = {
  status: exchangeStatuses,
  deposit: ['shallow', 'deep', 'gone'],
  credited: [false, true],
  rejected: [false, true],
  lost: [false, true],
  expired: [false, true],
  fill: ['none', 'filled', 'rejected', 'unknown'],
  payout: ['none', 'reserved', 'limited', 'refused', 'signed', 'confirmed'],
  decision: [null, ...decisions],
  source: ['unpaid', 'sound', 'gone', 'back'],
  handedOn: [true, false],
  stalled: [false, true],
} as const satisfies { [K in keyof Facts]: readonly Facts[K][] }

/** Every status with every combination of facts: 9 × 3 × 2⁶ × 4² × 6 × 5. */
function allFacts(): readonly Facts[] {
  let all: Record<string, unknown>[] = [{}]
  for (const [key, values] of Object.entries(domains))
    all = all.flatMap((facts) => values.map((value) => ({ ...facts, [key]: value })))
  return all as unknown as Facts[]
}
const everything = allFacts()

/** Where an act may lead at once; what it leads to in the end is the loop's business. */
function leadsTo(step: Step, from: ExchangeStatus): readonly ExchangeStatus[] {
  switch (step.act) {
    case 'wait':
    case 'recover':
    case 'reservePayout':
      return [from]
    case 'reserveRefund':
      return [from, 'verifying', 'failed']
    case 'reopen':
      return ['confirming']
    case 'credit':
      return from === 'failed' ? ['refunding'] : ['exchanging', 'refunding', 'verifying', 'failed']
    case 'vanish':
      return ['pending']
    case 'lose':
      return [isTerminal(from) || from === 'verifying' ? from : 'verifying']
    case 'convert':
      return ['exchanging', 'refunding', 'verifying']
    case 'convertAnew':
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

describe('the table of edges', () => {
  test('equals the rows of status_edges', () => {
    const sql = read('server/migrations/0002_exchanges.sql')
    const inserted = /insert into status_edges values([^;]*);/.exec(sql)?.[1] ?? ''
    const rows = [...inserted.matchAll(/\('(\w+)', '(\w+)'\)/g)].map(([, from, to]) => `${from} → ${to}`)
    expect(rows.sort()).toEqual(edges)
  })

  test('is the one of docs/lifecycle.md', () => {
    const page = read('docs/lifecycle.md')
    const section = page.slice(page.indexOf('## Edges'), page.indexOf("## The exchange's own status"))
    const rows = [...section.matchAll(/^\| `(\w+)` \| `(\w+)` \|/gm)].map(([, from, to]) => `${from} → ${to}`)
    expect(rows.sort()).toEqual(edges)
  })

  test('has its decisions on the same page, each with what it does', () => {
    const page = read('docs/lifecycle.md')
    const section = page.slice(page.indexOf('## What a person decides'), page.indexOf('| held | released'))
    const rows = [...section.matchAll(/^\| `(\w+)` \| \S.* \|$/gm)].map(([, decision]) => decision)
    expect(rows).toEqual([...decisions])
  })

  test('leaves no terminal but for a late deposit', () => {
    expect(terminals).toEqual(['finished', 'failed', 'refunded'])
    expect(next.finished).toEqual([])
    expect(next.refunded).toEqual([])
    expect(next.failed).toEqual(['refunding'])
  })

  test('has a way to a terminal from every status', () => {
    for (const status of exchangeStatuses) {
      const reached = new Set<ExchangeStatus>([status])
      for (const one of reached) for (const to of next[one]) reached.add(to)
      expect([...reached].some(isTerminal), status).toBe(true)
    }
  })

  test('is what moveTo holds to', () => {
    for (const from of exchangeStatuses) {
      for (const to of exchangeStatuses) {
        const move = () => moveTo({ id: 'x', status: from }, to, null)
        if (from === to || next[from].includes(to)) expect(move()).toEqual({ id: 'x', status: to, reason: null })
        else expect(move).toThrow(`${from} → ${to}`)
      }
    }
  })
})

describe('decide', () => {
  test('has an answer to every combination of facts, along a legal edge', () => {
    expect(everything).toHaveLength(9 * 3 * 2 ** 6 * 4 ** 2 * 6 * 5)
    const illegal = everything.flatMap((facts) => {
      const step = decide(facts)
      const ways = leadsTo(step, facts.status).filter((to) => to !== facts.status && !next[facts.status].includes(to))
      return ways.map((to) => ({ facts, step, to }))
    })
    expect(illegal).toEqual([])
  })

  test('is pure', () => {
    for (const facts of everything.filter((_, n) => n % 97 === 0)) expect(decide({ ...facts })).toEqual(decide(facts))
  })

  test('takes nothing back and reserves nothing once something is signed', () => {
    const forbidden = ['vanish', 'refund', 'convert', 'convertAnew', 'reservePayout', 'reserveRefund', 'credit']
    const wrong = everything.filter((facts) => {
      if (facts.payout !== 'signed' && facts.payout !== 'confirmed') return false
      if (facts.status === 'confirming' || facts.status === 'pending') return false
      const { act } = decide(facts)
      return forbidden.includes(act) || (act === 'hold' && facts.payout === 'signed')
    })
    expect(wrong).toEqual([])
  })

  test('pays and refunds only what is counted', () => {
    for (const facts of everything.filter(({ status }) => status === 'verifying')) {
      const { act } = decide(facts)
      if (!facts.credited && facts.payout !== 'confirmed')
        expect(['resume', 'refund', 'convertAnew'], JSON.stringify(facts)).not.toContain(act)
      if (facts.deposit === 'gone' && facts.payout !== 'confirmed')
        expect(['resume', 'refund', 'convertAnew']).not.toContain(act)
    }
  })

  test('books a loss of nothing that is not counted, and once', () => {
    for (const facts of everything)
      if (decide(facts).act === 'lose') expect(facts).toMatchObject({ credited: true, deposit: 'gone' })
  })

  test('counts only what is deep, and a loss back only when it is deep again', () => {
    for (const facts of everything) {
      const { act } = decide(facts)
      if (act === 'credit' || act === 'recover') expect(facts.deposit).toBe('deep')
      if (act === 'recover') expect(facts.lost).toBe(true)
    }
  })

  test('lets nothing leave for a second leg while what the customer paid is not there', () => {
    const leaves = ['convert', 'convertAnew', 'reservePayout', 'reserveRefund', 'refund']
    const wrong = everything.filter((facts) => {
      if (facts.source !== 'gone') return false
      const { act } = decide(facts)
      return leaves.includes(act) || (act === 'resume' && facts.payout !== 'confirmed')
    })
    expect(wrong).toEqual([])
  })

  test('finishes and refunds only by confirmations', () => {
    for (const facts of everything) {
      const step = decide(facts)
      if (step.act === 'close' && step.status !== 'failed') expect(facts.payout).toBe('confirmed')
    }
  })

  test('leaves nothing that waits for a person waiting silently', () => {
    const waits = everything.filter(
      ({ status, payout }) =>
        ['exchanging', 'sending', 'refunding'].includes(status) && (payout === 'limited' || payout === 'refused'),
    )
    for (const facts of waits) expect(['hold', 'vanish'], JSON.stringify(facts)).toContain(decide(facts).act)
  })

  test('opens a terminal only for a deposit that was given up and is there', () => {
    for (const facts of everything.filter(({ status }) => isTerminal(status))) {
      const { act } = decide(facts)
      expect(['wait', 'lose', 'recover', 'credit']).toContain(act)
      if (act === 'credit')
        expect(facts).toMatchObject({
          status: 'failed',
          deposit: 'deep',
          credited: false,
          rejected: false,
          lost: false,
          payout: 'none',
        })
    }
  })

  test('in a fair world nothing waits for ever but what a person holds', () => {
    // Everything that others bring has been brought: blocks, fills, signatures and confirmations.
    for (const facts of everything.filter(({ status }) => !isTerminal(status))) {
      const consistent =
        facts.deposit === 'deep' &&
        facts.credited === (facts.status !== 'confirming' && facts.status !== 'pending') &&
        !facts.lost &&
        !facts.rejected &&
        facts.source !== 'unpaid' &&
        facts.handedOn
      if (!consistent || decide(facts).act !== 'wait') continue
      const brought =
        facts.payout === 'reserved' ||
        facts.payout === 'signed' ||
        facts.fill === 'unknown' ||
        (facts.payout === 'none' && facts.status === 'sending')
      expect(brought || (facts.status === 'verifying' && facts.decision === null), JSON.stringify(facts)).toBe(true)
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
  test('keeps a terminal, but for a late deposit that goes back', () => {
    fc.assert(
      fc.property(state, fc.array(state), waiting, (current, executions, facts) => {
        fc.pre(isTerminal(current.status))
        const overall = overallStatus(current, executions, facts)
        const goesBack = current.status === 'failed' && executions.filter(isOpen).at(-1)?.status === 'refunding'
        expect(overall.status).toBe(goesBack ? 'refunding' : current.status)
      }),
    )
  })

  test('is the latest open execution', () => {
    fc.assert(
      fc.property(state, fc.array(state, { minLength: 1 }), waiting, (current, executions, facts) => {
        fc.pre(!isTerminal(current.status))
        const latest = executions.filter(isOpen).at(-1)
        if (latest) expect(overallStatus(current, executions, facts)).toEqual(latest)
      }),
    )
  })

  test('with none open: finished before refunded before failed', () => {
    fc.assert(
      fc.property(
        fc.array(
          state.filter((one) => isTerminal(one.status)),
          { minLength: 1 },
        ),
        waiting,
        (executions, facts) => {
          const { status } = overallStatus({ status: 'confirming', reason: null }, executions, facts)
          const has = (wanted: ExchangeStatus) => executions.some((one) => one.status === wanted)
          if (has('finished')) expect(status).toBe('finished')
          else if (has('refunded')) expect(status).toBe('refunded')
          else expect(status).toBe(facts.sighted ? 'confirming' : 'failed')
        },
      ),
    )
  })

  test('never ends while something is on its way, and always ends when the time is over and nothing is', () => {
    fc.assert(
      fc.property(fc.array(state), waiting, (executions, facts) => {
        const { status } = overallStatus({ status: 'pending', reason: null }, executions, facts)
        if (executions.some(isOpen)) expect(isTerminal(status)).toBe(false)
        else if (facts.expired && !facts.sighted && executions.length === 0) expect(status).toBe('failed')
      }),
    )
  })

  test('is the same by the last execution of each status as by all of them', () => {
    fc.assert(
      fc.property(state, fc.array(state, { maxLength: 30 }), waiting, (current, executions, facts) => {
        const last = executions.filter(
          ({ status }, n) => !executions.slice(n + 1).some((later) => later.status === status),
        )
        expect(overallStatus(current, last, facts)).toEqual(overallStatus(current, executions, facts))
      }),
    )
  })

  test('of two legs ends with the last one, or with what goes back', () => {
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

  test('counts a further leg only when its payout is confirmed, and closes none before the next has its deposit', () => {
    for (const facts of everything) {
      const step = decide(facts)
      if (step.act === 'credit') expect(facts.source, JSON.stringify(facts)).not.toBe('unpaid')
      if (step.act === 'close' && step.status === 'finished') expect(facts.handedOn).toBe(true)
    }
  })

  test('says why it failed', () => {
    const pending = { status: 'pending', reason: null } as const
    expect(overallStatus(pending, [], { sighted: false, expired: false, lastLeg: 0 })).toEqual(pending)
    expect(overallStatus(pending, [], { sighted: true, expired: true, lastLeg: 0 })).toEqual({
      status: 'confirming',
      reason: null,
    })
    expect(overallStatus(pending, [], { sighted: false, expired: true, lastLeg: 0 })).toEqual({
      status: 'failed',
      reason: 'EXPIRED',
    })
    const vanished = [{ leg: 0, status: 'pending', reason: 'DEPOSIT_VANISHED' }] as const
    expect(overallStatus(pending, vanished, { sighted: false, expired: true, lastLeg: 0 })).toEqual({
      status: 'failed',
      reason: 'DEPOSIT_VANISHED',
    })
    expect(overallStatus(pending, vanished, { sighted: false, expired: false, lastLeg: 0 })).toEqual({
      status: 'pending',
      reason: 'DEPOSIT_VANISHED',
    })
  })
})
