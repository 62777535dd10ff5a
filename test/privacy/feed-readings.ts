import { publishReserves } from '../../server/src/exchange/domain/published-reserves.ts'
import type { SimulatedRun } from './simulation.ts'

/** What of the reserves an analyst reads in the feed: the exact units, or the figures that quotes and the feed show. */
export type FeedFigures = Readonly<{ figures: 'exact' | 'published'; reserve: number }>

type Interval = Readonly<{ least: number; most: number }>
/** A change of the figures: the intervals of the amounts that can have caused it. */
type Reading = Readonly<{ at: number; via: Interval; paid: Interval }>

/** Units of one in the simulation. */
const UNIT = 1e9
/** So that the truth is never impossible: an amount that is nearly a step can change no figure. */
const UNSEEN_LEAST = 0.01
const ID = 'xmr@xmr'

/**
 * How well a payer, a recipient and a conversion at a time agree with the figures, from 0 to 1. The analyst reads the feed
 * between any two changes. A first leg lowers the intermediary's reserve by what it sends, when its deposit is credited. A
 * second leg raises it by the same amount, and lowers the target's reserve by what the recipient gets.
 */
export type FeedWeight = (payer: PayerAmount, paid: number, convertedAt: number) => number
/** `sent`: the bounds of the payment between the legs. */
export type PayerAmount = Readonly<{ creditedAt: number; sent: Interval }>

export function createFeedWeight(run: SimulatedRun, feed: FeedFigures): FeedWeight {
  const { sent, received } = readChanges(run, feed)
  const step = stepOf(publish(BigInt(feed.reserve * UNIT), feed), feed)
  const findUnseen = (amount: number) => Math.max(1 - amount / step, feed.figures === 'exact' ? 0 : UNSEEN_LEAST)
  return (payer, paid, convertedAt) => {
    let weight = findUnseen(paid) * findUnseen(payer.sent.least)
    for (const { via, paid: paidInterval } of received.get(convertedAt) ?? []) {
      const both = intersect(payer.sent, via)
      if (both === null || paid < paidInterval.least || paid > paidInterval.most) continue
      const isSent = (sent.get(payer.creditedAt) ?? []).some((one) => intersect(both, one.via) !== null)
      weight = Math.max(weight, isSent ? 1 : findUnseen(payer.sent.least))
    }
    return weight
  }
}

/** The changes of both figures by time, of first and second legs. What changes no figure is not in them. */
function readChanges({ payers, intermediaryPayments, recipients }: SimulatedRun, feed: FeedFigures) {
  const events = intermediaryPayments.flatMap(({ amount, convertedAt }, n) => [
    { at: payers[n]?.creditedAt ?? 0, via: -amount, target: 0 },
    { at: convertedAt, via: amount, target: -(recipients[n]?.amount ?? 0) },
  ])
  const changes = { sent: new Map<number, Reading[]>(), received: new Map<number, Reading[]>() }
  let [via, target] = [BigInt(feed.reserve * UNIT), BigInt(feed.reserve * UNIT)]
  for (const event of events.sort((a, b) => a.at - b.at)) {
    const before = [publish(via, feed), publish(target, feed)] as const
    via += toUnits(event.via)
    target += toUnits(event.target)
    const reading = {
      at: event.at,
      via: readInterval(before[0], publish(via, feed), feed),
      paid: readInterval(before[1], publish(target, feed), feed),
    }
    if (before[0] === publish(via, feed) && before[1] === publish(target, feed)) continue
    const list = event.target === 0 ? changes.sent : changes.received
    list.set(event.at, [...(list.get(event.at) ?? []), reading])
  }
  return changes
}

const toUnits = (amount: number): bigint => BigInt(Math.round(amount * UNIT))

function publish(units: bigint, { figures }: FeedFigures): bigint {
  if (figures === 'exact') return units
  return publishReserves({ at: 0, available: new Map([[ID, units]]) }).available.get(ID) ?? 0n
}

/** What can have moved a figure from one value to the other: the difference, give or take a step. */
function readInterval(before: bigint, after: bigint, feed: FeedFigures): Interval {
  const difference = Math.abs(Number(after - before)) / UNIT
  const step = Math.max(stepOf(before, feed), stepOf(after, feed))
  return { least: Math.max(difference - step, 0), most: difference + step }
}

/** The step of a figure of two digits. */
const stepOf = (figure: bigint, { figures }: FeedFigures): number =>
  figures === 'exact' ? 2 / UNIT : 10 ** (figure.toString().length - 2) / UNIT

function intersect(a: Interval, b: Interval): Interval | null {
  const both = { least: Math.max(a.least, b.least), most: Math.min(a.most, b.most) }
  return both.least > both.most ? null : both
}
