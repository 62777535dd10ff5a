/* Objects, effects, transactions and checkpoints as protobuf messages, complete; field masks are applied later. */
import { GrpcTypes } from '@mysten/sui/grpc'
import type { Checkpoint } from './checkpoints.ts'
import { accumulatorIdOf } from './effects.ts'
import { renderFailure } from './execution-failure.ts'
import { renderTransaction } from './grpc-transaction.ts'
import type { ExecutedTransaction } from './ledger.ts'
import { balanceTypeOf } from './move-value.ts'
import type { AmountChange, ObjectChange, Outcome } from './outcome.ts'
import { coinTypeArgument, encodeObject, type Owner, readCoinBalance, type SuiObject } from './sui-object.ts'

const {
  AccumulatorWrite_AccumulatorOperation: Operation,
  AccumulatorWrite_AccumulatorValue: AccumulatorValue,
  ChangedObject_IdOperation: IdOperation,
  ChangedObject_InputObjectState: InputState,
  ChangedObject_OutputObjectState: OutputState,
  Owner_OwnerKind: OwnerKind,
  UnchangedConsensusObject_UnchangedConsensusObjectKind: UnchangedKind,
} = GrpcTypes

const effectsVersion = 2

export const renderTimestamp = (timestampMs: number) => ({
  seconds: BigInt(Math.floor(timestampMs / 1000)),
  nanos: (timestampMs % 1000) * 1_000_000,
})

export function renderOwner(owner: Owner): GrpcTypes.Owner {
  switch (owner.kind) {
    case 'address':
      return { kind: OwnerKind.ADDRESS, address: owner.address }
    case 'object':
      return { kind: OwnerKind.OBJECT, address: owner.id }
    case 'shared':
      return { kind: OwnerKind.SHARED, version: owner.initialVersion }
    case 'immutable':
      return { kind: OwnerKind.IMMUTABLE }
  }
}

export function renderObject(object: SuiObject): GrpcTypes.Object {
  const isCoin = coinTypeArgument(object.type) !== null
  return {
    bcs: { name: 'Object', value: encodeObject(object) },
    ...{ objectId: object.id, version: object.version, digest: object.digest, owner: renderOwner(object.owner) },
    ...{ objectType: object.type, hasPublicTransfer: object.hasPublicTransfer },
    contents: { name: object.type, value: object.contents },
    ...{ previousTransaction: object.previousTransaction, storageRebate: object.storageRebate },
    ...(isCoin ? { balance: readCoinBalance(object.contents) } : {}),
  }
}

function renderChange({ id, before, after }: ObjectChange): GrpcTypes.ChangedObject {
  const input =
    before === null
      ? { inputState: InputState.DOES_NOT_EXIST }
      : {
          ...{ inputState: InputState.EXISTS, inputVersion: before.version, inputDigest: before.digest },
          inputOwner: renderOwner(before.owner),
        }
  const output =
    after === null
      ? { outputState: OutputState.DOES_NOT_EXIST }
      : {
          ...{ outputState: OutputState.OBJECT_WRITE, outputVersion: after.version, outputDigest: after.digest },
          outputOwner: renderOwner(after.owner),
        }
  const idOperation = before === null ? IdOperation.CREATED : after === null ? IdOperation.DELETED : IdOperation.NONE
  return { objectId: id, ...input, ...output, idOperation, objectType: (after ?? before)?.type ?? '' }
}

function renderAccumulator({ owner, coinType, amount }: AmountChange): GrpcTypes.ChangedObject {
  return {
    ...{ objectId: accumulatorIdOf(owner, coinType), inputState: InputState.DOES_NOT_EXIST },
    ...{ outputState: OutputState.ACCUMULATOR_WRITE, idOperation: IdOperation.NONE },
    accumulatorWrite: {
      ...{ address: owner, accumulatorType: balanceTypeOf(coinType), valueKind: AccumulatorValue.INTEGER },
      operation: amount < 0n ? Operation.SPLIT : Operation.MERGE,
      ...{ integerValue: amount < 0n ? -amount : amount, integerTuple: [], eventDigestValue: [] },
    },
  }
}

const renderUnchanged = ({ id, version, digest, type }: SuiObject): GrpcTypes.UnchangedConsensusObject => ({
  ...{ kind: UnchangedKind.READ_ONLY_ROOT, objectId: id, version, digest, objectType: type },
})

export function renderEffects(outcome: Outcome, transactionDigest: string): GrpcTypes.TransactionEffects {
  const { failure, failedCommand, gas, lamportVersion, changes, dependencies, eventsDigest, epoch } = outcome
  const changedObjects = [...changes.map(renderChange), ...outcome.accumulatorWrites.map(renderAccumulator)].sort(
    (a, b) => ((a.objectId ?? '') < (b.objectId ?? '') ? -1 : 1),
  )
  const gasObject = changedObjects.find(({ objectId }) => objectId === outcome.gasObjectId)
  return {
    bcs: { name: 'TransactionEffects', value: outcome.effectsBytes },
    ...{ digest: outcome.effectsDigest, version: effectsVersion, epoch, transactionDigest },
    status: failure === null ? { success: true } : { success: false, error: renderFailure(failure, failedCommand) },
    gasUsed: gas,
    ...(gasObject === undefined ? {} : { gasObject }),
    ...(eventsDigest === null ? {} : { eventsDigest }),
    ...{ dependencies: [...dependencies], lamportVersion, changedObjects },
    unchangedConsensusObjects: outcome.readOnlyShared.map(renderUnchanged),
    unchangedLoadedRuntimeObjects: outcome.readFields.map(({ id, version, digest }) => ({
      objectId: id,
      version,
      digest,
    })),
  }
}

function renderEvents({ events, eventsBytes, eventsDigest }: Outcome): GrpcTypes.TransactionEvents | null {
  if (eventsBytes === null || eventsDigest === null) return null
  return {
    bcs: { name: 'TransactionEvents', value: eventsBytes },
    digest: eventsDigest,
    events: events.map((event) => ({
      ...{ packageId: event.package, module: event.module, sender: event.sender, eventType: event.type },
      contents: { name: event.type, value: event.contents },
    })),
  }
}

/** The messages of an outcome that a dry run and an execution have in common. */
export function renderOutcome(
  outcome: Outcome,
  { data, bytes, digest }: Pick<ExecutedTransaction, 'data' | 'bytes' | 'digest'>,
): GrpcTypes.ExecutedTransaction {
  const events = renderEvents(outcome)
  return {
    digest,
    transaction: renderTransaction(data, bytes, digest),
    signatures: [],
    effects: renderEffects(outcome, digest),
    ...(events === null ? {} : { events }),
    balanceChanges: outcome.balanceChanges.map(({ owner, coinType, amount }) => ({
      ...{ address: owner, coinType, amount: amount.toString() },
    })),
    objects: {
      objects: outcome.changes.flatMap(({ before, after }) =>
        [before, after].flatMap((object) => (object === null ? [] : [renderObject(object)])),
      ),
    },
  }
}

const renderSignature = (value: Uint8Array): GrpcTypes.UserSignature => ({
  bcs: { name: 'UserSignatureBytes', value },
  signature: { oneofKind: undefined },
})

export function renderExecuted(transaction: ExecutedTransaction): GrpcTypes.ExecutedTransaction {
  const { outcome, signatures, checkpoint } = transaction
  return {
    ...renderOutcome(outcome, transaction),
    signatures: signatures.map(renderSignature),
    ...(checkpoint === null
      ? {}
      : { checkpoint: checkpoint.sequence, timestamp: renderTimestamp(checkpoint.timestampMs) }),
  }
}

export function renderCheckpoint(checkpoint: Checkpoint): GrpcTypes.Checkpoint {
  const { sequence, digest, epoch, transactions, contentDigest, previousDigest } = checkpoint
  return {
    ...{ sequenceNumber: sequence, digest },
    summary: {
      bcs: { name: 'CheckpointSummary', value: checkpoint.summaryBytes },
      ...{ digest, epoch, sequenceNumber: sequence, contentDigest, commitments: [] },
      totalNetworkTransactions: checkpoint.totalTransactions,
      ...(previousDigest === null ? {} : { previousDigest }),
      epochRollingGasCostSummary: checkpoint.rollingGas,
      timestamp: renderTimestamp(checkpoint.timestampMs),
    },
    contents: {
      bcs: { name: 'CheckpointContents', value: checkpoint.contentBytes },
      ...{ digest: contentDigest, version: 1 },
      transactions: transactions.map((transaction) => ({
        ...{ transaction: transaction.digest, effects: transaction.outcome.effectsDigest },
        signatures: transaction.signatures.map(renderSignature),
        addressAliasesVersions: [],
      })),
    },
    transactions: transactions.map(renderExecuted),
    objects: {
      objects: transactions.flatMap(({ outcome }) =>
        outcome.changes.flatMap(({ after }) => (after === null ? [] : [renderObject(after)])),
      ),
    },
  }
}
