import { expect, test } from 'vitest'
import { createGuessQueue } from './guess-queue.ts'

const stranger = { isKnown: false, signal: null }
const known = { isKnown: true, signal: null }

/** Guesses that end when the test says so, and the order in which they began. */
function createGuesses() {
  const queue = createGuessQueue()
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const guess = (name: string, guesser: Parameters<typeof queue.compute>[0]) =>
    queue.compute(guesser, () => {
      begun.push(name)
      return new Promise<void>((resolve) => ends.set(name, resolve))
    })
  return { queue, begun, guess, end: (name: string) => ends.get(name)?.() }
}

test('strangers have 20 places, and the known their own', async () => {
  const { queue } = createGuesses()
  const { promise, resolve } = Promise.withResolvers<void>()
  const held = Array.from({ length: 20 }, () => queue.admit(stranger, () => promise))
  const refused = queue.admit(stranger, () => Promise.reject(new Error('this work must not begin')))
  await expect(refused).rejects.toMatchObject({ code: 'OVERLOADED', retryAfterSeconds: 5 })
  expect(await queue.admit(known, async () => 'admitted')).toBe('admitted')
  resolve()
  await Promise.all(held)
  expect(await queue.admit(stranger, async () => 'admitted')).toBe('admitted')
})

test('work that fails gives its place and its turn back', async () => {
  const { queue } = createGuesses()
  for (let n = 0; n < 30; n++)
    await expect(
      queue.admit(stranger, () => queue.compute(stranger, () => Promise.reject(new Error('no memory')))),
    ).rejects.toThrow('no memory')
})

test('two are computed at a time, the known before strangers, each in the order of arrival', async () => {
  const { begun, guess, end } = createGuesses()
  const order = ['first', 'second', 'stranger 1', 'stranger 2', 'known 1', 'known 2']
  const all = order.map((name) => guess(name, name.startsWith('known') ? known : stranger))
  const expected = ['first', 'second', 'known 1', 'known 2', 'stranger 1', 'stranger 2']
  for (const [n, name] of expected.entries()) {
    await expect.poll(() => begun).toEqual(expected.slice(0, Math.min(n + 2, expected.length)))
    end(name)
  }
  await Promise.all(all)
})

test('a guess whose client disconnects before its turn is not computed', async () => {
  const { begun, guess, end } = createGuesses()
  const running = [guess('first', stranger), guess('second', stranger)]
  const connection = new AbortController()
  const dropped = guess('dropped', { isKnown: false, signal: connection.signal })
  const last = guess('last', stranger)
  connection.abort()
  await expect(dropped).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
  await expect(guess('late', { isKnown: true, signal: connection.signal })).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
  })
  end('first')
  await expect.poll(() => begun).toEqual(['first', 'second', 'last'])
  end('second')
  end('last')
  await Promise.all([...running, last])
})
