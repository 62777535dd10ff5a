import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const docs = join(import.meta.dirname, '../docs')
const read = (name: string) => readFileSync(join(docs, name), 'utf8')

/** The cells of the table rows below a title, up to the next title. */
function readTable(text: string, title: string): readonly (readonly string[])[] {
  const [section = ''] = (text.split(`\n## ${title}\n`)[1] ?? '').split('\n## ')
  const rows = section.split('\n').filter((line) => line.startsWith('| `'))
  return rows.map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')))
}

const limits = readTable(read('lifecycle.md'), 'Limits of a promise')

test('docs/lifecycle.md states the default of every setting that limits a promise', () => {
  // docs/settings.md is generated from the schemas, and a test compares the two.
  const stated = readTable(read('settings.md'), 'File').map(([setting, value]) => [setting, value] as const)
  expect(limits.length).toBeGreaterThan(0)
  for (const [setting, value] of limits) expect(stated).toContainEqual([setting, value])
  // The guards of a payout's fee limit no promise.
  const guards = stated.filter(([setting]) => setting?.startsWith('`guards.') && !setting.includes('payoutFee'))
  expect(guards.filter(([setting]) => !limits.some(([limit]) => limit === setting))).toEqual([])
})

test('docs/lifecycle.md names a test of every limit', () => {
  for (const [setting, , , link = ''] of limits) {
    const [, name = '', path = ''] = /^\[(.+)\]\((\S+)\)$/.exec(link) ?? []
    expect(readFileSync(join(docs, path), 'utf8'), `${setting} in ${path}`).toContain(name)
  }
})

/** `20 min` and `20m` in seconds. */
const secondsOf = (text: string): number => {
  const [, count = '', unit = ''] = /^(\d+) ?([smhd])/.exec(text) ?? []
  return Number(count) * { s: 1, m: 60, h: 3_600, d: 86_400 }[unit as 's' | 'm' | 'h' | 'd']
}

test.each([
  ['a `rateId`', 'clocks.rateId'],
  ['the lock of a fixed rate', 'clocks.fixedLock'],
  ['the expiry', 'clocks.expiry'],
])('docs/lifecycle.md states the default of the clock: %s', (clock, setting) => {
  const [, stated = ''] = new RegExp(`^\\| ${clock} \\| ([^|]+) \\|`, 'm').exec(read('lifecycle.md')) ?? []
  const [, configured = ''] = readTable(read('settings.md'), 'File').find(([name]) => name === `\`${setting}\``) ?? []
  expect(secondsOf(stated)).toBeGreaterThan(0)
  expect(secondsOf(stated)).toBe(secondsOf(configured.replaceAll('`', '')))
})

test('docs/guards.md states the default of every guard', () => {
  const defaults = new Map(readTable(read('settings.md'), 'File').map(([name = '', value = '']) => [name, value]))
  const guards = readTable(read('guards.md'), 'Guards').flatMap(([names = '', stated = '']) =>
    names
      .split(', ')
      .map((name, n) => [name, defaults.get(name) ?? 'no such setting', stated.split(', ')[n] ?? ''] as const),
  )
  expect(guards.length).toBeGreaterThan(15)
  for (const [name, quoted, stated] of guards) {
    const value = quoted.replaceAll('`', '')
    // A setting without a default follows from the network, which the page says in words.
    if (value === '') expect(stated, name).toMatch(/block intervals/)
    else if (/^\d+[smhd]$/.test(value)) expect(secondsOf(stated), name).toBe(secondsOf(value))
    else expect(/^[\d ]+/.exec(stated)?.[0].replaceAll(' ', ''), name).toBe(value)
  }
})

test('docs/lifecycle.md states the default shares of a partner and of a recipient', () => {
  const settings = readTable(read('settings.md'), 'File')
  expect(read('lifecycle.md')).toContain('the partner or the recipient, who may each use a quarter by default')
  for (const name of ['`limits.partnerPercent`', '`limits.recipientPercent`'])
    expect(settings).toContainEqual(expect.arrayContaining([name, '`25`']))
})
