import { expect, test } from 'vitest'
import { retry } from './retry.ts'

const quick = { attempts: 3, delayMs: 1, delayMaxMs: 2 }

test('what may be repeated is, up to the attempts, and the last failure is thrown', async () => {
  const seen: number[] = []
  const work = async (attempt: number): Promise<string> => {
    seen.push(attempt)
    if (attempt < 3) throw new Error(`failure ${attempt}`)
    return 'done'
  }
  expect(await retry(work, { ...quick, when: () => true })).toBe('done')
  expect(seen).toEqual([1, 2, 3])
  await expect(retry(work, { ...quick, attempts: 2, when: () => true })).rejects.toThrow('failure 2')
})

test('what may not be repeated is not', async () => {
  let calls = 0
  const work = async (): Promise<never> => {
    calls++
    throw new Error('no')
  }
  await expect(retry(work, { ...quick, when: () => false })).rejects.toThrow('no')
  expect(calls).toBe(1)
})
