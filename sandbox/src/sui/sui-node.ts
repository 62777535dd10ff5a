/* A simulated Sui full node: gRPC-Web in front of a chain in memory. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { normalizeSuiAddress } from '@mysten/sui/utils'
import { log } from '../log.ts'
import { canonicalType } from './canonical-type.ts'
import type { Epoch } from './checkpoint-log.ts'
import { type Clock, systemClock } from './clock.ts'
import { coinFunctions } from './coin-functions.ts'
import { deriveCreatedId } from './digests.ts'
import { executionMethods } from './execution-service.ts'
import { createFieldStore, type DynamicFields } from './field-store.ts'
import { fixedPointFunctions } from './fixed-point-functions.ts'
import { storageCostOf } from './gas.ts'
import { createGrpcWebServer } from './grpc-web.ts'
import type { CoinMetadata } from './ledger.ts'
import { ledgerMethods } from './ledger-service.ts'
import type { MoveFunctions } from './move-function.ts'
import { parseTransactionBytes } from './parse-grpc-transaction.ts'
import { type Chain, createChain, type SavedChain, type Signed } from './simulated-chain.ts'
import { stateMethods } from './state-service.ts'
import { subscriptionMethods } from './subscription-service.ts'
import { coinTypeOf, encodeCoin, type ObjectDraft, SUI_TYPE, type SuiObject, sealObject } from './sui-object.ts'

const notice = [
  'sui: a simulator, because no Sui node can be started here. It has no Move VM and no validators.',
  'It checks: BCS, digests, signatures (ed25519, secp256k1, secp256r1, multisig, passkey), owners, versions, locks of owned objects, expiry, gas price, budget and balance, and the use of values in programmable transactions.',
  'Move functions are TypeScript: those of coins and fixed-point numbers, and those that the sandbox adds for its DEXes. Computation is charged by counted commands.',
  'Not simulated: publishing, zkLogin, receiving objects, allowances, gasless transactions, committee signatures, filters and lists of transactions and events.',
].join('\n')

type SignedBytes = Readonly<{ bytes: Uint8Array; signatures: readonly Uint8Array[] }>

/** Gets the BCS of the object, too. */
type FieldChange = (fields: DynamicFields, contents: Uint8Array) => void

export type SuiNode = Readonly<{
  url: string
  chainId: string
  /** Base units, as a new coin object; returns the coin. */
  mint(address: string, amount: bigint, coinType?: string): SuiObject
  /** Base units, into the address balance. */
  mintToAddressBalance(address: string, amount: bigint, coinType?: string): void
  createCoinType(coinType: string, metadata: Omit<CoinMetadata, 'id'>): void
  /** Puts an object at a new id, or at a given one, into the ledger; `encode` gets the id. */
  createObject(draft: Omit<ObjectDraft, 'contents'>, encode: (id: string) => Uint8Array, id?: string): SuiObject
  /** Changes dynamic fields of an object without a transaction, as those of other users do: it gets a new version, too. */
  changeFields(objectId: string, change: FieldChange): void
  addCheckpoints(count: number): void
  /** Height and digest of the newest checkpoint. */
  readTip(): Readonly<{ height: number; hash: string }>
  /** Executed transactions that no checkpoint contains. */
  countPending(): number
  /** Base units of a coin type, in coins and in the address balance. */
  readBalance(address: string, coinType: string): bigint
  /** No scheduled checkpoints until resumed. */
  pause(): void
  resume(): void
  /** Submitted transactions are locked and time out until execution continues. */
  pauseExecution(isPaused: boolean): void
  /** Locks the inputs of a signed transaction as validators do, without execution. */
  lockInputs(signed: SignedBytes): Promise<void>
  endEpoch(): Epoch
  /** The chain as a value, for `saved` of a later start. Use it at once. */
  save(): SavedNode
  stop(): Promise<void>
}>

/** A chain, and how many objects the controls have created. */
export type SavedNode = SavedChain & Readonly<{ created: number }>

const checkpointIntervalMs = 250
const referenceGasPrice = 1_000n
/** Stands for the transaction that created what the controls mint. */
const genesisDigest = '1'.repeat(32)

const sui: Omit<CoinMetadata, 'id'> = {
  ...{ decimals: 9, name: 'Sui', symbol: 'SUI', description: '', iconUrl: null },
}

export type SuiNodeSettings = Readonly<{
  port?: number
  clock?: Clock
  checkpointIntervalMs?: number
  /** MIST per computation unit. */
  referenceGasPrice?: bigint
  /** By which clients tell chains apart. Default: the digest of the first checkpoint. */
  chainId?: string
  /** Says what is simulated; by default the sandbox's log. */
  notify?(text: string): void
  /** Functions of DEXes, beside those of coins. */
  functions?: MoveFunctions
  /** The chain of an earlier node, which this one continues. */
  saved?: SavedNode
}>

function readSignedBytes({ bytes, signatures }: SignedBytes): Signed {
  const data = parseTransactionBytes({ bcs: { value: bytes } })
  if (data === null) throw new Error('Transaction has no bytes')
  return { data, bytes: Uint8Array.from(bytes), signatures: signatures.map((signature) => Uint8Array.from(signature)) }
}

function createReads({ log: checkpoints, ledger }: Chain): Pick<SuiNode, 'readTip' | 'countPending' | 'readBalance'> {
  return {
    readTip() {
      const { sequence, digest } = checkpoints.readTip()
      return { height: Number(sequence), hash: digest }
    },
    countPending: checkpoints.countPending,
    readBalance(address, coinType) {
      const type = canonicalType(coinType)
      const held = ledger.listBalances(normalizeSuiAddress(address)).find((one) => one.coinType === type)
      return held === undefined ? 0n : held.inCoins + held.inAddress
    },
  }
}

function createNodeChain({ saved, functions = new Map(), ...settings }: SuiNodeSettings, clock: Clock): Chain {
  return createChain({
    clock,
    functions: new Map([...coinFunctions, ...fixedPointFunctions, ...functions]),
    referenceGasPrice: settings.referenceGasPrice ?? referenceGasPrice,
    ...(settings.chainId === undefined ? {} : { chainId: settings.chainId }),
    ...(saved === undefined ? {} : { saved }),
  })
}

function changeFields({ ledger }: Chain, objectId: string, change: FieldChange): void {
  const parent = ledger.findObject(objectId)
  if (parent === undefined) throw new Error(`Object ${objectId} does not exist`)
  const store = createFieldStore(ledger)
  change(store.fields, parent.contents)
  const seal = (draft: ObjectDraft) =>
    sealObject(draft, {
      ...{ version: parent.version + 1n, previousTransaction: genesisDigest, storageRebate: storageCostOf(draft) },
    })
  for (const [id, draft] of store.changes) {
    if (draft === null) ledger.remove(id)
    else ledger.put(seal(draft))
  }
  ledger.put(seal(parent))
}

export async function startSuiNode(settings: SuiNodeSettings = {}): Promise<SuiNode> {
  const { clock = systemClock, port = 0, notify = log } = settings
  const chain = createNodeChain(settings, clock)
  const methods = [executionMethods, ledgerMethods, stateMethods, subscriptionMethods].flatMap((list) => list(chain))
  const server = createGrpcWebServer(methods)
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  let created = settings.saved?.created ?? 0
  let isPaused = false
  const stopTimer = clock.every(settings.checkpointIntervalMs ?? checkpointIntervalMs, () => {
    if (!isPaused) chain.log.addCheckpoint()
  })

  const createObject: SuiNode['createObject'] = ({ type, owner, hasPublicTransfer }, encode, id) => {
    const contents = Uint8Array.from(encode(id ?? deriveCreatedId(genesisDigest, created++)))
    const draft = { type: canonicalType(type), owner, hasPublicTransfer, contents }
    const written = { version: 1n, previousTransaction: genesisDigest, storageRebate: storageCostOf(draft) }
    const object = sealObject(draft, written)
    chain.ledger.put(object)
    return object
  }
  const createCoinType: SuiNode['createCoinType'] = (coinType, metadata) => {
    const id = deriveCreatedId(genesisDigest, created++)
    chain.ledger.coinMetadata.set(canonicalType(coinType), { id, ...metadata })
  }
  if (settings.saved === undefined) createCoinType(SUI_TYPE, sui)
  notify(notice)

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    chainId: chain.readState().chainId,
    mint: (address, amount, coinType = SUI_TYPE) =>
      createObject(
        {
          ...{ type: coinTypeOf(coinType), hasPublicTransfer: true },
          owner: { kind: 'address', address: normalizeSuiAddress(address) },
        },
        (id) => encodeCoin(id, amount),
      ),
    mintToAddressBalance: (address, amount, coinType = SUI_TYPE) =>
      chain.ledger.changeAddressBalance(normalizeSuiAddress(address), canonicalType(coinType), amount),
    createCoinType,
    createObject,
    changeFields: (objectId, change) => changeFields(chain, objectId, change),
    addCheckpoints(count) {
      for (let i = 0; i < count; i += 1) chain.log.addCheckpoint()
    },
    ...createReads(chain),
    pause: () => {
      isPaused = true
    },
    resume: () => {
      isPaused = false
    },
    pauseExecution: chain.setExecutionPaused,
    lockInputs: (signed) => chain.lockInputs(readSignedBytes(signed)),
    endEpoch: chain.endEpoch,
    save: () => ({ ...chain.save(), created }),
    async stop() {
      stopTimer()
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
