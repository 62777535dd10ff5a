import { describe, expect, test } from 'vitest'
import { html, markupOf } from '../../../lib/html.ts'
import { fill, type Language, languages, localeOf } from './locale.ts'

const codes = Object.keys(languages) as Language[]
const others = codes.filter((code) => code !== 'en')

/** Every text by its path, for example `pay.address`. */
function flatten(texts: object, path = ''): readonly (readonly [string, string])[] {
  return Object.entries(texts).flatMap(([name, value]) =>
    typeof value === 'string' ? [[path + name, value] as const] : flatten(value, `${path}${name}.`),
  )
}
const namesIn = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).toSorted()
const isPlural = (path: string) => path.startsWith('confirmations.')

describe('the texts', () => {
  const english = new Map(flatten(languages.en))

  test.each(others)('in %s have the values of the English ones, and none is empty or English', (code) => {
    const texts = flatten(languages[code])
    for (const [path, text] of texts) {
      expect(text.trim(), path).toBe(text)
      expect(text, path).not.toBe('')
      if (isPlural(path)) continue
      expect([path, namesIn(text)]).toEqual([path, namesIn(english.get(path) ?? '')])
      // Words that are the same in another language, such as the French "Confirmations", are short.
      if (text.length > 20) expect(text, path).not.toBe(english.get(path))
    }
    expect(texts.map(([path]) => path).filter((path) => !isPlural(path))).toEqual(
      [...english.keys()].filter((path) => !isPlural(path)),
    )
  })

  test.each(codes)('in %s count by the plural rules of the language', (code) => {
    const { pluralize, texts } = localeOf(code)
    for (const count of [0, 1, 2, 3, 5, 11, 21, 40, 100]) {
      const text = pluralize(texts.confirmations, count)
      expect(text).toContain('{seen}')
      // Arabic names one and two by a word.
      if (code !== 'ar' || count > 2) expect(text).toContain('{needed}')
    }
  })

  test('in Russian and Arabic have a form for each kind of number', () => {
    const formOf = (code: Language, count: number) => localeOf(code).pluralize(languages[code].confirmations, count)
    expect(formOf('ru', 1)).toMatch(/подтверждения$/)
    expect(formOf('ru', 5)).toMatch(/подтверждений$/)
    expect(formOf('ru', 21)).toMatch(/подтверждения$/)
    expect(formOf('ar', 2)).toMatch(/تأكيدين$/)
    expect(formOf('ar', 3)).toMatch(/تأكيدات$/)
    expect(formOf('ar', 12)).toMatch(/تأكيدًا$/)
  })

  // The form is chosen by the number that is needed, so the noun stands beside that number: "1 sur 2 confirmations".
  test.each(['en', 'es', 'pt', 'fr', 'de', 'ru', 'tr'] as const)(
    'in %s name confirmations after the number that is needed',
    (code) => {
      for (const form of Object.values(languages[code].confirmations)) expect(form).toMatch(/\{needed\} \p{L}+$/u)
    },
  )
})

/** Literal translations, words of other trades, and second words for one thing. */
const wrongWords: Readonly<Partial<Record<Language, RegExp>>> = {
  // `tipo` alone is no exchange rate, and a price that was too high does not recover.
  es: /\btipo\b(?! de cambio)|\bpersona\b|se recupere/,
  pt: /\bpessoa\b|se recuperar|Solicitações demais/,
  fr: /\b(?:une|Une) personne\b|valable|monnaie/,
  // Said of parcels; a payment has a `Rückerstattung`.
  de: /Mensch|[Rr]ücksend|zurückgesendet/,
  // Said of accounts; an exchange has a payment.
  ru: /пополнени|ищутся|Номер обмена/,
  tr: /Olmadı|görüldü|Takas numarası/,
  zh: /网络费|离开了?区块链|发现/,
  ja: /の取引|を明らかにします/,
  // Said of goods; a payment has an `استرداد`. An id is no number.
  ar: /إرجاع|تُرجع|نُرجع|رقم العملية/,
}

test.each(Object.entries(wrongWords))(
  'the texts in %s have no literal translations and no words of other trades',
  (code, words) => {
    expect(flatten(languages[code as Language]).filter(([, text]) => words.test(text))).toEqual([])
  },
)

test('a line in French does not break before a sign that a space precedes', () => {
  expect(flatten(languages.fr).filter(([, text]) => / [:;?!»]|« /.test(text))).toEqual([])
  const spaced = flatten(languages.fr).filter(([, text]) => /[:?]/.test(text))
  expect(spaced.length).toBeGreaterThan(6)
  expect(spaced.filter(([, text]) => !/[\u00a0\u202f][:?]/.test(text))).toEqual([])
})

test.each([
  ['en', 'November 9, 2026 at 08:06 UTC'],
  ['es', '9 de noviembre de 2026 a las 08:06 UTC'],
  ['pt', '9 de novembro de 2026 às 08:06 UTC'],
  ['fr', '9 novembre 2026 à 08:06 UTC'],
  ['de', '9. November 2026 um 08:06 UTC'],
  ['ru', '9 ноября 2026 г. в 08:06 UTC'],
  ['tr', '9 Kasım 2026 08:06 UTC'],
  ['zh', '2026年11月9日 UTC 08:06'],
  ['ja', '2026年11月9日 08:06 UTC'],
  ['ar', '9 نوفمبر 2026 في 08:06 UTC'],
] as const)('times in %s have the form of the language, with Latin digits: %s', (code, text) => {
  // Some spaces are unbreakable.
  const shown = localeOf(code).formatTime(new Date('2026-11-09T08:06:00Z')).replaceAll(/\s/g, ' ')
  expect(shown).toBe(text)
})

test.each([
  ['en', { 30: '30 seconds', 1800: '30 minutes', 10800: '3 hours' }],
  ['de', { 30: '30 Sekunden', 1800: '30 Minuten', 10800: '3 Stunden' }],
  ['ru', { 31: '31 секунда', 1260: '21 минута', 10800: '3 часа' }],
  ['ar', { 30: '30 ثانية', 1800: '30 دقيقة', 10800: '3 ساعات' }],
] as const)('durations in %s: %j', (code, texts) => {
  for (const [seconds, text] of Object.entries(texts)) expect(localeOf(code).formatDuration(Number(seconds))).toBe(text)
})

test('values are escaped when they are put into a text', () => {
  const text = fill('Send {amount} to <{place}>.', { amount: '<b>1</b>', place: html`<i>here</i>` })
  expect(markupOf(text)).toBe('Send &lt;b&gt;1&lt;/b&gt; to &lt;<i>here</i>&gt;.')
})
