import { type ExchangeStatus, SwapyardError, type TrackedExchange } from '@swapyard/sdk'
import { everySecond, toLocalMs } from './clock.ts'
import { findCurrency } from './currencies.ts'
import { createDepositPanel } from './deposit-panel.ts'
import { createDetails } from './details.ts'
import { h, set, setText } from './dom.ts'
import { describeFailure } from './failures.ts'
import { followExchange } from './follow-exchange.ts'
import { labels, reasonTexts, statusTexts } from './labels.ts'
import type { Started } from './session.ts'
import type { Widget } from './widget.ts'

const texts = labels.exchange
/** The step that each status has reached. Others are no steps towards the payout. */
const steps: Readonly<Partial<Record<ExchangeStatus, number>>> = {
  pending: 0,
  confirming: 1,
  exchanging: 2,
  sending: 3,
  finished: 4,
}

type ExchangeOptions = Readonly<{
  /** The user has just started it, so the focus follows. */
  isNew: boolean
  onAnother(): void
}>

/** From the deposit address to the payout. */
export function createExchangeView(
  widget: Widget,
  started: Started,
  { isNew, onAnother }: ExchangeOptions,
): HTMLElement {
  const heading = h('h2', { tabindex: -1, part: 'heading' }, labels.loading)
  const now = h('p', { class: 'now' })
  const problem = h('p', { class: 'problem', role: 'status', hidden: true })
  const progress = createSteps()
  const deposit = h('div')
  const details = createDetails(widget.currencies, started.startedAt)
  const trackingUrl = `${widget.origin}/track/${started.token}`
  const link = (text: string, type: string) =>
    h('a', { class: type, part: 'link', href: trackingUrl, target: '_blank', rel: 'noopener noreferrer' }, text)
  const refund = link(texts.nameRefundAddress, 'primary')
  const another = h('button', { type: 'button', class: 'second', part: 'second', onclick: onAnother }, texts.another)
  const content = h('div', { class: 'content', hidden: true }, progress.element, refund, deposit, details.element)

  const showProblem = (text: string) => {
    setText(problem, text)
    problem.hidden = text === ''
  }
  const show = (tracked: TrackedExchange) => {
    const { status, request, needsRefundAddress, expiresAt } = tracked
    const isTimeOver = status === 'pending' && toLocalMs(expiresAt, tracked, started.startedAt) <= Date.now()
    const [title, usual] = statusTexts[status]
    const text = needsRefundAddress ? texts.refundNeeded : isTimeOver ? texts.timeOver : usual
    const reason = (tracked.statusReason && reasonTexts[tracked.statusReason]) ?? ''
    setText(heading, title)
    setText(now, reason === '' ? text : `${reason} ${text}`)
    set(heading, 'data-status', status)
    progress.update(tracked)
    refund.hidden = !needsRefundAddress
    if (status === 'pending' && deposit.childElementCount === 0) {
      const from = findCurrency(widget.currencies, `${request.fromCurrency}@${request.fromNetwork}`)
      deposit.append(createDepositPanel(widget, tracked, from, started.startedAt))
    }
    // A payment that left the chain may return: a second one would be an exchange of its own.
    deposit.hidden = status !== 'pending' || isTimeOver || tracked.statusReason === 'DEPOSIT_VANISHED'
    details.update(tracked)
    content.hidden = false
    another.hidden = false
  }
  let latest: TrackedExchange | null = null
  followExchange(widget, started.token, {
    onChange: (tracked) => {
      latest = tracked
      show(tracked)
      showProblem('')
    },
    onStatus: ({ id, status, statusReason }) => {
      widget.announce(`${heading.textContent}. ${now.textContent}`)
      widget.emit('swapyard:status', { id, status, statusReason })
    },
    onInterruption: () => showProblem(texts.disconnected),
    onEnd: (error) => {
      // Created on a server that has forgotten it, for example a sandbox with new data.
      widget.session.write({})
      latest = null
      const isUnknown = error instanceof SwapyardError && error.code === 'EXCHANGE_NOT_FOUND'
      setText(heading, isUnknown ? statusTexts.failed[0] : labels.loading)
      showProblem(isUnknown ? texts.unknown : describeFailure(error))
      another.hidden = false
    },
  })
  // Deadlines pass without an answer of the API.
  everySecond(widget.signal, () => latest?.status === 'pending' && show(latest))
  if (isNew) queueMicrotask(() => heading.focus())
  return h(
    'div',
    { class: 'exchange' },
    heading,
    now,
    problem,
    content,
    h('div', { class: 'end' }, link(texts.tracking, 'link'), another),
  )
}

function createSteps() {
  const items = labels.steps.map((text) => h('li', {}, text))
  const bar = h('progress', { class: 'confirmations', 'aria-label': texts.confirmationsName })
  const count = h('p', { class: 'quiet' })
  const list = h('ol', { class: 'steps', part: 'steps', 'aria-label': texts.progress }, ...items)
  const confirming = h('div', {}, bar, count)
  const element = h('div', {}, list, confirming)
  return {
    element,
    update({ status, confirmationsSeen: seen, confirmationsRequired: required }: TrackedExchange) {
      const reached = steps[status]
      element.hidden = reached === undefined
      for (const [at, item] of items.entries()) {
        item.className = at < (reached ?? 0) ? 'done' : ''
        set(item, 'aria-current', at === reached ? 'step' : null)
      }
      confirming.hidden = status !== 'confirming' || required === null || required === 0
      if (required === null) return
      bar.max = Math.max(1, required)
      bar.value = seen
      setText(count, texts.confirmations(seen, required))
    },
  }
}
