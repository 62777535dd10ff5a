import type { Currency, TrackedExchange } from '@swapyard/sdk'
import { everySecond, formatClock, toLocalMs } from './clock.ts'
import { copyButton } from './copy-button.ts'
import { networkNameOf } from './currencies.ts'
import { h, setText } from './dom.ts'
import { labels } from './labels.ts'
import { qrCode } from './qr-code.ts'
import type { Widget } from './widget.ts'

const texts = labels.exchange

/** What to pay, where, and until when. `startedAt`: the time of the create by the clock of this device. */
export function createDepositPanel(
  widget: Widget,
  tracked: TrackedExchange,
  from: Currency | undefined,
  startedAt: number,
): HTMLElement {
  const { request } = tracked
  const ticker = request.fromCurrency.toUpperCase()
  const network = networkNameOf(request.fromNetwork)
  const memoName = from?.memoName ?? 'Memo'
  const copied = (title: string, shown: string, what: string, text: string) => {
    const source = h('code', {}, shown)
    return h(
      'div',
      { class: 'copied' },
      h('p', { class: 'quiet' }, title),
      h('div', { class: 'row' }, source, copyButton(widget, what, text, source)),
    )
  }
  const { amountFromRequested: amount, depositAddress, depositMemo } = request
  return h(
    'div',
    { class: 'deposit', part: 'deposit' },
    h('div', { class: 'scan' }, qrCode(depositAddress, texts.qr)),
    copied(texts.sendExactly, `${amount} ${ticker}`, texts.copyAmount, amount),
    copied(texts.toAddress(network), depositAddress, texts.copyAddress, depositAddress),
    ...(depositMemo === null
      ? []
      : [
          copied(texts.memo(memoName), depositMemo, memoName, depositMemo),
          h('p', { class: 'warning' }, texts.memoWarning(memoName)),
        ]),
    h('p', { class: 'warning' }, texts.only(ticker, network)),
    createDeadlines(widget, tracked, startedAt),
  )
}

function createDeadlines({ signal }: Widget, tracked: TrackedExchange, startedAt: number): HTMLElement {
  const { fixedUntil, expiresAt } = tracked
  const clock = (title: string, time: string, over: string) => {
    const name = h('span', { class: 'quiet' }, title)
    const left = h('b', { role: 'timer' })
    everySecond(signal, () => {
      const leftMs = toLocalMs(time, tracked, startedAt) - Date.now()
      if (leftMs <= 0 && over !== '') {
        setText(name, over)
        left.hidden = true
      }
      setText(left, formatClock(leftMs))
    })
    return h('p', { class: 'deadline' }, name, left)
  }
  return h(
    'div',
    { class: 'deadlines' },
    fixedUntil === null ? null : clock(texts.fixedEnds, fixedUntil, texts.fixedOver),
    clock(texts.expires, expiresAt, ''),
  )
}
