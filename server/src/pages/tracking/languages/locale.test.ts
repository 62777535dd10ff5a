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
