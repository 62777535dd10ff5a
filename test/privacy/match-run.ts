import type { PrivacySettings } from '../../server/src/exchange/settings.ts'
import type { Scenario } from '../support/scenario.ts'
import { type ChainCosts, type Cost, describeMatch, type Match, matchChains } from './matcher.ts'
import type { ObservedRun } from './observe-run.ts'
import { findEndPayments, findReturningPayments, type Payment } from './observed-payments.ts'
import { toHolder } from './observer.ts'
import type { PublishedRates } from './published-rates.ts'
import type { Order, Pair } from './run-exchanges.ts'

/** Network fees change amounts by up to this fraction while prices are constant. */
const TOLERANCE = 0.0005

/** Matches the payers and recipients of one kind of sizes by chain data and public quotes. Prints the result. */
export function matchRun(name: string, scenario: Scenario, run: ObservedRun, sizes: Order['sizes']): Match {
  const pairs = run.pairs.filter((pair) => pair.sizes === sizes)
  const costs = createRunCosts(findRunPayments(scenario, run, pairs), run)
  const result = matchChains(pairs.length, costs)
  console.log(describeMatch(`${sizes} sizes, ${name}`, result))
  return result
}

/** `vias`: first the payments between the legs of the pairs, null on Monero; then every other candidate. */
type RunPayments = Readonly<{
  payers: readonly Payment[]
  vias: readonly (Payment | null)[]
  recipients: readonly Payment[]
}>

function findRunPayments(scenario: Scenario, run: ObservedRun, pairs: readonly Pair[]): RunPayments {
  const deposits = run.pairs.map(({ payer }) => payer)
  const candidates = findReturningPayments(scenario, run.observer, run.wallets, deposits)
  const holders = pairs.map(({ id }) => findInnerHolder(run, id))
  const known = new Set(holders)
  return {
    ...findEndPayments(scenario, run.observer, pairs),
    vias: [
      ...holders.map((holder) => (holder === null ? null : readCandidate(candidates, holder))),
      ...[...candidates].flatMap(([holder, payment]) => (known.has(holder) ? [] : [payment])),
    ],
  }
}

/** null on Monero, where the chain names no holders. */
function findInnerHolder({ innerAddresses }: ObservedRun, id: string): string | null {
  const address = innerAddresses.get(id)
  if (!address) throw new Error(`exchange ${id} has no second leg`)
  return address.network === 'xmr' ? null : toHolder(address)
}

function readCandidate(candidates: ReadonlyMap<string, Payment>, holder: string): Payment {
  const payment = candidates.get(holder)
  if (!payment) throw new Error(`the observer does not find the payment between the legs to ${holder}`)
  return payment
}

function createRunCosts({ payers, vias, recipients }: RunPayments, { rates, privacy }: ObservedRun): ChainCosts {
  const payerOf = (n: number) => payers[n] ?? NO_PAYMENT
  const recipientOf = (n: number) => recipients[n] ?? NO_PAYMENT
  const viaOf = (n: number) => vias[n] ?? null
  const findTrueSeconds = (read: (n: number) => number | null) => payers.flatMap((_, n) => read(n) ?? [])
  const subtract = (end: Payment | null, start: Payment | null) => end && start && end.time - start.time
  const firstTime = createTimeCost(findTrueSeconds((n) => subtract(viaOf(n), payerOf(n))))
  const secondTime = createTimeCost(findTrueSeconds((n) => subtract(recipientOf(n), viaOf(n))))
  const wholeTime = createTimeCost(findTrueSeconds((n) => subtract(recipientOf(n), payerOf(n))))
  return {
    candidates: vias.length,
    first: (payer, n) => {
      const via = viaOf(n)
      if (via === null) return 0
      const withheld = findWithheldShare(rates, payerOf(payer), via)
      return withheld === null ? null : add(firstTime(via.time - payerOf(payer).time), judgeWithheld(withheld, privacy))
    },
    second: (n, recipient) => {
      const via = viaOf(n)
      return via === null ? 0 : secondTime(recipientOf(recipient).time - via.time)
    },
    whole: (payer, n, recipient) => {
      const expected = rates.whole(payerOf(payer), recipientOf(recipient).asset)
      if (expected === null || expected <= 0) return null
      const amountCost = (Math.log(recipientOf(recipient).amount / expected) / TOLERANCE) ** 2
      if (viaOf(n) !== null) return amountCost
      return add(wholeTime(recipientOf(recipient).time - payerOf(payer).time), amountCost)
    },
  }
}

const NO_PAYMENT: Payment = { asset: '', amount: 0, time: 0 }

const add = (a: Cost, b: Cost): Cost => (a === null || b === null ? null : a + b)

/** Elapsed times depend on the load of the machine. A long-term observer knows their range and mean. */
function createTimeCost(trueSeconds: readonly number[]): (seconds: number) => Cost {
  const [min, max] = [Math.min(...trueSeconds), Math.max(...trueSeconds)]
  const mean = trueSeconds.reduce((sum, seconds) => sum + seconds, 0) / trueSeconds.length
  const spread = Math.max((max - min) / 2, 1)
  return (seconds) => (seconds < min || seconds > max ? null : ((seconds - mean) / spread) ** 2)
}

/** The part of the converted deposit that the payment between the legs lacks. null: the pair is not served. */
function findWithheldShare({ first }: PublishedRates, payer: Payment, via: Payment): number | null {
  const converted = first(payer, via.asset)
  return converted === null || converted <= 0 ? null : 1 - via.amount / converted
}

/** The bounds are public: a tenth of the maximum up to all of it. */
function judgeWithheld(share: number, { withheldMaxPpm }: PrivacySettings): number {
  const max = withheldMaxPpm / 1_000_000
  const distance = Math.max(max / 10 - share, share - max, 0)
  return (distance / TOLERANCE) ** 2
}

/** The withheld parts of all exchanges with a visible payment between the legs, as fractions, from chain data and quotes. */
export function readWithheldShares(scenario: Scenario, run: ObservedRun): readonly number[] {
  const { payers, vias } = findRunPayments(scenario, run, run.pairs)
  return payers.flatMap((payer, n) => {
    const via = vias[n]
    return via ? [findWithheldShare(run.rates, payer, via) ?? Number.NaN] : []
  })
}
