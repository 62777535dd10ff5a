import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLog, secretNames } from './log.ts'

function collect(level: 'debug' | 'info' | 'warn' = 'debug', pretty = false) {
  const lines: string[] = []
  const log = createLog({ level, pretty, destination: { write: (line) => void lines.push(line) } })
  return { log, lines }
}

const isSecret = (name: string) => (secretNames as readonly string[]).includes(name)

const CANARY = 'canary-7f3a9b'

describe('the log', () => {
  test.each(secretNames)('masks %s at every depth', (name) => {
    const { log, lines } = collect()
    log.info({ [name]: CANARY }, 'a')
    log.info({ headers: { [name]: CANARY } }, 'b')
    log.info({ request: { headers: { [name]: CANARY } } }, 'c')
    log.child({ component: 'x' }).info({ [name]: CANARY }, 'd')
    expect(lines).toHaveLength(4)
    expect(lines.join('')).not.toContain(CANARY)
  })

  test('masks keys and passwords that a library wrote into a message, in causes too', () => {
    const { log, lines } = collect()
    const key = `sy_live_A1b2C3d4_${'k'.repeat(43)}_0aB9zZ`
    const cause = new Error(`connect to postgres://swapyard:${CANARY}@127.0.0.1:5432/x failed`)
    log.error({ err: new Error(`key ${key} refused`, { cause }) }, 'request failed')
    expect(lines.join('')).not.toContain(CANARY)
    expect(lines.join('')).not.toContain('kkkkk')
    expect(lines.join('')).toContain('sy_live_A1b2C3d4_[secret]')
  })

  test('writes no other fields of an error: drivers put parameters there', () => {
    const { log, lines } = collect()
    log.error({ err: Object.assign(new Error('failed'), { code: '23505', parameters: [CANARY] }) }, 'statement failed')
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'error',
      msg: 'statement failed',
      err: { message: 'failed', code: '23505' },
    })
    expect(lines.join('')).not.toContain(CANARY)
  })

  test('a flat line is what JSON makes of its fields, whatever they are called and hold', () => {
    const name = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('ip', ...secretNames))
    const value = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.boolean(),
      fc.double(),
      fc.constant(undefined),
    )
    fc.assert(
      fc.property(fc.dictionary(name, value), (drawn) => {
        const { level: _, time: _1, msg: _2, __proto__: _3, ...fields } = drawn
        const { log, lines } = collect()
        log.info(fields, 'a fact')
        log.child(fields).info({}, 'a fact')
        const masked = Object.entries(fields).map(([key, held]) => [key, isSecret(key) ? '[secret]' : held])
        for (const line of lines) {
          const { time, ...said } = JSON.parse(line)
          expect(said).toEqual(
            JSON.parse(JSON.stringify({ level: 'info', ...Object.fromEntries(masked), msg: 'a fact' })),
          )
        }
        expect(lines).toHaveLength(2)
      }),
    )
  })

  test('keeps to its level, and has a short form', () => {
    const { log, lines } = collect('info', true)
    log.debug({}, 'unseen')
    log.info({ network: 'btc', blocks: 3 }, 'blocks scanned')
    expect(lines).toHaveLength(1)
    log.child({ network: 'btc' }).info({ held: [1] }, 'blocks scanned')
    expect(lines[1]).toContain(' info  blocks scanned network=btc held=[1]')
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} info {2}blocks scanned network=btc blocks=3\n$/)
  })

  test.each([
    ['a normal end', 'process.exitCode = 3', 3],
    ['process.exit', 'process.exit(3)', 3],
    ['an uncaught error', 'throw new Error("fatal")', 1],
    ['a rejection without a handler', 'Promise.reject(new Error("fatal"))', 1],
  ])('loses no line at %s and keeps their order, long and multi-byte lines too', (_name, end, code) => {
    const program = `
      const { createLog } = await import(${JSON.stringify(join(import.meta.dirname, 'log.ts'))})
      const log = createLog({ level: 'info', pretty: false })
      for (let n = 0; n < 3_000; n++) log.info({ n, text: n % 1_000 === 7 ? '€'.repeat(100_000) : 'ünïcode' }, 'line')
      ${end}`
    const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    })
    const lines = stdout.trimEnd().split('\n')
    expect([status, lines.length]).toEqual([code, 3_000])
    for (const [n, line] of lines.entries())
      expect(JSON.parse(line)).toMatchObject({ n, text: n % 1_000 === 7 ? '€'.repeat(100_000) : 'ünïcode' })
  })
})
