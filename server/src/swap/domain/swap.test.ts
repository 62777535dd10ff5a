import { describe, expect, it } from 'vitest'
import { decideProgress, type Swap, type TransactionObservation } from './swap.ts'

const limits = { confirmations: 3, finalityBlocks: 10, droppedMs: 60_000 }
const block = { height: 100, hash: '0xb' }
const included = (confirmations: number, ok = true): TransactionObservation => ({
  ...{ kind: 'included', block, confirmations, ok },
  ...(ok ? { received: 5n, fee: 1n } : { received: null, fee: null }),
})
const NOW = 1_000_000_000
const unseen = { kind: 'unseen', chainTimeMs: NOW } as const
const sent = { status: 'pending', reason: null, block: null } as const
const decide = (
  observation: TransactionObservation,
  unseenMs = 0,
  deadline = NOW / 1000 + 600,
  changes: Partial<Pick<Swap, 'status' | 'reason' | 'block'>> = {},
) =>
  decideProgress(
    { expiry: { by: 'time', at: deadline }, ...sent, ...changes },
    observation,
    { nowMs: NOW, lastSeenMs: NOW - unseenMs },
    limits,
  )

describe('decideProgress', () => {
  it('confirms up to the depth, finishes there, and becomes final at finality', () => {
    expect(decide(included(2))).toEqual({
      ...{ status: 'confirming', reason: null, receivedUnits: 5n, feeUnits: 1n, block, isFinal: false },
    })
    expect(decide(included(3))).toMatchObject({ status: 'finished', receivedUnits: 5n, isFinal: false })
    expect(decide(included(9))).toMatchObject({ status: 'finished', isFinal: false })
    expect(decide(included(10))).toMatchObject({ status: 'finished', feeUnits: 1n, isFinal: true })
  })

  it('reports a revert only at the depth, because a reorg may change it', () => {
    expect(decide(included(1, false))).toMatchObject({ status: 'confirming', receivedUnits: null })
    expect(decide(included(3, false))).toMatchObject({ status: 'failed', reason: 'reverted', isFinal: false })
    expect(decide(included(10, false))).toMatchObject({ status: 'failed', reason: 'reverted', isFinal: true })
  })

  it.each([
    ['finished', null, true],
    ['failed', 'reverted', false],
  ] as const)('keeps %s in the same block if the head of a node is lower than before', (status, reason, ok) => {
    const before = { status, reason, block }
    expect(decide(included(1, ok), 0, undefined, before)).toMatchObject({ status, reason, block, isFinal: false })
    expect(decide(included(10, ok), 0, undefined, before)).toMatchObject({ status, reason, isFinal: true })
    // In another block it is confirmed again.
    const moved = { ...before, block: { height: 99, hash: '0xa' } }
    expect(decide(included(1, ok), 0, undefined, moved)).toMatchObject({ status: 'confirming', reason: null })
  })

  it('waits for pending transactions, and for a limited time for unknown ones', () => {
    expect(decide({ kind: 'pending' }, 10 ** 9)).toMatchObject({ status: 'pending', block: null, isFinal: false })
    expect(decide({ kind: 'unseen' }, 59_999)).toMatchObject({ status: 'pending', isFinal: false })
    expect(decide({ kind: 'unseen' }, 60_000)).toMatchObject({ status: 'failed', reason: 'dropped', isFinal: false })
  })

  it.each(['height', 'epoch'] as const)('waits for the proof of an expiry by %s, however long it is unknown', (by) => {
    const decideBy = (observation: TransactionObservation, reason: Swap['reason'] = null) => {
      const at = { nowMs: NOW, lastSeenMs: NOW - 10 ** 9 }
      return decideProgress({ expiry: { by, at: 150 }, ...sent, reason }, observation, at, limits)
    }
    expect(decideBy({ kind: 'unseen' })).toMatchObject({ status: 'pending', reason: null, isFinal: false })
    expect(decideBy({ kind: 'unseen' }, 'rejected')).toMatchObject({ status: 'failed', reason: 'rejected' })
    expect(decideBy({ kind: 'expired' })).toMatchObject({ status: 'failed', reason: 'expired', isFinal: true })
  })

  it('makes a dropped transaction final after its deadline by the time of the blocks', () => {
    const passed = NOW / 1000 - 61
    expect(decide(unseen, 60_000, passed)).toMatchObject({ reason: 'dropped', isFinal: true })
    expect(decide(unseen, 60_000, passed + 2)).toMatchObject({ reason: 'dropped', isFinal: false })
    expect(decide(unseen, 0, passed)).toMatchObject({ status: 'pending', isFinal: false })
    // A sequencer that has stopped: its next blocks may have older times than our clock.
    expect(decide({ ...unseen, chainTimeMs: NOW - 60_999 }, 10 ** 9, passed)).toMatchObject({
      ...{ status: 'failed', reason: 'dropped', isFinal: false },
    })
    expect(decide({ kind: 'unseen' }, 10 ** 9, passed)).toMatchObject({ reason: 'dropped', isFinal: false })
  })

  it('keeps a refused transaction rejected until a node knows it or its deadline passes', () => {
    const rejected = (observation: TransactionObservation, deadline?: number) =>
      decide(observation, 0, deadline, { status: 'failed', reason: 'rejected' })
    expect(rejected({ kind: 'unseen' })).toMatchObject({ status: 'failed', reason: 'rejected', isFinal: false })
    expect(rejected(unseen, NOW / 1000 - 61)).toMatchObject({ reason: 'rejected', isFinal: true })
    expect(rejected({ kind: 'pending' })).toMatchObject({ status: 'pending', reason: null, isFinal: false })
    expect(rejected(included(3))).toMatchObject({ status: 'finished', reason: null, feeUnits: 1n })
  })

  it('fails finally if another transaction used its nonce', () => {
    expect(decide({ kind: 'replaced' })).toMatchObject({ status: 'failed', reason: 'replaced', isFinal: true })
  })
})
