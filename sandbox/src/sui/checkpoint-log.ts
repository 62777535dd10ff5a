/* The checkpoints and epochs of a chain. */
import { type Checkpoint, createCheckpoint } from './checkpoints.ts'
import type { Clock } from './clock.ts'
import type { ExecutedTransaction } from './ledger.ts'

export type Epoch = Readonly<{ number: bigint; startMs: number; firstCheckpoint: bigint }>
type EndedEpoch = Epoch & Readonly<{ endMs: number; lastCheckpoint: bigint }>

export type CheckpointLog = Readonly<{
  genesis: Checkpoint
  readState(): LogState
  readTip(): Checkpoint
  /** Sequence number of the oldest checkpoint that is kept. */
  readFirst(): bigint
  readEpoch(): Epoch
  findEndedEpoch(number: bigint): EndedEpoch | undefined
  /** By sequence number or digest. */
  findCheckpoint(by: bigint | string): Checkpoint | undefined
  /** The next checkpoint contains it. */
  append(transaction: ExecutedTransaction): void
  /** Transactions that wait for the next checkpoint. */
  countPending(): number
  addCheckpoint(): Checkpoint
  /** Closes the epoch with a last checkpoint. */
  endEpoch(): Epoch
  /** Returns the function that removes the listener. */
  onCheckpoint(listener: (checkpoint: Checkpoint) => void): () => void
}>

/** Everything that a log holds. It can be written to a file and read again. */
export type LogState = Readonly<{
  checkpoints: Map<bigint | string, Checkpoint>
  ended: Map<bigint, EndedEpoch>
  genesis: Checkpoint
  tip: Checkpoint
  pending: readonly ExecutedTransaction[]
  epoch: Epoch
}>

export function emptyLog(clock: Clock): LogState {
  const genesis = createCheckpoint(null, {
    ...{ epoch: 0n, timestampMs: clock.now(), isLastOfEpoch: false, transactions: [] },
  })
  const epoch = { number: 0n, startMs: genesis.timestampMs, firstCheckpoint: 0n }
  const checkpoints = new Map<bigint | string, Checkpoint>([
    [genesis.sequence, genesis],
    [genesis.digest, genesis],
  ])
  return { ...{ checkpoints, ended: new Map(), genesis, tip: genesis, pending: [], epoch } }
}

/** Checkpoints that are kept: of seven hours at four a second, half a kilobyte each. */
const checkpointsMax = 100_000

export function createCheckpointLog(clock: Clock, state: LogState, keptMax = checkpointsMax): CheckpointLog {
  const { checkpoints, ended, genesis } = state
  const listeners = new Set<(checkpoint: Checkpoint) => void>()
  let { tip, epoch } = state
  let pending: ExecutedTransaction[] = [...state.pending]

  const store = (checkpoint: Checkpoint) => {
    checkpoints.set(checkpoint.sequence, checkpoint)
    checkpoints.set(checkpoint.digest, checkpoint)
    tip = checkpoint
    const dropped = checkpoints.get(checkpoint.sequence - BigInt(keptMax))
    if (dropped === undefined) return
    checkpoints.delete(dropped.sequence)
    checkpoints.delete(dropped.digest)
  }

  function makeCheckpoint(isLastOfEpoch: boolean): Checkpoint {
    // The clock of a machine can go back; the chain's cannot.
    const timestampMs = Math.max(clock.now(), tip.timestampMs)
    const checkpoint = createCheckpoint(tip, { epoch: epoch.number, timestampMs, isLastOfEpoch, transactions: pending })
    for (const transaction of pending) transaction.checkpoint = { sequence: checkpoint.sequence, timestampMs }
    pending = []
    store(checkpoint)
    for (const listener of listeners) listener(checkpoint)
    return checkpoint
  }

  return {
    genesis,
    readState: () => ({ checkpoints, ended, genesis, tip, pending, epoch }),
    readTip: () => tip,
    readFirst: () => (tip.sequence < BigInt(keptMax) ? 0n : tip.sequence - BigInt(keptMax) + 1n),
    readEpoch: () => epoch,
    findEndedEpoch: (number) => ended.get(number),
    findCheckpoint: (by) => checkpoints.get(by),
    append: (transaction) => void pending.push(transaction),
    countPending: () => pending.length,
    addCheckpoint: () => makeCheckpoint(false),
    endEpoch() {
      const last = makeCheckpoint(true)
      ended.set(epoch.number, { ...epoch, endMs: last.timestampMs, lastCheckpoint: last.sequence })
      epoch = { number: epoch.number + 1n, startMs: last.timestampMs, firstCheckpoint: last.sequence + 1n }
      return epoch
    },
    onCheckpoint(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
