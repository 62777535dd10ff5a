import { expect, test } from 'vitest'
import { isLocked, lockOf } from './scan.ts'

// Expected results of monerod 0.18, Blockchain::is_tx_spendtime_unlocked.
test.each([
  ['no lock', 0n, false],
  ['the height of the next block', 101n, false],
  ['the height after it', 102n, true],
  ["the chain's time", 1_800_000_000n, false],
  ["two minutes above the chain's time", 1_800_000_120n, false],
  ["more than two minutes above the chain's time", 1_800_000_121n, true],
])('isLocked with %s', (_what, unlockTime, locked) => {
  expect(isLocked(unlockTime, { headHeight: 100, time: 1_800_000_000 })).toBe(locked)
})

test('a lock by time depends on the chain time, not on our clock', () => {
  const ended = BigInt(Math.floor(Date.now() / 1000)) - 600n
  const slow = { headHeight: 100, time: Number(ended) - 3_600 }
  expect(isLocked(ended, slow)).toBe(true)
  // The required confirmations are an estimate with two minutes per block.
  expect(lockOf(ended, { height: 90, time: Number(ended) - 1_200 })).toBe(11)
})
