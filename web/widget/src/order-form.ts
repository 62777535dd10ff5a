import { type CreateExchangeBody, type Flow, numberToAmount, type Problem, SwapyardError } from '@swapyard/sdk'
import { type AddressField, createAddressField } from './address-field.ts'
import { createCurrencyPicker } from './currency-picker.ts'
import { createId, h, set, setText } from './dom.ts'
import { describeCreateFailure } from './failures.ts'
import { labels } from './labels.ts'
import { type Pair, Pricing, type Terms } from './pricing.ts'
import { reportDelay } from './report-delay.ts'
import type { Attempt, Started } from './session.ts'
import { createIdempotencyKey, isRefused, startExchange } from './start-exchange.ts'
import type { Widget } from './widget.ts'

export type OrderOptions = Pair &
  Readonly<{
    amount: string
    flow: Flow
    address: string
    externalId: string | null
    onStarted(started: Started): void
  }>

type Order = Readonly<{ pricing: Pricing; recipient: AddressField; refund: AddressField }>

/** From the choice of currencies to the create. */
export function createOrderForm(widget: Widget, options: OrderOptions): HTMLElement {
  const { address, addressHint, addressMemo, refundAddress, refundHint, refundMemo } = labels.form
  const recipient = createAddressField(widget, { label: address, hint: addressHint, memo: addressMemo }, false)
  const refund = createAddressField(widget, { label: refundAddress, hint: refundHint, memo: refundMemo }, true)
  recipient.setValue(options.address)
  const heading = h('h2', { id: createId('heading'), part: 'heading' }, labels.form.heading)
  const form = h('form', { novalidate: true, 'aria-labelledby': heading.id })
  let opener: HTMLElement | null = null
  const picker = createCurrencyPicker(widget, (isOpen) => {
    set(form, 'inert', isOpen)
    if (!isOpen) opener?.focus()
  })
  const pricing = new Pricing(widget, {
    ...options,
    pick: (title, current, button, choose) => {
      opener = button
      picker.open(title, current, choose)
    },
    onPair: ({ from, to }) => {
      recipient.setCurrency(to)
      refund.setCurrency(from)
    },
  })
  const end = createFormEnd()
  form.append(heading, pricing.element, recipient.element, refund.element, end.problem, end.delay, end.button)
  const start = createStart(widget, { pricing, recipient, refund }, options)
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    if (end.isBusy()) return
    end.setProblem('')
    end.setBusy(true)
    try {
      await reportDelay(start(), () => {
        end.showDelay()
        widget.announce(labels.form.slow)
      })
    } catch (error) {
      if (!widget.signal.aborted) end.setProblem(showFailure(error, { pricing, recipient, refund }))
    } finally {
      end.setBusy(false)
    }
  })
  return h('div', { class: 'order' }, form, picker.element)
}

function createFormEnd() {
  const problem = h('p', { class: 'problem', role: 'alert', hidden: true })
  const delay = h('p', { class: 'quiet', hidden: true }, labels.form.slow)
  const button = h('button', { class: 'primary', part: 'button' }, labels.form.start)
  let isBusy = false
  return {
    problem,
    delay,
    button,
    isBusy: () => isBusy,
    showDelay() {
      delay.hidden = false
    },
    setBusy(next: boolean) {
      isBusy = next
      delay.hidden = true
      // Disabled, it would lose the focus.
      set(button, 'aria-disabled', next ? 'true' : null)
      setText(button, next ? labels.form.starting : labels.form.start)
    },
    setProblem(text: string) {
      setText(problem, text)
      problem.hidden = text === ''
    },
  }
}

/** Checks and creates. Focuses what is missing. */
function createStart(widget: Widget, { pricing, recipient, refund }: Order, options: OrderOptions) {
  let last: (Attempt & Readonly<{ order: string }>) | null = null
  return async (): Promise<void> => {
    const checks = await Promise.all([recipient.check(), refund.check()])
    const terms = await pricing.terms()
    if (terms === null) return pricing.focus()
    if (checks.includes(false)) return void (recipient.focusProblem() || refund.focusProblem())
    const body = toBody(terms, recipient, refund, options.externalId)
    // A repeat of the same order after a lost answer cannot create a second exchange, even if its rate was replaced meanwhile.
    const order = toOrder(terms, body)
    if (last === null || last.order !== order)
      last = { body, idempotencyKey: createIdempotencyKey(), sentAt: Date.now(), order }
    try {
      options.onStarted(await startExchange(widget, last))
    } catch (error) {
      if (isRefused(error)) last = null
      throw error
    }
  }
}

/** What the user ordered: a refresh of the price changes the rate id and the amount that was not typed. */
const toOrder = ({ typed }: Terms, body: CreateExchangeBody): string =>
  JSON.stringify({ ...body, rateId: null, fromAmount: typed })

function toBody(
  { from, to, fromAmount, flow, rateId }: Terms,
  recipient: AddressField,
  refund: AddressField,
  externalId: string | null,
): CreateExchangeBody {
  const [payout, back] = [recipient.value(), refund.value()]
  return {
    ...{ fromCurrency: from.ticker, fromNetwork: from.network, toCurrency: to.ticker, toNetwork: to.network },
    ...{ fromAmount, flow, address: payout.address },
    ...(payout.memo === '' ? {} : { memo: payout.memo }),
    ...(back.address === '' ? {} : { refundAddress: back.address }),
    ...(back.address === '' || back.memo === '' ? {} : { refundMemo: back.memo }),
    // A floating rate is the one of the moment.
    ...(flow === 'fixed-rate' && rateId !== null ? { rateId } : {}),
    ...(externalId === null ? {} : { externalId }),
  }
}

/** Shows problems of addresses at their fields, and returns what belongs below the form. */
function showFailure(error: unknown, { pricing, recipient, refund }: Order): string {
  if (!(error instanceof SwapyardError)) return describeCreateFailure(error)
  if (error.code === 'RATE_ID_EXPIRED') {
    const { requote } = error.errors[0]
    pricing.accept(requote)
    return labels.form.repriced(`${numberToAmount(requote.toAmount)} ${requote.toCurrency.toUpperCase()}`)
  }
  if (error.code === 'RATE_ID_USED') pricing.refresh()
  const atFields = error.errors.filter((problem) => showAtField(problem, recipient, refund))
  if (atFields.length === 0) return describeCreateFailure(error)
  void (recipient.focusProblem() || refund.focusProblem())
  return ''
}

function showAtField(problem: Problem, recipient: AddressField, refund: AddressField): boolean {
  const { field } = problem
  if (field === 'address' || field === 'memo') recipient.showProblem(field, problem)
  else if (field === 'refundAddress') refund.showProblem('address', problem)
  else if (field === 'refundMemo') refund.showProblem('memo', problem)
  else return false
  return true
}
