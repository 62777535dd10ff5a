import { describe, expect, it } from 'vitest'
import { decideProgress, type Swap, type TransactionObservation } from './swap.ts'

const limits = { confirmations: 3, finalityBlocks: 10, droppedMs: 60_000 }
const block = { height: 100, hash: '0xb' }
const included = (confirmations: number, ok = true): TransactionObservation => ({
  ...{ kind: 'included', block, confirmations, ok },
  ...(ok ? { received: 5n, fee: 1n } : { received: null, fee: null }),
})
const NOW = 1_000_000_000
const judge = (sight: TransactionObservation, unseenMs = 0, deadline = NOW / 1000 + 600, reason: Swap['reason'] = null) =>
  decideProgress({ deadline, reason }, sight, { nowMs: NOW, seenMs: NOW - unseenMs }, limits)

describe('judgeSwap', () => {
  it('confirms up to the depth, finishes there, and looks on until finality', () => {
    expect(judge(included(2))).toEqual({
      ...{ status: 'confirming', reason: null, receivedUnits: 5n, feeUnits: 1n, block, isFinal: false },
    })
    expect(judge(included(3))).toMatchObject({ status: 'finished', receivedUnits: 5n, isFinal: false })
    expect(judge(included(9))).toMatchObject({ status: 'finished', isFinal: false })
    expect(judge(included(10))).toMatchObject({ status: 'finished', feeUnits: 1n, isFinal: true })
  })

  it('tells a revert only at the depth: a reorg may turn it', () => {
    expect(judge(included(1, false))).toMatchObject({ status: 'confirming', receivedUnits: null })
    expect(judge(included(3, false))).toMatchObject({ status: 'failed', reason: 'reverted', isFinal: false })
    expect(judge(included(10, false))).toMatchObject({ status: 'failed', reason: 'reverted', isFinal: true })
  })

  it('waits for what nodes know, and for a while for what they know no more', () => {
    expect(judge({ kind: 'pending' }, 10 ** 9)).toMatchObject({ status: 'pending', block: null, isFinal: false })
    expect(judge({ kind: 'unseen' }, 59_999)).toMatchObject({ status: 'pending', isFinal: false })
    expect(judge({ kind: 'unseen' }, 60_000)).toMatchObject({ status: 'failed', reason: 'dropped', isFinal: false })
  })

  it('gives a dropped one up when its deadline has passed, too', () => {
    const passed = NOW / 1000 - 61
    expect(judge({ kind: 'unseen' }, 60_000, passed)).toMatchObject({ reason: 'dropped', isFinal: true })
    expect(judge({ kind: 'unseen' }, 60_000, passed + 2)).toMatchObject({ reason: 'dropped', isFinal: false })
    expect(judge({ kind: 'unseen' }, 0, passed)).toMatchObject({ status: 'pending', isFinal: false })
  })

  it('leaves a refused one refused until it is seen, or its deadline has passed', () => {
    const rejected = (sight: TransactionObservation, deadline?: number) => judge(sight, 0, deadline, 'rejected')
    expect(rejected({ kind: 'unseen' })).toMatchObject({ status: 'failed', reason: 'rejected', isFinal: false })
    expect(rejected({ kind: 'unseen' }, NOW / 1000 - 61)).toMatchObject({ reason: 'rejected', isFinal: true })
    expect(rejected({ kind: 'pending' })).toMatchObject({ status: 'pending', reason: null, isFinal: false })
    expect(rejected(included(3))).toMatchObject({ status: 'finished', reason: null, feeUnits: 1n })
  })

  it('ends where its nonce is used by another', () => {
    expect(judge({ kind: 'replaced' })).toMatchObject({ status: 'failed', reason: 'replaced', isFinal: true })
  })
})
