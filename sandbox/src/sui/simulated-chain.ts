/* The simulated chain: executes signed transactions and holds the locks of their inputs. */
import type { bcs } from '@mysten/sui/bcs'
import { type ChainState, checkTransaction } from './check-transaction.ts'
import { type CheckpointLog, createCheckpointLog, emptyLog, type LogState } from './checkpoint-log.ts'
import { signaturesKey } from './checkpoints.ts'
import type { Clock } from './clock.ts'
import { computeDigest } from './digests.ts'
import { executeTransaction } from './execute-transaction.ts'
import { GrpcError, invalidArgument, TransactionRefusal } from './grpc-error.ts'
import {
  createLedger,
  type ExecutedTransaction,
  emptyLedger,
  type Ledger,
  type LedgerState,
  type LedgerView,
} from './ledger.ts'
import type { MoveFunctions } from './move-function.ts'
import type { Outcome } from './outcome.ts'
import { requireSignatures } from './signatures.ts'
import { inputsOf, type TransactionBody } from './transaction-body.ts'

export type Signed = Readonly<{
  data: TransactionBody
  bytes: Uint8Array<ArrayBuffer>
  signatures: readonly Uint8Array<ArrayBuffer>[]
}>

/** A chain as a value, to be written to a file. */
export type SavedChain = Readonly<{ ledger: LedgerState; log: LogState }>

export type Chain = Readonly<{
  ledger: Ledger
  functions: MoveFunctions
  log: Omit<CheckpointLog, 'append' | 'endEpoch'>
  readState(): ChainState
  /** Shares its parts with the running chain: use it at once. */
  save(): SavedChain
  /** Checks, locks and executes; a repeat answers with the first execution. */
  submit(signed: Signed): Promise<ExecutedTransaction>
  /** Signatures of validators without execution: the transaction's owned inputs are locked until the epoch ends. */
  lockInputs(signed: Signed): Promise<void>
  /** Executes on `view` and changes nothing. */
  simulate(data: TransactionBody, digest: string, view: LedgerView): Outcome
  endEpoch: CheckpointLog['endEpoch']
  /** Stops or resumes the execution of submitted transactions; they are then locked and time out. */
  setExecutionPaused(isPaused: boolean): void
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

function acquireLocks(ledger: Ledger, { data }: Signed, digest: string): void {
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

type ChainSettings = Readonly<{
  clock: Clock
  functions: MoveFunctions
  referenceGasPrice: bigint
  /** Default: the digest of the first checkpoint. */
  chainId?: string
  saved?: SavedChain
}>

export function createChain(settings: ChainSettings): Chain {
  const { clock, functions, referenceGasPrice } = settings
  const { ledger: ledgerState, log: logState } = settings.saved ?? { ledger: emptyLedger(), log: emptyLog(clock) }
  const ledger = createLedger(ledgerState)
  const log = createCheckpointLog(clock, logState)
  let isExecutionPaused = false

  const readState = (): ChainState => ({
    ...{ epoch: log.readEpoch().number, chainId: settings.chainId ?? log.genesis.digest, referenceGasPrice },
  })

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
    acquireLocks(ledger, signed, digest)
    return null
  }

  const simulate = (data: TransactionBody, digest: string, view: LedgerView): Outcome => {
    const timestampMs = log.readTip().timestampMs
    return executeTransaction({ data, digest, view, functions, epoch: log.readEpoch().number, timestampMs })
  }

  const digestOf = ({ bytes }: Signed) => computeDigest('TransactionData', bytes)

  return {
    ...{ ledger, functions, log, readState, simulate },
    save: () => ({ ledger: ledgerState, log: log.readState() }),
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
      log.append(executed)
      return executed
    },
    async lockInputs(signed) {
      await requireSignatures(signed.data, signed.bytes, signed.signatures)
      accept(signed, digestOf(signed))
    },
    endEpoch() {
      ledger.releaseLocks()
      return log.endEpoch()
    },
    setExecutionPaused(isPaused) {
      isExecutionPaused = isPaused
    },
  }
}
