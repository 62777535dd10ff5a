import type { Currency } from '@swapyard/sdk'
import { networkOf, tickerOf } from './currencies.ts'
import { currencyIcon } from './currency-icon.ts'
import { createId, h, lineIcon, set, setText } from './dom.ts'
import { labels } from './labels.ts'
import { readTyped } from './limits.ts'

export type AmountField = Readonly<{
  element: HTMLElement
  button: HTMLButtonElement
  /** As `readTyped` returns it. */
  value(): string
  setValue(text: string): void
  setCurrency(currency: Currency): void
  setTitle(title: string): void
  setUsd(amount: string | null): void
  setStale(isStale: boolean): void
  /** Marks the amount as wrong, for the reason that the element with this id states. */
  setInvalid(describedBy: string | null): void
  focus(): void
}>

/** Above this many characters the digits are smaller. */
const LONG = 15
const usd = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' })

export function createAmountField(origin: string, on: Readonly<{ input(): void; choose(): void }>): AmountField {
  const title = h('label', { for: createId('amount') })
  const input = h('input', {
    id: title.htmlFor,
    class: 'amount',
    part: 'amount',
    inputmode: 'decimal',
    autocomplete: 'off',
    placeholder: '0',
    maxlength: 60,
    oninput: () => {
      fit()
      on.input()
    },
  })
  const button = h('button', { type: 'button', class: 'currency', part: 'currency', onclick: on.choose })
  const worth = h('p', { class: 'quiet worth' })
  const fit = () => input.classList.toggle('long', input.value.length > LONG)
  // The name of the button is its content, so that it contains what is seen.
  const purpose = h('span', { class: 'hidden' })
  return {
    element: h('div', { class: 'side', part: 'side' }, title, button, input, worth),
    button,
    value: () => readTyped(input.value),
    setValue: (text) => {
      input.value = text
      fit()
    },
    setCurrency: (currency) => {
      const network = h('small', {}, h('span', { class: 'hidden' }, labels.form.onNetwork), networkOf(currency))
      button.replaceChildren(
        purpose,
        currencyIcon(currency, origin),
        h('span', { class: 'names' }, h('b', {}, tickerOf(currency)), network),
        h('span', { class: 'hidden' }, labels.form.choose),
        lineIcon('M7 10l5 5 5-5'),
      )
    },
    setTitle: (text) => {
      setText(title, text)
      setText(purpose, `${text}: `)
    },
    setUsd: (amount) => setText(worth, amount === null ? '\u00a0' : `≈ ${usd.format(Number(amount))}`),
    setStale: (isStale) => input.classList.toggle('stale', isStale),
    setInvalid: (describedBy) => {
      set(input, 'aria-invalid', describedBy === null ? null : 'true')
      set(input, 'aria-describedby', describedBy)
    },
    focus: () => input.focus(),
  }
}
