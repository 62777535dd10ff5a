import { expect, test } from 'vitest'
import { createCheckpointLog, emptyLog } from './checkpoint-log.ts'

test('keeps the newest checkpoints, by number and digest, and the first one as the genesis', () => {
  const clock = { now: () => 1_800_000_000_000, every: () => () => undefined }
  const log = createCheckpointLog(clock, emptyLog(clock), 10)
  expect(log.readFirst()).toBe(0n)
  const added = Array.from({ length: 25 }, () => log.addCheckpoint())
  expect([log.readTip().sequence, log.readFirst()]).toEqual([25n, 16n])
  const isKept = added.map(({ sequence, digest }) => [
    log.findCheckpoint(sequence)?.digest === digest,
    log.findCheckpoint(digest)?.sequence === sequence,
  ])
  expect(isKept.slice(0, 15)).toEqual(Array(15).fill([false, false]))
  expect(isKept.slice(15)).toEqual(Array(10).fill([true, true]))
  expect(log.genesis.sequence).toBe(0n)
  expect(log.readState().checkpoints.size).toBe(20)
})
