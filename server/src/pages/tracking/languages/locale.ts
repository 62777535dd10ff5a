import { toThousandths } from '../../../core/http/encoding.ts'
import { type Html, type HtmlPart, html } from '../../../lib/html.ts'
import { ar } from './ar.ts'
import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { ja } from './ja.ts'
import { pt } from './pt.ts'
import { ru } from './ru.ts'
import type { PluralTexts, Texts } from './texts.ts'
import { tr } from './tr.ts'
import { zh } from './zh.ts'

export const languages = { en, es, pt, fr, de, ru, tr, zh, ja, ar } as const satisfies Readonly<Record<string, Texts>>
export type Language = keyof typeof languages

export type Locale = Readonly<{
  language: Language
  dir: 'ltr' | 'rtl'
  texts: Texts
  formatNumber(value: number): string
  /** To the minute, in UTC. */
  formatTime(at: Date): string
  formatDuration(seconds: number): string
  pluralize(forms: PluralTexts, count: number): string
}>

/** Digits are Latin in every language, as in the amounts and addresses beside them. */
const toTag = (language: Language): string => `${language}-u-nu-latn`

const isLanguage = (text: string): text is Language => Object.hasOwn(languages, text)

const locales = new Map<Language, Locale>()

export function localeOf(language: Language): Locale {
  const known = locales.get(language)
  if (known !== undefined) return known
  const created = createLocale(language)
  locales.set(language, created)
  return created
}

function createLocale(language: Language): Locale {
  const tag = toTag(language)
  const numbers = new Intl.NumberFormat(tag)
  const plurals = new Intl.PluralRules(language)
  const times = new Intl.DateTimeFormat(tag, {
    ...{ year: 'numeric', month: 'long', day: 'numeric', hour: '2-digit', minute: '2-digit' },
    ...{ hourCycle: 'h23', timeZone: 'UTC', timeZoneName: 'short' },
  })
  const durationIn = (unit: 'second' | 'minute' | 'hour') =>
    new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay: 'long' })
  const [seconds, minutes, hours] = [durationIn('second'), durationIn('minute'), durationIn('hour')]
  return {
    language,
    dir: language === 'ar' ? 'rtl' : 'ltr',
    texts: languages[language],
    formatNumber: (value) => numbers.format(value),
    formatTime: (at) => times.format(at),
    formatDuration: (count) => {
      if (count < 90) return seconds.format(count)
      return count < 90 * 60 ? minutes.format(Math.ceil(count / 60)) : hours.format(Math.ceil(count / 3_600))
    },
    pluralize: (forms, count) => forms[plurals.select(count)] ?? forms.other,
  }
}

/** The language of `?lang=`, else the preferred one of Accept-Language (RFC 9110 §12.5.4) that there is, else English. */
export function chooseLanguage(query: string | undefined, header: string | undefined): Language {
  if (query !== undefined && isLanguage(query)) return query
  const ranges = (header ?? '').slice(0, 500).split(',').map(readRange)
  const preferred = ranges.filter(({ weight }) => weight > 0).toSorted((a, b) => b.weight - a.weight)
  for (const { primary } of preferred) if (isLanguage(primary)) return primary
  return 'en'
}

function readRange(text: string): Readonly<{ primary: string; weight: number }> {
  const [tag = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((one) => one.startsWith('q='))?.slice(2)
  const [primary = ''] = tag.split('-')
  return { primary, weight: toThousandths(weight ?? '1') }
}

/** Puts values, escaped, in place of the `{names}` of a text. */
export function fill(text: string, values: Readonly<Record<string, HtmlPart>>): Html {
  return html`${text.split(/\{(\w+)\}/).map((part, index) => (index % 2 === 0 ? part : (values[part] ?? '')))}`
}

/** Text that keeps its order among text of another direction: amounts, addresses, hashes. */
export const isolate = (text: HtmlPart): Html => html`<bdi dir="ltr">${text}</bdi>`
