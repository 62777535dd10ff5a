import type { ExchangeStatus } from '../../exchange/domain/exchange.ts'
import { type Html, html } from '../../lib/html.ts'
import { amountText } from './amount-text.ts'
import { clock, timeText } from './clock.ts'
import { fill, type Locale } from './languages/locale.ts'
import type { Texts } from './languages/texts.ts'
import type { ShownExchange } from './shown-exchange.ts'

/** What happens now, in words. A screen reader announces it when it changes. */
export function statusRegion(shown: ShownExchange, { texts }: Locale): Html {
  const { status, reason, isVanished, isTimeOver, from, tracked } = shown
  const values = { amount: amountText(from, tracked.exchange.fromUnits) }
  const heading = isTimeOver && !isVanished ? texts.timeOver.heading : texts.statuses[status]
  return html`<h2 class="badge ${status}">${heading}</h2>
<p class="now">${isVanished ? texts.paymentVanished : fill(nowText(shown, texts), values)}</p>
${reason === null || isVanished ? null : html`<p>${reasonText(status, reason, texts)}</p>`}
${status === 'failed' || isTimeOver ? html`<p>${texts.doNotPay}</p>` : null}`
}

function nowText({ status, tracked, isTimeOver }: ShownExchange, texts: Texts): string {
  if (isTimeOver) return texts.timeOver.now
  return status === 'finished' && tracked.exchange.recipient === null ? texts.credited : texts.now[status]
}

/** Screening is shown as the check of a person, as in the public status. */
export function reasonText(status: ExchangeStatus, reason: NonNullable<ShownExchange['reason']>, texts: Texts): string {
  if (reason === 'OPERATOR' || reason === 'SCREENING')
    return status === 'verifying' ? texts.reasons.OPERATOR : texts.decided
  return texts.reasons[reason]
}

/** Steps, confirmations and the time that is left. */
export function progressRegion(shown: ShownExchange, locale: Locale): Html {
  return html`${stepList(shown, locale)}${confirmationMeter(shown, locale)}${clocks(shown, locale)}`
}

type Step = 'payment' | 'confirmations' | 'exchange' | 'payout' | 'refund'
const payoutSteps: readonly Step[] = ['payment', 'confirmations', 'exchange', 'payout']
const refundSteps: readonly Step[] = ['payment', 'confirmations', 'refund']
/** Steps, and the number of those that are done. Closed exchanges show none. */
const progressOf: Readonly<Record<ExchangeStatus, Readonly<{ steps: readonly Step[]; done: number }>>> = {
  pending: { steps: payoutSteps, done: 0 },
  confirming: { steps: payoutSteps, done: 1 },
  verifying: { steps: payoutSteps, done: 2 },
  exchanging: { steps: payoutSteps, done: 2 },
  sending: { steps: payoutSteps, done: 3 },
  finished: { steps: payoutSteps, done: 4 },
  refunding: { steps: refundSteps, done: 2 },
  refunded: { steps: refundSteps, done: 3 },
  failed: { steps: [], done: 0 },
}

function stepList({ status, reason }: ShownExchange, { texts }: Locale): Html | null {
  const { steps, done } = progressOf[reason === 'REFUND_ADDRESS_REQUIRED' ? 'refunding' : status]
  if (steps.length === 0) return null
  return html`<ol class="steps" aria-label="${texts.steps.heading}">
${steps.map((step, index) => {
  if (index < done) return html`<li class="done">${texts.steps[step]}</li>`
  if (index > done) return html`<li>${texts.steps[step]}</li>`
  return html`<li class="current" aria-current="step">${texts.steps[step]}</li>`
})}
</ol>`
}

function confirmationMeter({ confirmations }: ShownExchange, { texts, pluralize, formatNumber }: Locale): Html | null {
  if (confirmations === null) return null
  const { seen, required } = confirmations
  const values = { seen: formatNumber(seen), needed: formatNumber(required) }
  return html`<p class="confirmations" id="confirmations">${fill(pluralize(texts.confirmations, required), values)}</p>
<progress max="${required}" value="${seen}" aria-labelledby="confirmations"></progress>`
}

const openStatuses: readonly ExchangeStatus[] = ['pending', 'confirming', 'exchanging']

function clocks(shown: ShownExchange, locale: Locale): Html | null {
  const { status, isPayable, isTimeOver, isLockOver, tracked, expectedSeconds, now } = shown
  const { texts, formatDuration } = locale
  const { fixedUntil, expiresAt } = tracked.exchange
  return html`${isPayable && fixedUntil !== null && !isLockOver ? clock(texts.fixedEnds, fixedUntil, now) : null}
${isPayable ? clock(texts.expires, expiresAt, now) : null}
${
  expectedSeconds === null || isTimeOver || !openStatuses.includes(status)
    ? null
    : html`<p>${texts.expectedDuration} <strong>${formatDuration(expectedSeconds)}</strong></p>`
}`
}

/** What happens to a payment after each deadline. Null unless a payment is expected. */
export function deadlinesRegion({ isPayable, isLockOver, tracked }: ShownExchange, locale: Locale): Html | null {
  if (!isPayable) return null
  const { texts } = locale
  const { fixedUntil, expiresAt } = tracked.exchange
  return html`<section aria-labelledby="deadlines-heading">
<h2 id="deadlines-heading">${texts.deadlines}</h2>
${
  fixedUntil === null
    ? html`<p>${texts.floatingNote}</p>`
    : isLockOver
      ? html`<p class="warning">${texts.fixedOver}</p>`
      : html`<p>${timeText(fixedUntil, locale)}<br>${texts.fixedNote}</p>`
}
<p>${timeText(expiresAt, locale)}<br>${texts.expiryNote}</p>
</section>`
}
