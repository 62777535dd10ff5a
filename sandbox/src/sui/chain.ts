/* The simulated chain: executes signed transactions, makes checkpoints, ends epochs and holds locks. */
import type { bcs } from '@mysten/sui/bcs'
import { type ChainState, checkTransaction } from './check-transaction.ts'
import { type Checkpoint, createCheckpoint, signaturesKey } from './checkpoints.ts'
import type { Clock } from './clock.ts'
import { computeDigest } from './digests.ts'
import { executeTransaction, inputsOf, type Outcome } from './execute-transaction.ts'
import { GrpcError, invalidArgument, TransactionRefusal } from './grpc-error.ts'
import { createLedger, type ExecutedTransaction, type Ledger, type LedgerView, type TransactionBody } from './ledger.ts'
import type { MoveFunctions } from './move-function.ts'
import { requireSignatures } from './signatures.ts'

export type Epoch = Readonly<{ number: bigint; startMs: number; firstCheckpoint: bigint }>
export type Signed = Readonly<{
  data: TransactionBody
  bytes: Uint8Array<ArrayBuffer>
  signatures: readonly Uint8Array<ArrayBuffer>[]
}>

export type Chain = Readonly<{
  ledger: Ledger
  functions: MoveFunctions
  readState(): ChainState
  readEpoch(): Epoch
  /** Epochs that have ended, by number. */
  findEndedEpoch(number: bigint): (Epoch & Readonly<{ endMs: number; lastCheckpoint: bigint }>) | undefined
  readTip(): Checkpoint
  findCheckpoint(by: bigint | string): Checkpoint | undefined
  /** Checks, locks and executes; a repeat answers with the first execution. */
  submit(signed: Signed): Promise<ExecutedTransaction>
  /** Signatures of validators without execution: the transaction's owned inputs are locked until the epoch ends. */
  lockInputs(signed: Signed): Promise<void>
  /** Executes on `view` and changes nothing. */
  simulate(data: TransactionBody, digest: string, view: LedgerView): Outcome
  addCheckpoint(): Checkpoint
  endEpoch(): Epoch
  /** Stops or resumes the execution of submitted transactions; they are then locked and time out. */
  setExecutionPaused(isPaused: boolean): void
  onCheckpoint(listener: (checkpoint: Checkpoint) => void): () => void
}>

const inputIssues =
  'Transaction execution failed due to issues with transaction inputs, please review the errors and try again'

/** The versions that a transaction uses up: gas coins and owned inputs. */
function listOwnedRefs(view: LedgerView, data: TransactionBody): readonly (typeof bcs.SuiObjectRef.$inferType)[] {
  const inputs = inputsOf(data).flatMap((input) => {
    const ref = input.$kind === 'Object' && input.Object.$kind === 'ImmOrOwnedObject' && input.Object.ImmOrOwnedObject
    return ref && view.findObject(ref.objectId)?.owner.kind === 'address' ? [ref] : []
  })
  return [...data.gasData.payment, ...inputs]
}

export function createChain(
  settings: Readonly<{ clock: Clock; functions: MoveFunctions; referenceGasPrice: bigint }>,
): Chain {
  const { clock, functions, referenceGasPrice } = settings
  const ledger = createLedger()
  const genesis = createCheckpoint(null, {
    ...{ epoch: 0n, timestampMs: clock.now(), isLastOfEpoch: false, transactions: [] },
  })
  const checkpoints = new Map<bigint | string, Checkpoint>()
  const ended = new Map<bigint, Epoch & Readonly<{ endMs: number; lastCheckpoint: bigint }>>()
  const listeners = new Set<(checkpoint: Checkpoint) => void>()
  let tip = genesis
  let pending: ExecutedTransaction[] = []
  let epoch: Epoch = { number: 0n, startMs: genesis.timestampMs, firstCheckpoint: 0n }
  let isExecutionPaused = false

  const keep = (checkpoint: Checkpoint) => {
    checkpoints.set(checkpoint.sequence, checkpoint)
    checkpoints.set(checkpoint.digest, checkpoint)
    tip = checkpoint
  }
  keep(genesis)

  const readState = (): ChainState => ({ epoch: epoch.number, chainId: genesis.digest, referenceGasPrice })

  function acquireLocks({ data }: Signed, digest: string): void {
    const refs = listOwnedRefs(ledger, data).map((ref) => ({
      ...ref,
      holder: ledger.findLock(ref.objectId, BigInt(ref.version)),
    }))
    for (const { objectId, version, holder } of refs)
      if (holder !== undefined && holder !== digest)
        throw new GrpcError(
          'FAILED_PRECONDITION',
          `Failed to sign transaction by a quorum of validators because of locked objects. Conflicting Transactions:\n${holder}: object ${objectId} version ${version}`,
        )
    for (const { objectId, version } of refs) ledger.lock(objectId, BigInt(version), digest)
  }

  /** The execution of an earlier submission; null if the transaction was checked and locked. */
  function accept(signed: Signed, digest: string): ExecutedTransaction | null {
    const executed = ledger.findTransaction(digest)
    if (executed !== undefined) {
      if (signaturesKey(executed.signatures) === signaturesKey(signed.signatures)) return executed
      throw new GrpcError('ABORTED', 'The transaction is already finalized but with different user signatures')
    }
    try {
      checkTransaction(signed.data, ledger, { functions, state: readState() })
    } catch (error) {
      throw error instanceof TransactionRefusal ? invalidArgument(`${inputIssues}: ${error.message}.`) : error
    }
    acquireLocks(signed, digest)
    return null
  }

  const simulate = (data: TransactionBody, digest: string, view: LedgerView): Outcome =>
    executeTransaction({ data, digest, view, functions, epoch: epoch.number, timestampMs: tip.timestampMs })

  const digestOf = ({ bytes }: Signed) => computeDigest('TransactionData', bytes)

  function makeCheckpoint(isLastOfEpoch: boolean): Checkpoint {
    // The clock of a machine can go back; the chain's cannot.
    const timestampMs = Math.max(clock.now(), tip.timestampMs)
    const checkpoint = createCheckpoint(tip, { epoch: epoch.number, timestampMs, isLastOfEpoch, transactions: pending })
    for (const transaction of pending) transaction.checkpoint = { sequence: checkpoint.sequence, timestampMs }
    pending = []
    keep(checkpoint)
    for (const listener of listeners) listener(checkpoint)
    return checkpoint
  }

  return {
    ledger,
    functions,
    readState,
    readEpoch: () => epoch,
    findEndedEpoch: (number) => ended.get(number),
    readTip: () => tip,
    findCheckpoint: (by) => checkpoints.get(by),
    async submit(signed) {
      const digest = digestOf(signed)
      await requireSignatures(signed.data, signed.bytes, signed.signatures)
      // No await from here on: the ledger must not change between the checks and the execution.
      const before = accept(signed, digest)
      if (before !== null) return before
      if (isExecutionPaused) throw new GrpcError('UNAVAILABLE', 'timed-out before finality could be reached')
      const outcome = simulate(signed.data, digest, ledger)
      const executed: ExecutedTransaction = { digest, ...signed, outcome, checkpoint: null }
      ledger.commit(executed)
      pending.push(executed)
      return executed
    },
    async lockInputs(signed) {
      await requireSignatures(signed.data, signed.bytes, signed.signatures)
      accept(signed, digestOf(signed))
    },
    simulate,
    addCheckpoint: () => makeCheckpoint(false),
    endEpoch() {
      const last = makeCheckpoint(true)
      ended.set(epoch.number, { ...epoch, endMs: last.timestampMs, lastCheckpoint: last.sequence })
      ledger.releaseLocks()
      epoch = { number: epoch.number + 1n, startMs: last.timestampMs, firstCheckpoint: last.sequence + 1n }
      return epoch
    },
    setExecutionPaused(isPaused) {
      isExecutionPaused = isPaused
    },
    onCheckpoint(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
