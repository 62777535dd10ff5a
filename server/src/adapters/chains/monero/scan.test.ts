import { expect, test } from 'vitest'
import { isLocked, lockOf } from './scan.ts'

// Expected by monerod 0.18: Blockchain::is_tx_spendtime_unlocked.
test.each([
  ['no lock', 0n, false],
  ['a height that the next block has', 101n, false],
  ['a height above it', 102n, true],
  ["the chain's time", 1_800_000_000n, false],
  ["two minutes above the chain's time", 1_800_000_120n, false],
  ["more than two minutes above the chain's time", 1_800_000_121n, true],
])('a lock by %s', (_what, unlockTime, locked) => {
  expect(isLocked(unlockTime, { headHeight: 100, time: 1_800_000_000 })).toBe(locked)
})

test('a lock by the clock holds while the blocks are behind it, whatever the time is here', () => {
  const ended = BigInt(Math.floor(Date.now() / 1000)) - 600n
  const slow = { headHeight: 100, time: Number(ended) - 3_600 }
  expect(isLocked(ended, slow)).toBe(true)
  // Before that the depth is estimated, by blocks of two minutes.
  expect(lockOf(ended, { height: 90, time: Number(ended) - 1_200 })).toBe(11)
})
