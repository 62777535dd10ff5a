import { addAmounts, type Currency, type Flow, numberToAmount, type RateQuote } from '@swapyard/sdk'
import { type AmountField, createAmountField } from './amount-field.ts'
import { createAmountProblem } from './amount-problem.ts'
import { everySecond, formatClock } from './clock.ts'
import { tickerOf } from './currencies.ts'
import { h, lineIcon, setText } from './dom.ts'
import { describeFailure } from './failures.ts'
import { createFlowChoice } from './flow-choice.ts'
import { labels } from './labels.ts'
import { findLimit, findMistake, toPlainAmount } from './limits.ts'
import { createQuoteLoop, type QuoteLoop } from './quote-loop.ts'
import type { Widget } from './widget.ts'

type Side = 'from' | 'to'
const sides: readonly Side[] = ['from', 'to']
const otherThan = (side: Side): Side => (side === 'from' ? 'to' : 'from')

export type Pair = Readonly<{ from: Currency; to: Currency }>
/** `typed`: the side where the user typed, and the amount. The other one follows the price. */
export type Terms = Pair & Readonly<{ fromAmount: string; flow: Flow; rateId: string | null; typed: string }>
export type PricingOptions = Pair &
  Readonly<{
    amount: string
    flow: Flow
    pick(title: string, current: Currency, opener: HTMLElement, choose: (chosen: Currency) => void): void
    onPair(pair: Pair): void
  }>

const rates = new Intl.NumberFormat('en', { maximumSignificantDigits: 7, useGrouping: false })

/** The two amounts, the kind of rate, and the quote that keeps them current. */
export class Pricing {
  readonly element: HTMLElement
  readonly #widget: Widget
  readonly #options: PricingOptions
  readonly #loop: QuoteLoop
  readonly #fields: Readonly<Record<Side, AmountField>>
  readonly #flow: ReturnType<typeof createFlowChoice>
  readonly #problem = createAmountProblem()
  readonly #rate = h('span')
  readonly #held = h('span', { class: 'held' })
  readonly #note = h('p', { class: 'quiet hint' })
  #pair: Pair
  /** Where the user typed: the other amount follows. */
  #side: Side = 'from'
  #quote: RateQuote | null = null
  #heldUntil: number | null = null

  constructor(widget: Widget, options: PricingOptions) {
    this.#widget = widget
    this.#options = options
    this.#pair = options
    this.#fields = { from: this.#createField('from'), to: this.#createField('to') }
    this.#flow = createFlowChoice(options.flow, () => {
      this.#nameFields()
      this.refresh()
    })
    this.#loop = createQuoteLoop(widget, {
      onQuote: (quote, heldUntil, isAsked) => this.#showQuote(quote, heldUntil, isAsked),
      onFailure: (error) => {
        this.#forget()
        this.#setProblem(describeFailure(error), null)
      },
    })
    this.element = this.#createElement()
    this.#fields.from.setValue(options.amount)
    this.#setPair(options)
    everySecond(widget.signal, () => this.#showHeld())
  }

  /** What to create now; null if no quote allows it. */
  async terms(): Promise<Terms | null> {
    await this.#loop.settled()
    const quote = this.#quote
    if (quote === null || findLimit(quote, this.#pair.from) !== null) return null
    return {
      ...this.#pair,
      fromAmount: numberToAmount(quote.fromAmount),
      flow: this.#flow.value(),
      rateId: quote.rateId,
      // Without the zeros at the end.
      typed: `${this.#side} ${addAmounts(toPlainAmount(this.#fields[this.#side].value()), '0')}`,
    }
  }

  focus(): void {
    if (this.#fields[this.#side].value() === '') this.#setProblem(labels.form.noAmount, null)
    this.#fields[this.#side].focus()
  }

  /** Shows the quote that an error contained. */
  accept(quote: RateQuote): void {
    this.#loop.accept(quote)
  }

  /** Asks for a quote of what the fields say. */
  refresh(): void {
    const side = this.#side
    const other = this.#fields[otherThan(side)]
    const text = this.#fields[side].value()
    const mistake = text === '' ? null : findMistake(text, this.#pair[side])
    this.#forget()
    this.#setProblem(mistake ?? '', null)
    if (text === '' || mistake !== null) {
      other.setValue('')
      this.#loop.ask(null)
      return
    }
    other.setStale(true)
    setText(this.#rate, labels.form.quoting)
    const { from, to } = this.#pair
    this.#loop.ask({
      ...{ fromCurrency: from.ticker, fromNetwork: from.network, toCurrency: to.ticker, toNetwork: to.network },
      [side === 'from' ? 'amount' : 'toAmount']: toPlainAmount(text),
      flow: this.#flow.value(),
    })
  }

  #createField(side: Side): AmountField {
    return createAmountField(this.#widget.origin, {
      input: () => {
        this.#side = side
        this.refresh()
      },
      choose: () => {
        const { button } = this.#fields[side]
        this.#options.pick(
          side === 'from' ? labels.picker.send : labels.picker.get,
          this.#pair[side],
          button,
          (chosen) => this.#setCurrency(side, chosen),
        )
      },
    })
  }

  #createElement(): HTMLElement {
    const swap = h('button', { type: 'button', class: 'plain swap', part: 'swap', 'aria-label': labels.form.swap })
    swap.append(lineIcon('M7 4v15M3.5 15.5L7 19l3.500-3.500M17 20V5M13.500 8.500L17 5l3.500 3.500'))
    swap.addEventListener('click', () => this.#setPair({ from: this.#pair.to, to: this.#pair.from }))
    return h(
      'div',
      { class: 'pricing' },
      this.#flow.element,
      h('div', { class: 'sides' }, this.#fields.from.element, swap, this.#fields.to.element),
      this.#problem.element,
      h('div', {}, h('p', { class: 'quiet rate', part: 'rate' }, this.#rate, this.#held), this.#note),
    )
  }

  #titleOf(side: Side): string {
    if (side === 'from') return labels.form.send
    return this.#flow.value() === 'fixed-rate' ? labels.form.get : labels.form.getAbout
  }

  #nameFields(): void {
    for (const side of sides) this.#fields[side].setTitle(this.#titleOf(side))
    setText(this.#note, this.#flow.value() === 'fixed-rate' ? labels.form.fixedNote : labels.form.floatingNote)
  }

  #setPair({ from, to }: Pair): void {
    this.#pair = { from, to }
    for (const side of sides) this.#fields[side].setCurrency(this.#pair[side])
    this.#flow.setFixedAllowed(from.supportsFixedRate && to.supportsFixedRate)
    this.#nameFields()
    this.#options.onPair(this.#pair)
    this.refresh()
  }

  /** The currency of the other side exchanges the sides. */
  #setCurrency(side: Side, chosen: Currency): void {
    const { from, to } = this.#pair
    this.#setPair(chosen === this.#pair[otherThan(side)] ? { from: to, to: from } : { ...this.#pair, [side]: chosen })
  }

  #showQuote(quote: RateQuote, heldUntil: number | null, isAsked: boolean): void {
    this.#quote = quote
    this.#heldUntil = heldUntil
    this.#showHeld()
    const { from, to } = this.#pair
    const [sent, got] = [numberToAmount(quote.fromAmount), numberToAmount(quote.toAmount)]
    this.#fields[otherThan(this.#side)].setValue(this.#side === 'from' ? got : sent)
    this.#fields.from.setUsd(quote.amountFromUsd)
    this.#fields.to.setUsd(quote.amountToUsd)
    for (const side of sides) this.#fields[side].setStale(false)
    const price = quote.toAmount / quote.fromAmount
    setText(this.#rate, price > 0 ? labels.form.rate(tickerOf(from), rates.format(price), tickerOf(to)) : '')
    const limit = findLimit(quote, from)
    this.#setProblem(limit?.text ?? '', limit?.remedy ?? null)
    if (limit === null && isAsked)
      this.#widget.announce(labels.form.quoted(`${sent} ${tickerOf(from)}`, `${got} ${tickerOf(to)}`))
  }

  #showHeld(): void {
    const left = this.#heldUntil === null ? 0 : this.#heldUntil - Date.now()
    setText(this.#held, left > 0 ? labels.form.heldFor(formatClock(left)) : '')
  }

  #forget(): void {
    this.#quote = null
    this.#heldUntil = null
    this.#showHeld()
    setText(this.#rate, '')
    for (const side of sides) this.#fields[side].setUsd(null)
  }

  /** `remedy`: an amount to send that is accepted. */
  #setProblem(text: string, remedy: string | null): void {
    const { from, to } = this.#fields
    const use = remedy === null ? '' : labels.form.use(`${remedy} ${tickerOf(this.#pair.from)}`)
    this.#problem.show(text, use, () => {
      this.#side = 'from'
      from.setValue(remedy ?? '')
      from.focus()
      this.refresh()
    })
    const isFrom = this.#side === 'from' || remedy !== null
    from.setInvalid(text !== '' && isFrom ? this.#problem.id : null)
    to.setInvalid(text !== '' && !isFrom ? this.#problem.id : null)
  }
}
