import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { createSavedState } from './saved-state.ts'

const folder = mkdtempSync(join(tmpdir(), 'swapyard-saved-'))
afterAll(() => rmSync(folder, { recursive: true }))

let nowMs = 0
let writeMs = 0
let tick = () => undefined as unknown
let writes = 0
let chain = { blocks: 0, pending: 0 }

beforeEach(() => {
  ;[nowMs, writeMs, writes, chain] = [0, 0, 0, { blocks: 0, pending: 0 }]
})

const timing = {
  now: () => nowMs,
  startTicks: (call: () => void) => {
    tick = call
    return () => {
      tick = () => undefined
    }
  },
}

function open(name: string) {
  const saved = createSavedState<{ blocks: number }>({ network: 'sol', path: join(folder, name), version: 1 }, timing)
  const keep = () =>
    saved.keep(
      () => {
        writes += 1
        nowMs += writeMs
        return { blocks: chain.blocks }
      },
      () => `${chain.blocks} ${chain.pending}`,
    )
  return { saved, keep }
}

const passSeconds = (seconds: number) => {
  for (let n = 0; n < seconds; n += 5) {
    nowMs += 5_000
    tick()
  }
}

test('writes a chain at the start, and again only after it has changed', () => {
  const { saved, keep } = open('changed')
  expect(saved.read()).toBeNull()
  const kept = keep()
  expect(writes).toBe(1)
  passSeconds(60)
  expect(writes).toBe(1)
  chain.blocks = 7
  passSeconds(60)
  expect(writes).toBe(2)
  expect(saved.read()).toEqual({ blocks: 7 })
  chain.pending = 1
  passSeconds(5)
  expect(writes).toBe(3)
  kept.stop()
  expect(writes).toBe(3)
})

test('writes at the stop what changed since the last write', () => {
  const { saved, keep } = open('stopped')
  const kept = keep()
  chain.blocks = 3
  kept.stop()
  expect(saved.read()).toEqual({ blocks: 3 })
})

test('spends at most a twentieth of the time with writes', () => {
  const { keep } = open('slow')
  // Two seconds each: the next one is due after forty.
  writeMs = 2_000
  keep()
  for (let second = 0; second < 400; second += 5) {
    chain.blocks += 1
    passSeconds(5)
  }
  expect(writes).toBeGreaterThan(5)
  expect(writes * writeMs).toBeLessThanOrEqual(nowMs / 20 + writeMs)
})
