import { type Currency, compareAmounts, numberToAmount, type RateQuote } from '@swapyard/sdk'
import { tickerOf } from './currencies.ts'
import { labels } from './labels.ts'

/** Why a quote allows no create, and the amount that would. */
export type Limit = Readonly<{ text: string; remedy: string | null }>

/** Null if the amount of the quote is within its limits. */
export function findLimit({ min, max, fromAmount }: RateQuote, from: Currency): Limit | null {
  if (max !== null && max < min) return { text: labels.form.unavailable, remedy: null }
  const amount = numberToAmount(fromAmount)
  const [least, most] = [numberToAmount(min), max === null ? null : numberToAmount(max)]
  if (compareAmounts(amount, least) < 0)
    return { text: labels.form.tooSmall(`${least} ${tickerOf(from)}`), remedy: least }
  if (most !== null && compareAmounts(amount, most) > 0)
    return { text: labels.form.tooLarge(`${most} ${tickerOf(from)}`), remedy: most }
  return null
}

const AMOUNT = /^(?:0|[1-9]\d*)(?:\.(\d*))?$|^\.(\d+)$/

/** A comma that separates thousands in one language and decimals in another. */
const AMBIGUOUS = /^\d*[1-9]\d*,\d{3}$/

/** With a point: a decimal comma is what many keyboards have. An ambiguous one is kept. Spaces come from copied amounts. */
export function readTyped(typed: string): string {
  const text = typed.replaceAll(/\s/g, '')
  return AMBIGUOUS.test(text) ? text : text.replace(',', '.')
}

/** What is wrong with an amount of `readTyped`. */
export function findMistake(text: string, currency: Currency): string | null {
  if (AMBIGUOUS.test(text)) return labels.form.ambiguous(text, text.replace(',', ''), text.replace(',', '.'))
  const [, decimals = '', decimalsAlone = ''] = AMOUNT.exec(text) ?? []
  if (!AMOUNT.test(text) || !/[1-9]/.test(text)) return labels.form.noAmount
  return (decimals || decimalsAlone).length > currency.decimals
    ? labels.form.decimals(currency.decimals, tickerOf(currency))
    : null
}

/** `.5` and `5.` as the API takes them. */
export const toPlainAmount = (text: string): string => text.replace(/^\./, '0.').replace(/\.$/, '')
