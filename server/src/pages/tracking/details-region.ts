import type { ExchangeStatus } from '../../exchange/domain/exchange.ts'
import type { TrackedDeposit } from '../../exchange/domain/tracked-exchange.ts'
import { type Html, html } from '../../lib/html.ts'
import { amountText, codeText, explorerLink } from './amount-text.ts'
import { timeText } from './clock.ts'
import { addressHref, transactionHref } from './currency-names.ts'
import { fill, isolate, type Locale } from './languages/locale.ts'
import type { ShownExchange } from './shown-exchange.ts'
import { reasonText } from './status-region.ts'

/** The page lists the latest deposits only: anyone can send any number. */
const DEPOSITS_MAX = 10

const unpaidStatuses: readonly ExchangeStatus[] = ['refunding', 'refunded', 'failed']

/** The payer's payments, and what became of each. */
export function depositsRegion(shown: ShownExchange, locale: Locale): Html | null {
  const { deposits } = shown.tracked
  if (deposits.length === 0) return null
  const first = Math.max(0, deposits.length - DEPOSITS_MAX)
  return html`<section aria-labelledby="deposits-heading">
<h2 id="deposits-heading">${locale.texts.deposits.heading}</h2>
${deposits.slice(first).map((one, index) => depositItem(one, deposits.length === 1 ? null : first + index + 1, shown, locale))}
</section>`
}

function depositItem(deposit: TrackedDeposit, number: number | null, shown: ShownExchange, locale: Locale): Html {
  const { from, to, assetNames } = shown
  const { texts, formatNumber } = locale
  const { status, reason, receivedUnits, sentUnits, payinHash, payoutHash, refund } = deposit
  const heading = number === null ? null : fill(texts.deposits.number, { number: formatNumber(number) })
  const returned = refund && (refund.assetId === from.asset.id ? from : assetNames.byId(refund.assetId))
  return html`${heading && html`<h3>${heading}</h3>`}
<dl>
${number === null ? null : html`<dt>${texts.deposits.status}</dt><dd>${texts.statuses[status]}${reason && html`<br><span class="quiet">${reasonText(status, reason, texts)}</span>`}</dd>`}
${receivedUnits === null ? null : html`<dt>${texts.deposits.received}</dt><dd>${amountText(from, receivedUnits)}</dd>`}
${payinHash && html`<dt>${texts.deposits.payin}</dt><dd>${explorerLink(transactionHref(from, payinHash), payinHash)}</dd>`}
${sentUnits === null ? null : html`<dt>${texts.deposits.paidOut}</dt><dd>${amountText(to, sentUnits)}</dd>`}
${payoutHash && html`<dt>${texts.deposits.payout}</dt><dd>${explorerLink(transactionHref(to, payoutHash), payoutHash)}</dd>`}
${
  refund &&
  returned &&
  html`<dt>${texts.deposits.sentBack}</dt><dd>${amountText(returned, refund.units)}</dd>
<dt>${texts.details.refundAddress}</dt><dd>${explorerLink(addressHref(returned, refund.address), refund.address)}</dd>
${refund.txHash && html`<dt>${texts.deposits.refund}</dt><dd>${explorerLink(transactionHref(returned, refund.txHash), refund.txHash)}</dd>`}`
}
</dl>`
}

/** What the recipient gets. Null where that is nothing, and where the payment states what was paid out. */
function payoutRow({ status, tracked, to, isLockOver }: ShownExchange, { texts }: Locale): Html | null {
  const { exchange, deposits } = tracked
  if (unpaidStatuses.includes(status) || deposits.some(({ sentUnits }) => sentUnits !== null)) return null
  const { flow, fixedUntil, fromUnits, toUnits } = exchange
  const [first] = deposits
  // The first deposit alone gets the rate, and another amount gets another payout.
  const isKept =
    first === undefined
      ? !isLockOver
      : fixedUntil !== null && first.createdAt <= fixedUntil && (first.receivedUnits ?? fromUnits) === fromUnits
  const title = flow === 'fixed-rate' && isKept ? texts.details.youGetFixed : texts.details.youGet
  return html`<dt>${title}</dt><dd>${amountText(to, toUnits)} <span class="quiet">${isolate(to.networkName)}</span></dd>`
}

export function detailsRegion(shown: ShownExchange, locale: Locale): Html {
  const { texts } = locale
  const { tracked, from, to, isPayable } = shown
  const { exchange } = tracked
  const { recipient, refund, deposit } = exchange
  return html`<section aria-labelledby="details-heading">
<h2 id="details-heading">${texts.details.heading}</h2>
<dl>
<dt>${texts.details.youSend}</dt><dd>${amountText(from, exchange.fromUnits)} <span class="quiet">${isolate(from.networkName)}</span></dd>
${payoutRow(shown, locale)}
${isPayable ? null : html`<dt>${texts.pay.address}</dt><dd>${explorerLink(addressHref(from, deposit.address), deposit.address)}</dd>`}
<dt>${texts.details.recipient}</dt><dd>${recipient === null ? texts.details.creditedToService : explorerLink(addressHref(to, recipient.address), recipient.address)}</dd>
${recipient?.memo ? html`<dt>${isolate(to.memoName)}</dt><dd>${codeText(recipient.memo)}</dd>` : null}
${refund && html`<dt>${texts.details.refundAddress}</dt><dd>${explorerLink(addressHref(from, refund.address), refund.address)}</dd>`}
${refund?.memo ? html`<dt>${isolate(from.memoName)}</dt><dd>${codeText(refund.memo)}</dd>` : null}
<dt>${texts.details.created}</dt><dd>${timeText(exchange.createdAt, locale)}</dd>
<dt>${texts.details.id}</dt><dd>${codeText(exchange.id)}</dd>
</dl>
<p class="quiet">${exchange.type === 'private' ? texts.details.privateNote : texts.details.linkNote}</p>
</section>`
}
