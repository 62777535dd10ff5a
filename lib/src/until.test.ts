import { expect, test } from 'vitest'
import { until } from './until.ts'

test('returns the first truthy value', async () => {
  const values = [null, false, undefined, 'ready']
  expect(await until('it is ready', () => values.shift(), { timeoutMs: 1_000, intervalMs: 1 })).toBe('ready')
})

test('names what it waited for, and why, once the time is over', async () => {
  const never = until('it is ready', () => null, { timeoutMs: 5, intervalMs: 1, explain: async () => 'no disk' })
  await expect(never).rejects.toThrow('not within 5 ms: it is ready; no disk')
})

test('passes an error of the look through', async () => {
  const failing = until('it is ready', () => Promise.reject(new Error('broken')), { timeoutMs: 1_000 })
  await expect(failing).rejects.toThrow('broken')
})
