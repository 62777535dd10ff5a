import { bcs } from '@mysten/sui/bcs'
import { GrpcTypes, type SuiGrpcClient } from '@mysten/sui/grpc'
import type { NodeEndpoint } from '@swapyard/lib/node-endpoint.ts'
import { AppError } from '../../core/domain/errors.ts'
import type { BlockRef } from '../../core/ports/chain.ts'
import { present } from '../../lib/assert.ts'
import { cleanText } from '../../lib/clean-text.ts'
import { callOptions, createSuiClient, readGenesis } from './client.ts'

export type ObjectRef = Readonly<{ objectId: string; version: string; digest: string }>
export type Coin = Readonly<{ ref: ObjectRef; units: bigint }>
export type SuiObject = Readonly<{
  id: string
  version: bigint
  type: string
  contents: Uint8Array
  /** Null for objects that are not shared. */
  sharedVersion: bigint | null
}>

/** What a transaction did to an object. */
export type ObjectChange = Readonly<{
  id: string
  /** The object whose field it is, or was if it is deleted; null for others. */
  parent: string | null
  /** The version before; null for a new object. */
  before: bigint | null
  isDeleted: boolean
}>

/** What a transaction did. Each object that it wrote has its `version`. */
export type ObjectChanges = Readonly<{ version: bigint; objects: readonly ObjectChange[] }>

/** Base units, signed. */
export type BalanceChange = Readonly<{ address: string; coinType: string; units: bigint }>

/** An executed or simulated transaction. */
export type Execution = Readonly<{
  digest: string
  /** BCS of the transaction's data. */
  bytes: Uint8Array
  /** Null if it succeeded. */
  failure: GrpcTypes.ExecutionError | null
  effectsDigest: string
  /** MIST; what the payer pays is `computation + storage - rebate`. */
  gas: Readonly<{ computation: bigint; storage: bigint; rebate: bigint }>
  changes: readonly BalanceChange[]
  /** Null until a checkpoint contains it. */
  checkpoint: number | null
}>

/** A command of a programmable transaction. */
export type SuiCommand = GrpcTypes.Command['command']

export type Checkpoint = BlockRef & Readonly<{ atMs: number; epoch: number }>

/** One full node, by gRPC. Every failure to answer is NETWORK_UNAVAILABLE; `null` means that the node knows no such thing. */
export type SuiNode = ReturnType<typeof createSuiNode>
/** How far the fields of an object are listed. */
export type FieldLimits = Readonly<{ pagesMax?: number; signal?: AbortSignal | undefined }>

const PAGE = 200
const PAGES_MAX = 50
/** Fields of an object that are read. More are no pool that can be used in time. */
export const FIELDS_MAX = PAGE * PAGES_MAX
const OBJECTS_PER_CALL = 50
/**
 * MIST per computation unit. The reference price, which the validators set for each epoch, is 1,000 or less. The chain also charges a much
 * higher price if a transaction states it; at ten times the usual price a swap still costs cents.
 */
const GAS_PRICE_MAX = 10_000n
const executionPaths = [
  ...['digest', 'transaction.bcs', 'effects.status', 'effects.digest', 'effects.gas_used'],
  ...['balance_changes', 'checkpoint'],
]
const objectPaths = ['object_id', 'version', 'object_type', 'owner', 'contents']
const fieldPaths = objectPaths.filter((path) => path !== 'owner').map((path) => `field_object.${path}`)
const changePaths = ['transactions.effects.lamport_version', 'transactions.effects.changed_objects']
const {
  SimulateTransactionRequest_TransactionChecks: Checks,
  Owner_OwnerKind: OwnerKind,
  ChangedObject_OutputObjectState: OutputState,
} = GrpcTypes

/** The code of a gRPC status; undefined for other failures, such as a closed connection. */
export const statusOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** SIMULATION_FAILED: the node says that no validator would sign the transaction. `reason` is the node's text. */
export class SimulationRefused extends AppError {}

const REASON_MAX = 200

function throwRefusal(error: unknown): never {
  const status = statusOf(error)
  if (status !== 'INVALID_ARGUMENT' && status !== 'FAILED_PRECONDITION') throw error
  const reason = cleanText((error as Error).message, REASON_MAX) ?? 'unknown reason'
  const message = `the swap would be refused: ${reason}`
  throw new SimulationRefused('SIMULATION_FAILED', message, { cause: error, extra: { reason } })
}

const orNull = (error: unknown): null => {
  if (statusOf(error) === 'NOT_FOUND') return null
  throw error
}

function executionOf(reply: GrpcTypes.ExecutedTransaction | undefined): Execution {
  const { digest, transaction, effects, balanceChanges = [], checkpoint } = present(reply, 'a transaction')
  const status = present(effects?.status, 'the status of a transaction')
  const { computationCost = 0n, storageCost = 0n, storageRebate = 0n } = present(effects?.gasUsed, 'the gas')
  return {
    digest: present(digest, 'a digest'),
    bytes: present(transaction?.bcs?.value, 'the bytes of a transaction'),
    failure: status.success === true ? null : ((status.error ?? {}) as GrpcTypes.ExecutionError),
    effectsDigest: effects?.digest ?? '',
    gas: { computation: computationCost, storage: storageCost, rebate: storageRebate },
    changes: balanceChanges.map(({ address = '', coinType = '', amount = '0' }) => ({
      ...{ address, coinType, units: BigInt(amount) },
    })),
    checkpoint: checkpoint === undefined ? null : Number(checkpoint),
  }
}

function objectOf({ objectId, version, objectType, contents, owner }: GrpcTypes.Object): SuiObject {
  const isShared = owner?.kind === OwnerKind.SHARED
  return {
    id: present(objectId, 'the id of an object'),
    version: present(version, 'the version of an object'),
    type: objectType ?? '',
    // A copy: the bytes are a part of the whole reply, and parsers would read on behind them.
    contents: Uint8Array.from(contents?.value ?? []),
    sharedVersion: isShared ? (owner.version ?? null) : null,
  }
}

function changesOf({ effects }: GrpcTypes.ExecutedTransaction): ObjectChanges {
  const parentOf = (owner?: GrpcTypes.Owner) => (owner?.kind === OwnerKind.OBJECT ? (owner.address ?? null) : null)
  const objects = (effects?.changedObjects ?? []).flatMap((change): ObjectChange[] => {
    const { objectId: id = '', inputVersion: before = null, outputState } = change
    const isDeleted = outputState === OutputState.DOES_NOT_EXIST
    if (!isDeleted && outputState !== OutputState.OBJECT_WRITE) return []
    return [{ id, before, isDeleted, parent: parentOf(isDeleted ? change.inputOwner : change.outputOwner) }]
  })
  return { version: present(effects?.lamportVersion, 'the version of a transaction'), objects }
}

function checkpointOf(reply: GrpcTypes.Checkpoint | undefined): Checkpoint {
  const { sequenceNumber, digest, summary } = present(reply, 'a checkpoint')
  const { seconds = 0n, nanos = 0 } = summary?.timestamp ?? {}
  return {
    height: Number(present(sequenceNumber, 'the number of a checkpoint')),
    hash: present(digest, 'the digest of a checkpoint'),
    ...{ atMs: Number(seconds) * 1000 + Math.floor(nanos / 1e6), epoch: Number(summary?.epoch ?? 0n) },
  }
}

const checkpointPaths = ['sequence_number', 'digest', 'summary.timestamp', 'summary.epoch']

/** Calls a node; every failure to answer is NETWORK_UNAVAILABLE. */
type Ask = <T>(call: () => Promise<T>) => Promise<T>

const createAsk = (name: string, check: () => Promise<void>): Ask =>
  async function ask(call) {
    try {
      await check()
      return await call()
    } catch (cause) {
      if (cause instanceof AppError) throw cause
      throw new AppError('NETWORK_UNAVAILABLE', `${name} does not answer: ${(cause as Error).message}`, { cause })
    }
  }

function createCheckpointReads(name: string, { ledgerService }: SuiGrpcClient, ask: Ask) {
  async function readCheckpoint(height?: number): Promise<Checkpoint | null> {
    const checkpointId =
      height === undefined
        ? { oneofKind: undefined }
        : ({ oneofKind: 'sequenceNumber', sequenceNumber: BigInt(height) } as const)
    const request = { checkpointId, readMask: { paths: checkpointPaths } }
    const reply = await ask(async () =>
      ledgerService.getCheckpoint(request, callOptions()).then(({ response }) => response, orNull),
    )
    return reply === null ? null : checkpointOf(reply.checkpoint)
  }

  return {
    readTip: async (): Promise<Checkpoint> => present(await readCheckpoint(), 'the newest checkpoint'),
    readCheckpoint,
    /** The transactions of a checkpoint; null if the node does not have it. */
    async readTransactions(height: number): Promise<readonly Execution[] | null> {
      const checkpointId = { oneofKind: 'sequenceNumber', sequenceNumber: BigInt(height) } as const
      const readMask = { paths: executionPaths.map((path) => `transactions.${path}`) }
      const reply = await ask(() =>
        ledgerService.getCheckpoint({ checkpointId, readMask }, callOptions()).then(({ response }) => response, orNull),
      )
      return reply === null ? null : (reply.checkpoint?.transactions ?? []).map(executionOf)
    },
    /** What the transactions of a checkpoint changed, in order; null if the node does not have it. */
    async readChanges(height: number): Promise<readonly ObjectChanges[] | null> {
      const checkpointId = { oneofKind: 'sequenceNumber', sequenceNumber: BigInt(height) } as const
      const request = { checkpointId, readMask: { paths: changePaths } }
      const reply = await ask(() =>
        ledgerService.getCheckpoint(request, callOptions()).then(({ response }) => response, orNull),
      )
      return reply === null ? null : (reply.checkpoint?.transactions ?? []).map(changesOf)
    },
    /** Height from which on the node has all checkpoints and transactions. */
    async readLowestHeight(): Promise<number> {
      const { response } = await ask(() => ledgerService.getServiceInfo({}, callOptions()).then((call) => call))
      return Number(present(response.lowestAvailableCheckpoint, 'the lowest available checkpoint'))
    },
    /** MIST per computation unit. */
    async readGasPrice(): Promise<bigint> {
      const { response } = await ask(() =>
        ledgerService.getEpoch({ readMask: { paths: ['reference_gas_price'] } }, callOptions()).then((call) => call),
      )
      const price = present(response.epoch?.referenceGasPrice, 'the price of gas')
      if (price <= GAS_PRICE_MAX) return price
      throw new AppError('NETWORK_UNAVAILABLE', `${name} states a gas price of ${price} MIST, above ${GAS_PRICE_MAX}`)
    },
    /** Milliseconds since 1970. */
    async readEpochStart(): Promise<number> {
      const { response } = await ask(() =>
        ledgerService.getEpoch({ readMask: { paths: ['start'] } }, callOptions()).then((call) => call),
      )
      return Number(response.epoch?.start?.seconds ?? 0n) * 1000
    },
  }
}

function createLedgerReads({ ledgerService }: SuiGrpcClient, ask: Ask) {
  async function readBatches(requests: readonly GrpcTypes.GetObjectRequest[]): Promise<(SuiObject | null)[]> {
    const objects: (SuiObject | null)[] = []
    for (let at = 0; at < requests.length; at += OBJECTS_PER_CALL) {
      const batch = { requests: requests.slice(at, at + OBJECTS_PER_CALL), readMask: { paths: objectPaths } }
      const { response } = await ask(() => ledgerService.batchGetObjects(batch, callOptions()).then((call) => call))
      objects.push(
        ...response.objects.map(({ result }) => (result.oneofKind === 'object' ? objectOf(result.object) : null)),
      )
    }
    return objects
  }
  return {
    /** In the order of the ids; null for an object that does not exist. */
    readObjects: (ids: readonly string[]) => readBatches(ids.map((objectId) => ({ objectId }))),
    /** In the order given; null for a version that the node does not have, or has no longer. */
    readVersions: (versions: readonly Readonly<{ id: string; version: bigint }>[]) =>
      readBatches(versions.map(({ id: objectId, version }) => ({ objectId, version }))),
    async findTransaction(digest: string): Promise<Execution | null> {
      const request = { digest, readMask: { paths: executionPaths } }
      const reply = await ask(() =>
        ledgerService.getTransaction(request, callOptions()).then(({ response }) => response, orNull),
      )
      return reply === null ? null : executionOf(reply.transaction)
    },
  }
}

function createStateReads(client: SuiGrpcClient, ask: Ask) {
  const { stateService } = client
  return {
    /** The dynamic fields of an object, with name and value in BCS. The pages are of different moments, if the object changes meanwhile. */
    async listFields(parent: string, limits: FieldLimits = {}): Promise<readonly SuiObject[]> {
      const { pagesMax = PAGES_MAX, signal } = limits
      const fields: SuiObject[] = []
      let pageToken: Uint8Array | undefined
      for (let page = 0; page < pagesMax; page++) {
        const request = {
          ...{ parent, pageSize: PAGE, readMask: { paths: fieldPaths } },
          ...(pageToken === undefined ? {} : { pageToken }),
        }
        const list = () => stateService.listDynamicFields(request, callOptions(signal)).then((call) => call)
        const { response } = await ask(list)
        for (const { fieldObject } of response.dynamicFields) fields.push(objectOf(present(fieldObject, 'a field')))
        pageToken = response.nextPageToken
        if (pageToken === undefined || pageToken.length === 0) return fields
      }
      throw new Error(`the object ${parent} has more than ${pagesMax * PAGE} fields`)
    },
    /** The coins of an account, as far as they are objects of their own. */
    async listCoins(owner: string, coinType: string): Promise<readonly Coin[]> {
      const coins: Coin[] = []
      let cursor: string | null = null
      for (let n = 0; n < PAGES_MAX; n++) {
        const from: string | null = cursor
        const page = { owner, coinType, cursor: from, limit: PAGE, signal: callOptions().abort }
        const reply: Awaited<ReturnType<typeof client.listCoins>> = await ask(() => client.listCoins(page))
        for (const { objectId, version, digest, balance } of reply.objects)
          coins.push({ ref: { objectId, version, digest }, units: BigInt(balance) })
        cursor = reply.cursor
        if (!reply.hasNextPage || cursor === null) break
      }
      return coins.sort((a, b) => (a.units < b.units ? 1 : -1))
    },
    async readBalance(owner: string, coinType: string): Promise<bigint> {
      const { response } = await ask(() =>
        stateService.getBalance({ owner, coinType }, callOptions()).then((call) => call),
      )
      return response.balance?.balance ?? 0n
    },
    async readCoinMetadata(coinType: string): Promise<GrpcTypes.CoinMetadata | null> {
      const reply = await ask(() =>
        stateService.getCoinInfo({ coinType }, callOptions()).then(({ response }) => response, orNull),
      )
      return reply?.metadata ?? null
    },
  }
}

const NO_ADDRESS = `0x${'0'.repeat(64)}`
/** MIST. */
const CALL_BUDGET = 50_000_000_000n

/** A transaction that only calls one function without arguments. */
function encodeCall(target: string): Uint8Array {
  const [address = '', module = '', name = ''] = target.split('::')
  const call = { package: address, module, function: name, typeArguments: [], arguments: [] }
  const data = {
    kind: { ProgrammableTransaction: { inputs: [], commands: [{ MoveCall: call }] } },
    ...{ sender: NO_ADDRESS, expiration: { None: true } as const },
    gasData: { payment: [], owner: NO_ADDRESS, price: 1_000n, budget: CALL_BUDGET },
  }
  return bcs.TransactionData.serialize({ V1: data }).toBytes()
}

function createExecution({ transactionExecutionService }: SuiGrpcClient, ask: Ask) {
  return {
    /** What a function without arguments returns, in BCS; null if it fails or does not exist. */
    async callFunction(target: string): Promise<Uint8Array | null> {
      const transaction = { bcs: { name: 'TransactionData', value: encodeCall(target) } }
      const paths = ['transaction.effects.status', 'command_outputs']
      const request = { transaction, readMask: { paths }, checks: Checks.DISABLED, doGasSelection: false }
      const { response } = await ask(() =>
        transactionExecutionService
          .simulateTransaction(request as GrpcTypes.SimulateTransactionRequest, callOptions())
          .then((call) => call),
      )
      return response.commandOutputs[0]?.returnValues[0]?.value?.value ?? null
    },
    /** Throws SimulationRefused for what validators would not execute. */
    async simulate(bytes: Uint8Array): Promise<Execution> {
      const transaction = { bcs: { name: 'TransactionData', value: bytes } }
      const paths = executionPaths.map((path) => `transaction.${path}`)
      const request = { transaction, readMask: { paths }, checks: Checks.ENABLED, doGasSelection: false }
      const { response } = await ask(() =>
        transactionExecutionService
          .simulateTransaction(request as GrpcTypes.SimulateTransactionRequest, callOptions())
          .then((call) => call, throwRefusal),
      )
      return executionOf(response.transaction)
    },
    /** Throws the node's own error. */
    async execute(bytes: Uint8Array, signatures: readonly Uint8Array[]): Promise<void> {
      const request = {
        transaction: { bcs: { name: 'TransactionData', value: bytes } },
        signatures: signatures.map((value) => ({
          ...{ bcs: { name: 'UserSignatureBytes', value }, signature: { oneofKind: undefined } },
        })),
        readMask: { paths: ['digest'] },
      }
      await transactionExecutionService.executeTransaction(
        request as GrpcTypes.ExecuteTransactionRequest,
        callOptions(),
      )
    },
  }
}

/** `genesis`: a node with another one is not used. */
export function createSuiNode(name: string, endpoint: NodeEndpoint, genesis?: string) {
  const client = createSuiClient(endpoint)
  let isChecked = genesis === undefined
  const ask = createAsk(name, async () => {
    if (isChecked) return
    const found = await readGenesis(client)
    if (found !== genesis) throw new Error(`it is of another network: its genesis is ${found}`)
    isChecked = true
  })
  return {
    name,
    /** Whether its genesis is that of the network. */
    isOnNetwork: async () =>
      genesis === undefined || (await createAsk(name, async () => undefined)(() => readGenesis(client))) === genesis,
    /** For checks of signatures whose scheme needs a node. */
    client,
    ...createCheckpointReads(name, client, ask),
    ...createLedgerReads(client, ask),
    ...createStateReads(client, ask),
    ...createExecution(client, ask),
  }
}

/** What the payer of the gas pays; negative if the rebate is larger. */
export const netGasOf = ({ gas }: Execution): bigint => gas.computation + gas.storage - gas.rebate
