import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventTypes } from '@swapyard/schema'
import { describe, expect, test } from 'vitest'
import { exchangeStatuses } from '../server/src/exchange/domain/exchange.ts'
import { groupsOf, languages, partnerPages, programOf, readPage, singlesOf } from './support/page-samples.ts'

/** test/scenarios/guide-samples.test.ts runs what stands in three languages. Here is the rest. */

const root = join(import.meta.dirname, '..')
const SAMPLES_TEST = 'test/scenarios/guide-samples.test.ts'
const THIS_TEST = 'test/partner-pages.test.ts'

type Exception = Readonly<{ languages: string; why: string; test: string }>

/** Pages with blocks that are no sample in three languages: which, why, and the file that runs or reads them. */
const exceptions: Readonly<Record<string, Exception>> = {
  'docs/errors.md': { languages: 'json', why: 'the body of an error', test: THIS_TEST },
  'docs/guides/swap.md': {
    languages: 'ts ts ts',
    why: 'curl and the standard library of Python cannot sign',
    test: 'test/scenarios/documented-examples.test.ts',
  },
  'docs/partners/start.md': {
    languages: 'sh',
    why: 'a command of npm',
    test: 'test/support/installed-sdk.ts',
  },
  'docs/partners/webhooks.md': { languages: 'json', why: 'the body of an event', test: THIS_TEST },
  'docs/partners/widget.md': {
    languages: 'html html html http html',
    why: 'for pages of browsers',
    test: 'test/pages/widget/guide.test.ts',
  },
  'sdk/README.md': {
    languages: 'sh ts sh sh',
    why: 'the page of the client library and its command line',
    test: SAMPLES_TEST,
  },
}

describe('the blocks of code of the pages for partners', () => {
  test('are each run: in three languages, or as a listed exception', () => {
    for (const page of partnerPages) {
      const hasSamples = groupsOf(page).length > 0
      // The output of the samples, which is compared with what they print.
      const others = singlesOf(page).filter(({ language }) => !(hasSamples && language === 'text'))
      const found = others.map(({ language }) => language).join(' ')
      expect([page, found]).toEqual([page, exceptions[page]?.languages ?? ''])
      const { test: file } = exceptions[page] ?? { test: SAMPLES_TEST }
      expect([file, existsSync(join(root, file))]).toEqual([file, true])
      if (found !== '') expect(readFileSync(join(root, file), 'utf8')).toContain(page)
      if (hasSamples) expect(readFileSync(join(root, SAMPLES_TEST), 'utf8')).toContain(`'${page}'`)
    }
    expect(Object.keys(exceptions).filter((page) => !partnerPages.includes(page))).toEqual([])
    expect(partnerPages.filter((page) => groupsOf(page).length > 0).length).toBeGreaterThan(5)
  })

  test('in JSON can be parsed', () => {
    const blocks = partnerPages.flatMap((page) => singlesOf(page).filter(({ language }) => language === 'json'))
    for (const { code } of blocks) expect(JSON.parse(code)).toBeInstanceOf(Object)
    expect(blocks.length).toBe(2)
  })

  test('print no status as a constant, and compute no amount in floating point', () => {
    const constant = new RegExp(`(?:console\\.log|print|echo) ?\\(?['"](?:${exchangeStatuses.join('|')})['"]`)
    const floating = /toFixed|parseFloat|\bfloat\(|\* ?0?\.\d|\btrunc\b/
    for (const page of partnerPages) {
      for (const language of languages) {
        const code = programOf(page)[language]
        expect([page, language, constant.exec(code)?.[0], floating.exec(code)?.[0]]).toEqual([
          page,
          language,
          undefined,
          undefined,
        ])
      }
    }
    expect(constant.test("console.log('refunded')")).toBe(true)
    expect(floating.test('min * 0.9')).toBe(true)
  })
})

describe('the guide of webhooks', () => {
  const page = readPage('docs/partners/webhooks.md')
  const types = [...eventTypes, 'webhook.test']

  test('names every event type, and none that does not exist', () => {
    expect(types.filter((type) => !page.includes(`\`${type}\``))).toEqual([])
    const named = [...page.matchAll(/[`'"]((?:exchange|swap|partner|webhook)\.[a-z_]+)[`'"]/g)]
    expect(named.map(([, type]) => type).filter((type) => !types.includes(type ?? ''))).toEqual([])
  })

  test('is the only one', () => {
    expect(existsSync(join(root, 'docs/webhooks.md'))).toBe(false)
  })
})

test('the page of the client library installs it as the first page does, from the address that the server has', () => {
  const [first, library] = ['docs/partners/start.md', 'sdk/README.md'].map((page) =>
    singlesOf(page).find(({ language }) => language === 'sh'),
  )
  expect(library).toEqual(first)
  expect(first?.code).toBe('npm install http://127.0.0.1:8080/docs/swapyard-sdk.tgz\n')
})
