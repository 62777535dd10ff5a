import { describe, expect, it } from 'vitest'
import { runSingly } from './coalesce.ts'

/** Work that runs until the test ends it. */
function pausedWork() {
  const started: string[] = []
  const ends: ((error?: Error) => void)[] = []
  const run = runSingly((key) => {
    started.push(key)
    return new Promise((resolve, reject) => {
      ends.push((error) => (error ? reject(error) : resolve()))
    })
  })
  const end = async (error?: Error) => {
    ends.shift()?.(error)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { started, run, end }
}

describe('work that runs singly', () => {
  it('runs once more for all who asked while it ran, and they do not wait', async () => {
    const { started, run, end } = pausedWork()
    const first = run('eth')
    await Promise.all([run('eth'), run('eth')])
    expect(started).toEqual(['eth'])
    await end()
    expect(started).toEqual(['eth', 'eth'])
    await end()
    await first
    expect(started).toHaveLength(2)
  })

  it('keeps keys apart', async () => {
    const { started, run, end } = pausedWork()
    const runs = [run('eth'), run('bsc')]
    expect(started).toEqual(['eth', 'bsc'])
    await end()
    await end()
    await Promise.all(runs)
  })

  it('tells of a failure, and runs again when it is asked', async () => {
    const { started, run, end } = pausedWork()
    const first = run('eth')
    const failed = expect(first).rejects.toThrow('no')
    await run('eth')
    await end(new Error('no'))
    await failed
    const second = run('eth')
    await end()
    await second
    expect(started).toHaveLength(2)
  })
})
