import { expect, test } from 'vitest'
import { until } from '../../../test/support/until.ts'
import type { Log } from '../lib/log.ts'
import { repeatForEach, spread } from './repeat.ts'

test('a chain that does not answer delays the work for no other chain', async () => {
  const warnings: unknown[] = []
  const log = { warn: (fields: object) => void warnings.push(fields) } as unknown as Log
  const networks = new Map(['xmr', 'btc', 'eth'].map((id) => [id, id]))
  const counts = new Map<string, number>()
  const { promise: hanging, resolve: release } = Promise.withResolvers<void>()
  const loops = repeatForEach({ log, networks }, 1, 'work failed', async (id) => {
    counts.set(id, (counts.get(id) ?? 0) + 1)
    if (id === 'xmr') await hanging
    if (id === 'eth') throw new Error('no answer')
  })
  await until('others are repeated', async () => (counts.get('btc') ?? 0) > 2 && (counts.get('eth') ?? 0) > 2)
  expect(counts.get('xmr')).toBe(1)
  expect(warnings).toContainEqual({ network: 'eth', err: expect.any(Error) })
  release()
  await Promise.all(loops.map((loop) => loop.stop()))
})

test('the first turns of fifteen chains are spread over five seconds, or over a shorter pace', () => {
  const starts = (paceMs: number) => Array.from({ length: 15 }, (_, n) => spread(paceMs, n, 15))
  expect(starts(60_000).slice(0, 3)).toEqual([0, 333, 666])
  expect(starts(60_000).at(-1)).toBe(4_666)
  expect(starts(3_000).at(-1)).toBe(2_800)
})
