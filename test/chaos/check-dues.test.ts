import { describe, expect, test } from 'vitest'
import { checkDues } from './check-dues.ts'
import type { Customers, Payment, Purchase } from './customers.ts'
import { isDue, listCancelledDues, listDues, type Published, quotedUnits, type Terms } from './dues.ts'
import type { Fleet } from './fleet.ts'

const ETHER = 10n ** 18n
/** What 1, 0.5 and 0.99 ether are worth in units of USDT: 3420 × 0.9998 ÷ (1.0001 × 1.0001), less 0.4 %. */
const [ONE, HALF, NINETY_NINE] = [3_404_957_710n, 1_702_478_854n, 3_370_908_132n]
const FEE = 2_000_000n
const REFUND_FEE = 10n ** 15n
const exactly = (units: bigint) => ({ least: units, most: units })
const published: Published = {
  partnerBps: 0n,
  hasNetworkFee: (_from, to) => to !== 'ltc@ltc',
  networkFee: () => exactly(FEE),
  refundFee: () => exactly(REFUND_FEE),
  minimum: () => exactly(ETHER / 10n),
}
const floating: Terms = {
  from: 'eth@eth',
  to: 'usdt@eth',
  flow: 'standard',
  privateType: null,
  fromUnits: ETHER,
  toUnits: ONE - FEE,
  creditsPartner: false,
}
/** A promise that is better than the live rate, so that paying one instead of the other shows. */
const PROMISE = 3_500_000_000n
const fixed: Terms = { ...floating, flow: 'fixed-rate', toUnits: PROMISE }

type Case = readonly [what: string, terms: Terms, paid: readonly bigint[], payout: bigint, refund: bigint]
const cases: readonly Case[] = [
  ['nothing', floating, [], 0n, 0n],
  ['the amount at a floating rate', floating, [ETHER], ONE - FEE, 0n],
  ['half of the amount at a floating rate', floating, [ETHER / 2n], HALF - FEE, 0n],
  ['less than the minimum', floating, [ETHER / 100n], 0n, ETHER / 100n - REFUND_FEE],
  ['less than the fee of a refund', floating, [REFUND_FEE / 2n], 0n, 0n],
  ['twice', floating, [ETHER, ETHER / 2n], ONE + HALF - 2n * FEE, 0n],
  ['the amount at a fixed rate', fixed, [ETHER], PROMISE, 0n],
  ['1 % less at a fixed rate', fixed, [(ETHER * 99n) / 100n], 3_465_000_000n, 0n],
  ['half more at a fixed rate', fixed, [(ETHER * 3n) / 2n], PROMISE + HALF, 0n],
  // The live rate gives 97.2 % of the quote, less than 98 %.
  ['half at a fixed rate that is much better than the live rate', fixed, [ETHER / 2n], 0n, ETHER / 2n - REFUND_FEE],
  // The live rate gives 99.9 % of this quote.
  ['half at a fixed rate near the live rate', { ...fixed, toUnits: ONE }, [ETHER / 2n], HALF - FEE, 0n],
]

describe.each(cases)('a customer who paid %s', (_what, terms, paid, payout, refund) => {
  const dues = listDues(terms, paid, published)

  test('is due exactly that', () => {
    expect(isDue(dues, payout, refund)).toBe(true)
  })

  const unitsOff: readonly [string, bigint, bigint][] = [
    ['a unit less', payout - 1n, refund],
    ['a unit more', payout + 1n, refund],
    ['a unit less of the refund', payout, refund - 1n],
    ['a unit more of the refund', payout, refund + 1n],
    ['the payout twice', 2n * payout + 1n, refund],
    ['half of the refund', payout, refund / 2n + (refund === 0n ? 1n : 0n)],
    ['payout and refund of all', payout + (payout === 0n ? HALF : 0n), refund + (refund === 0n ? ETHER : 0n)],
  ]
  test.each(unitsOff)('is not due %s', (_fault, paidOut, refunded) => {
    expect(isDue(dues, paidOut, refunded)).toBe(false)
  })
})

/** The same deposits with a partner that takes 20 bps: what is left, and beside it the partner's share of 20 in 9980. */
const withPartner: Published = { ...published, partnerBps: 20n }
const [LEFT, LEFT_OF_HALF] = [3_398_147_794n, 1_699_073_896n]
const partnerCases: readonly (readonly [...Case, partner: bigint])[] = [
  ['nothing', floating, [], 0n, 0n, 0n],
  ['the amount at a floating rate', floating, [ETHER], LEFT - FEE, 0n, 6_809_915n],
  ['less than the minimum', floating, [ETHER / 100n], 0n, ETHER / 100n - REFUND_FEE, 0n],
  ['twice', floating, [ETHER, ETHER / 2n], LEFT + LEFT_OF_HALF - 2n * FEE, 0n, 6_809_915n + 3_404_957n],
  ['the amount at a fixed rate', fixed, [ETHER], PROMISE, 0n, 7_018_036n],
  ['1 % less at a fixed rate', fixed, [(ETHER * 99n) / 100n], 3_465_000_000n, 0n, 6_947_895n],
  ['half more at a fixed rate', fixed, [(ETHER * 3n) / 2n], PROMISE + LEFT_OF_HALF, 0n, 10_422_993n],
  [
    'half at a fixed rate near the live rate',
    { ...fixed, toUnits: ONE },
    [ETHER / 2n],
    LEFT_OF_HALF - FEE,
    0n,
    3_404_957n,
  ],
]

test.each(partnerCases)(
  'a customer who paid %s owes the partner its fee',
  (_what, terms, paid, payout, refund, partner) => {
    const deposited = paid.reduce((sum, units) => sum + units, 0n)
    const due = { payout: exactly(payout), refund: exactly(refund), partner: exactly(partner) }
    const isRefunded = refund > 0n
    const dues = listDues(terms, paid, withPartner)
    expect(dues).toEqual([{ ...due, converted: isRefunded ? [] : paid, returned: isRefunded ? deposited : 0n }])
    // Without a recipient the partner is owed the proceeds, too, and no address may hold them.
    const credited = listDues({ ...terms, creditsPartner: true }, paid, withPartner)
    expect(credited[0]?.partner).toEqual(exactly(partner + payout))
    expect(isDue(credited, 0n, refund)).toBe(true)
    expect(isDue(credited, 1n, refund)).toBe(false)
  },
)

test('a quote takes the partner fee before the network fee, from what the spread leaves', () => {
  expect(quotedUnits(floating, FEE, 20n)).toEqual({ toUnits: LEFT - FEE, partnerUnits: ONE - LEFT })
  expect(quotedUnits(floating, FEE, 0n)).toEqual({ toUnits: ONE - FEE, partnerUnits: 0n })
})

test('the partner fee is not exact where a network fee moves', () => {
  const moving = { ...withPartner, networkFee: () => ({ least: FEE, most: 2n * FEE }) }
  // 20 in 9980 of the fee.
  const [least, most] = [6_805_907n, 6_813_923n]
  expect(listDues(floating, [ETHER], moving)[0]?.partner).toEqual({ least, most })
  expect(listDues(fixed, [ETHER], moving)[0]?.partner).toEqual({ least: 7_018_036n, most: 7_022_044n })
})

test('99 % at a live rate is not what 99 % at a fixed rate is due', () => {
  expect(isDue(listDues(fixed, [(ETHER * 99n) / 100n], published), NINETY_NINE - FEE, 0n)).toBe(false)
})

test('two deposits at a fixed rate: either may have been first, and only one gets the promise', () => {
  const dues = listDues(fixed, [ETHER, ETHER], published)
  expect(isDue(dues, PROMISE + ONE - FEE, 0n)).toBe(true)
  expect(isDue(dues, 2n * PROMISE, 0n)).toBe(false)
  expect(isDue(dues, 2n * (ONE - FEE), 0n)).toBe(false)
})

test.each([
  ['dust', REFUND_FEE / 2n, 0n],
  ['a test payment below the minimum', ETHER / 100n, ETHER / 100n - REFUND_FEE],
])('the fixed rate is not used up by %s, in whichever order the deposits are in blocks', (_what, small, refund) => {
  for (const paid of [
    [small, ETHER],
    [ETHER, small],
  ]) {
    const dues = listDues(fixed, paid, published)
    expect(isDue(dues, PROMISE, refund)).toBe(true)
    expect(isDue(dues, ONE - FEE, refund)).toBe(false)
    expect(isDue(dues, 0n, refund)).toBe(false)
  }
})

test('a deposit that the fixed rate refunds is refunded before the served one, and floats after it', () => {
  const dues = listDues(fixed, [ETHER / 2n, ETHER], published)
  expect(isDue(dues, PROMISE, ETHER / 2n - REFUND_FEE)).toBe(true)
  expect(isDue(dues, PROMISE + HALF - FEE, 0n)).toBe(true)
  expect(isDue(dues, ONE - FEE, ETHER / 2n - REFUND_FEE)).toBe(false)
  expect(isDue(dues, ONE + HALF - 2n * FEE, 0n)).toBe(false)
  const onlyTests = listDues(fixed, [ETHER / 2n, ETHER / 100n], published)
  expect(onlyTests).toHaveLength(1)
  expect(isDue(onlyTests, 0n, (ETHER * 51n) / 100n - 2n * REFUND_FEE)).toBe(true)
})

test('a cancelled exchange returns each deposit, and pays nothing', () => {
  const dues = listCancelledDues(fixed, [ETHER, REFUND_FEE / 2n], withPartner)
  const deposited = ETHER + REFUND_FEE / 2n
  const refund = exactly(ETHER - REFUND_FEE)
  expect(dues).toEqual([{ payout: exactly(0n), refund, partner: exactly(0n), converted: [], returned: deposited }])
  expect(listCancelledDues(fixed, [], withPartner)).toHaveLength(1)
})

test('a private exchange returns a deposit below the minimum of both legs', () => {
  const terms: Terms = { ...floating, to: 'btc@btc', privateType: 'privatePlus' }
  const minimum = (_from: string, _to: string, privateType: Terms['privateType']) =>
    exactly(privateType === 'privatePlus' ? ETHER / 5n : ETHER / 10n)
  const dues = listDues(terms, [ETHER / 6n], { ...published, minimum })
  expect(isDue(dues, 0n, ETHER / 6n - REFUND_FEE)).toBe(true)
  expect(dues).toHaveLength(1)
})

test('a private exchange pays two conversions, each with its fee, and the partner once', () => {
  const terms: Terms = { ...floating, to: 'btc@btc', privateType: 'privatePlus' }
  const ownFee = (_from: string, to: string) => exactly(to === 'xmr@xmr' ? 10n ** 9n : 1_000n)
  const dues = listDues(terms, [ETHER], { ...published, networkFee: ownFee })
  // The partner takes 20 bps once, from the second conversion.
  const [shared] = listDues(terms, [ETHER], { ...withPartner, networkFee: ownFee })
  const { least: leastFee = 0n, most: mostFee = 0n } = shared?.partner ?? {}
  expect(leastFee).toBeGreaterThan(7_020n)
  expect(mostFee).toBeLessThan(7_040n)
  // 1 ether is worth 8.913 XMR after the first conversion, and these 0.035149 BTC after the second.
  const expected = 3_514_900n
  expect(dues).toHaveLength(1)
  const { least = 0n, most = 0n } = dues[0]?.payout ?? {}
  expect(most - least).toBeLessThanOrEqual(2n)
  expect(least).toBeGreaterThan((expected * 999n) / 1_000n)
  expect(most).toBeLessThan((expected * 1_001n) / 1_000n)
  expect(isDue(dues, least - 1n, 0n)).toBe(false)
  expect(isDue(dues, most + 1n, 0n)).toBe(false)
  expect(isDue(dues, least, 1n)).toBe(false)
})

describe('the check of what customers hold on the chain', () => {
  const payment: Payment = { network: 'eth', hash: '0xpaid', units: ETHER, raw: null, payer: null }
  const [recipient, refundAddress] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]
  const purchase: Purchase = {
    id: 'exchange',
    partner: 'sandbox',
    from: 'eth@eth',
    to: 'usdt@eth',
    terms: floating,
    depositAddress: `0x${'3'.repeat(40)}`,
    recipient,
    refund: refundAddress,
    payments: [payment],
  }
  const customers = (isDoubleSpent = false) =>
    ({ purchases: [purchase], published, isDoubleSpent: () => isDoubleSpent }) as unknown as Customers
  /** A fleet whose node answers with these balances. */
  const fleet = (payout: bigint, refund: bigint) =>
    ({
      cluster: {
        chains: { networks: [{ network: 'eth', tokens: { usdt: '0xusdt' } }] },
        call: async (_network: string, method: string) => `0x${(method === 'eth_call' ? payout : refund).toString(16)}`,
      },
    }) as unknown as Fleet
  const check = (payout: bigint, refund: bigint, isOnChain = true, isDoubleSpent = false) =>
    checkDues(fleet(payout, refund), customers(isDoubleSpent), new Map([[payment, isOnChain]]))
  const due = ONE - FEE

  test('finds a payout of an exchange that its cancel ended, and no refund of it', async () => {
    purchase.isCancelled = true
    expect(await check(0n, ETHER - REFUND_FEE)).toEqual({ paidTwice: [], short: [] })
    expect((await check(due, 0n)).paidTwice).toHaveLength(1)
    expect((await check(0n, 0n)).short).toHaveLength(1)
    purchase.isCancelled = false
  })

  test('finds nothing where each address holds its due', async () => {
    expect(await check(due, 0n)).toEqual({ paidTwice: [], short: [] })
    expect(await check(0n, 0n, false)).toEqual({ paidTwice: [], short: [] })
  })

  test('finds a unit too little, half of it, and nothing', async () => {
    for (const payout of [due - 1n, due / 2n, 0n])
      expect(await check(payout, 0n)).toEqual({
        paidTwice: [],
        short: [`${recipient} got ${payout} of usdt@eth, and at least ${due} is due`],
      })
  })

  test('finds a second payout, and a refund beside the payout', async () => {
    expect(await check(2n * due, 0n)).toEqual({
      paidTwice: [`${recipient} got ${2n * due} of usdt@eth, and at most ${due} is due`],
      short: [],
    })
    expect(await check(due, ETHER)).toEqual({
      paidTwice: [`${refundAddress} got ${ETHER} of eth@eth, and at most 0 is due`],
      short: [],
    })
  })

  test('finds a payout for a payment that is on no chain, unless the customer double-spent it afterwards', async () => {
    expect((await check(due, 0n, false)).paidTwice).toHaveLength(1)
    expect(await check(due, 0n, false, true)).toEqual({ paidTwice: [], short: [] })
    expect((await check(due + 1n, 0n, false, true)).paidTwice).toHaveLength(1)
  })
})
