import type { Currency, ExchangeRecord, Execution } from '@swapyard/sdk'
import { findCurrency, labelOf, linkOf } from '../currencies.ts'
import type { Step } from '../step-list.tsx'
import type { Order } from './order.ts'

const isPaid = (one: Execution | undefined) => one?.payinHash !== null && one?.payinHash !== undefined

/** The steps of an exchange as its status shows them. */
export function listSteps(order: Order, currencies: readonly Currency[]): readonly Step[] {
  const { record, terms } = order
  const legs = record === null ? [] : currentLegs(record, terms.isPrivate)
  const isRefund = record !== null && ['refunding', 'refunded'].includes(legs[0]?.status ?? record.status)
  const steps = [createdStep(order), ...legSteps(order, legs[0], currencies, terms.isPrivate ? 'first' : 'only')]
  if (isRefund) return [...steps, refundStep(order, legs[0])]
  const second = terms.isPrivate ? legSteps(order, legs[1], currencies, 'second') : []
  return [...steps, ...second, arrivedStep(order)]
}

/** The latest deposit, or both legs of a private exchange. */
function currentLegs(record: ExchangeRecord, isPrivate: boolean): readonly Execution[] {
  return isPrivate ? record.exchanges : record.exchanges.slice(-1)
}

function createdStep({ record, created }: Order): Step {
  if (record?.status === 'failed' && record.exchanges.length === 0)
    return { title: 'Expired', state: 'problem', text: `The exchange has ended: ${record.statusReason}.` }
  return { title: 'Created', state: 'done', text: `Exchange ${created.id}` }
}

function legSteps(
  { terms, record, quote }: Order,
  leg: Execution | undefined,
  currencies: readonly Currency[],
  place: 'only' | 'first' | 'second',
): readonly Step[] {
  const middle =
    'intermediary' in quote
      ? findCurrency(currencies, quote.intermediary.currency, quote.intermediary.network)
      : undefined
  const [from, to] = place === 'second' ? [middle, terms.to] : [terms.from, place === 'first' ? middle : terms.to]
  const required = leg?.confirmationsRequired ?? record?.confirmationsRequired ?? 0
  const seen = leg?.confirmationsSeen ?? 0
  const isSeen = isPaid(leg) && leg?.status !== 'pending'
  const isConfirmed = isSeen && leg?.status !== 'confirming'
  const isHeld = leg?.status === 'verifying'
  const isSent = leg?.payoutHash !== null && leg !== undefined && !['refunding', 'refunded'].includes(leg.status)
  const payment: Step = {
    title: place === 'second' ? 'Payment of the intermediary seen' : 'Payment seen',
    state: isSeen ? 'done' : place === 'second' && leg === undefined ? 'todo' : 'current',
    text: leg?.amountFromReceived ? `${leg.amountFromReceived} ${from ? labelOf(from) : ''}` : undefined,
    ...(isSeen ? { hash: leg?.payinHash, href: linkOf(from, leg?.payinHash ?? null) } : {}),
  }
  const confirmed: Step = {
    title: 'Confirmed',
    state: isConfirmed ? 'done' : isSeen ? 'current' : 'todo',
    ...(isSeen ? { text: `${seen} of ${required} confirmations`, progress: { seen, required } } : {}),
  }
  const payout: Step = {
    title: isHeld ? 'Held' : place === 'first' ? 'Converted, and paid to an inner address' : 'Converted and sent',
    state: isHeld ? 'problem' : isSent ? 'done' : isConfirmed ? 'current' : 'todo',
    text: isHeld
      ? `The reason is ${leg?.statusReason}.`
      : leg?.amountToReceived
        ? `${leg.amountToReceived} ${to ? labelOf(to) : ''}`
        : undefined,
    ...(isSent ? { hash: leg.payoutHash, href: linkOf(to, leg.payoutHash) } : {}),
  }
  const isRefund = leg !== undefined && ['refunding', 'refunded'].includes(leg.status)
  return isRefund ? [payment, confirmed] : [payment, confirmed, payout]
}

function refundStep({ terms, balance }: Order, leg: Execution | undefined): Step {
  const amount = balance ?? leg?.refund?.amount
  const isDone = leg?.status === 'refunded'
  return {
    title: isDone ? 'Refunded' : 'Refund under way',
    state: isDone ? 'done' : 'current',
    text: `The reason is ${leg?.statusReason}. ${amount === undefined ? '' : `The refund address ${isDone ? 'has' : 'gets'} ${amount} ${labelOf(terms.from)}.`}`,
    hash: leg?.refund?.hash,
    href: linkOf(terms.from, leg?.refund?.hash ?? null),
  }
}

function arrivedStep({ terms, record, balance, recipient }: Order): Step {
  const isDone = record?.status === 'finished'
  return {
    title: 'Arrived',
    state: isDone ? 'done' : record?.status === 'sending' ? 'current' : 'todo',
    text:
      balance === null
        ? `The recipient is ${recipient}.`
        : `The wallet of the recipient has ${balance} ${labelOf(terms.to)}.`,
  }
}
