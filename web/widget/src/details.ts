import type { Currency, ExchangeStatus, TrackedExchange } from '@swapyard/sdk'
import { toLocalMs } from './clock.ts'
import { findCurrency } from './currencies.ts'
import { h, setText } from './dom.ts'
import { labels } from './labels.ts'

const texts = labels.exchange
const unpaidStatuses: readonly ExchangeStatus[] = ['refunding', 'refunded', 'failed']
type Row = Readonly<{ title: string; text: string; href: string | null }>

/** Amounts, addresses and transactions. Rows that stay are not moved, so that a focused link keeps the focus. */
export function createDetails(currencies: readonly Currency[], startedAt: number) {
  const rows = new Map<string, ReturnType<typeof createRow>>()
  const element = h('dl', { part: 'details' })
  return {
    element,
    update(tracked: TrackedExchange) {
      const next = rowsOf(tracked, currencies, startedAt)
      for (const [title, row] of rows) {
        if (next.some((one) => one.title === title)) continue
        row.element.remove()
        rows.delete(title)
      }
      let above: Element | null = null
      for (const { title, text, href } of next) {
        const row = rows.get(title) ?? createRow(title, href !== null)
        if (!rows.has(title) && above === null) element.prepend(row.element)
        else if (!rows.has(title)) above?.after(row.element)
        rows.set(title, row)
        row.update(text, href)
        above = row.element
      }
    },
  }
}

function createRow(title: string, isLink: boolean) {
  const value = isLink ? h('a', { target: '_blank', rel: 'noopener noreferrer' }) : h('span')
  return {
    element: h('div', { class: 'detail' }, h('dt', { class: 'quiet' }, title), h('dd', {}, value)),
    update(text: string, href: string | null) {
      setText(value, text)
      if (href !== null) value.setAttribute('href', href)
    },
  }
}

/** The first deposit alone gets the fixed rate, and another amount gets another payout. */
function isRateKept(tracked: TrackedExchange, startedAt: number): boolean {
  const { request, fixedUntil, deposits } = tracked
  const [first] = deposits
  if (fixedUntil === null) return false
  if (first === undefined) return Date.now() < toLocalMs(fixedUntil, tracked, startedAt)
  const { amountFromRequested: requested } = request
  return Date.parse(first.created) <= Date.parse(fixedUntil) && (first.amountFromReceived ?? requested) === requested
}

function rowsOf(tracked: TrackedExchange, currencies: readonly Currency[], startedAt: number): readonly Row[] {
  const { id, request, deposits, status } = tracked
  const [from, to] = [request.fromCurrency.toUpperCase(), request.toCurrency.toUpperCase()]
  const latest = deposits.at(-1)
  const row = (title: string, text: string | null | undefined): Row[] => (text ? [{ title, text, href: null }] : [])
  const link = (title: string, hash: string | null | undefined, ticker: string, network: string): Row[] => {
    const href = hash ? explorerUrl(findCurrency(currencies, `${ticker}@${network}`), hash) : null
    return hash ? [{ title, text: hash, href }] : []
  }
  const amount = (text: string | null | undefined, ticker: string) => (text ? `${text} ${ticker}` : null)
  const refund = latest?.refund
  const youGet = isRateKept(tracked, startedAt) ? texts.youGet : texts.youGetAbout
  const isPayoutDue = !refund && !unpaidStatuses.includes(status)
  const [received, paid] = [latest?.amountFromReceived, latest?.amountToReceived]
  return [
    ...(received
      ? row(texts.received, amount(received, from))
      : row(texts.sent, amount(request.amountFromRequested, from))),
    ...(paid
      ? row(texts.paidOut, amount(paid, to))
      : isPayoutDue
        ? row(youGet, amount(request.amountToRequested, to))
        : []),
    ...row(texts.to, request.recipientAddress),
    ...(refund ? row(texts.sentBack, `${refund.amount} ${refund.currency.toUpperCase()}`) : []),
    ...link(texts.payin, latest?.payinHash, request.fromCurrency, request.fromNetwork),
    ...link(texts.payout, latest?.payoutHash, request.toCurrency, request.toNetwork),
    ...(refund ? link(texts.refund, refund.hash, refund.currency, refund.network) : []),
    ...row(texts.id, id),
  ]
}

/** Null without a template, and for an address that is no web page. */
function explorerUrl(currency: Currency | undefined, hash: string): string | null {
  const href = currency?.txExplorer.replace('{}', encodeURIComponent(hash)) ?? ''
  return /^https?:\/\//.test(href) ? href : null
}
