import { createRequire } from 'node:module'
import { preferJavaScriptCrypto } from '../settings.ts'

// bcoin 1.0.2 has no types; these cover what we use. Hashes are hex in internal byte order (`revHex` reverses them).

export type Script = {
  raw: Buffer
  toASM(decode?: boolean): string
  toRaw(): Buffer
  isProgram(): boolean
  fromRaw(raw: Buffer): Script
}
export type Outpoint = { hash: string; index: number }
export type Input = {
  prevout: Outpoint
  script: Script
  witness: { items: Buffer[] }
  sequence: number
}
export type Output = { value: number; script: Script }
export type Tx = {
  version: number
  locktime: number
  inputs: Input[]
  outputs: Output[]
  hash(encoding: 'hex'): string
  txid(): string
  wtxid(): string
  toRaw(): Buffer
  getSize(): number
  getVirtualSize(): number
  getSigopsSize(sigops: number): number
  getSigopsCost(view: CoinView): number
  getWeight(): number
  getFee(view: CoinView): number
  hasCoins(view: CoinView): boolean
  isCoinbase(): boolean
  refresh(): void
}
export type Block = {
  version: number
  prevBlock: string
  merkleRoot: string
  time: number
  bits: number
  nonce: number
  txs: Tx[]
  hash(encoding: 'hex'): string
  rhash(): string
  toRaw(): Buffer
  toHeaders(): { toRaw(): Buffer }
  getSize(): number
  getBaseSize(): number
  getWeight(): number
}
export type Entry = {
  hash: string
  prevBlock: string
  height: number
  version: number
  merkleRoot: string
  time: number
  bits: number
  nonce: number
  chainwork: { toString(base: 'hex', length: number): string; gt(other: Entry['chainwork']): boolean }
  rhash(): string
  isGenesis(): boolean
}
export type CoinView = { addTX(tx: Tx, height: number): void }
export type Coin = { height: number; coinbase: boolean; value: number; script: Script }
export type TxMeta = { tx: Tx; height: number; block: string | null; time: number }

export type Chain = {
  tip: Entry
  height: number
  network: Network
  locker: { lock(): Promise<() => void> }
  open(): Promise<void>
  close(): Promise<void>
  add(block: Block): Promise<Entry | null>
  disconnect(entry: Entry): Promise<void>
  reconnect(entry: Entry): Promise<void>
  reorganize(competitor: Entry): Promise<void>
  setInvalid(hash: string): void
  removeInvalid(hash: string): void
  hasInvalid(block: Block): boolean
  getDeploymentState(): Promise<unknown>
  setDeploymentState(state: unknown): void
  getEntry(hashOrHeight: string | number): Promise<Entry | null>
  getPrevious(entry: Entry): Promise<Entry | null>
  getBlock(hash: string): Promise<Block | null>
  getBlockView(block: Block): Promise<CoinView>
  getCoin(hash: string, index: number): Promise<Coin | null>
  getCoinView(tx: Tx): Promise<CoinView>
  getMeta(hash: string): Promise<TxMeta | null>
  getNextHash(hash: string): Promise<string | null>
  getTips(): Promise<string[]>
  getMedianTime(entry: Entry): Promise<number>
  isMainChain(entry: Entry): Promise<boolean>
  db: { db: { range(options: { gte: Buffer; lte: Buffer }): Promise<{ key: Buffer; value: Buffer }[]> } }
  on(event: 'connect' | 'disconnect', listener: (entry: Entry, block: Block) => Promise<void>): void
  on(event: 'reorganize', listener: () => Promise<void>): void
  on(event: 'error', listener: (error: unknown) => void): void
}
export type MempoolEntry = {
  tx: Tx
  size: number
  fee: number
  height: number
  time: number
}
export type Mempool = {
  tip: string
  map: Map<string, MempoolEntry>
  open(): Promise<void>
  close(): Promise<void>
  addTX(tx: Tx): Promise<string[] | null>
  getEntry(hash: string): MempoolEntry | undefined
  getSpent(hash: string, index: number): MempoolEntry | undefined
  getCoinView(tx: Tx): Promise<CoinView>
  getAncestors(entry: MempoolEntry): MempoolEntry[]
  getDescendants(entry: MempoolEntry): MempoolEntry[]
  evictEntry(entry: MempoolEntry): void
  _addBlock(entry: Entry, txs: Tx[]): Promise<void>
  _handleReorg(): Promise<void>
  on(event: 'error', listener: (error: unknown) => void): void
}
export type Template = {
  time: number
  mtp: number
  address: unknown
  height: number
  createCoinbase(hash: Buffer): Tx
  addTX(tx: Tx, view: CoinView): boolean
  refresh(): void
}
export type Job = { attempt: Template }
export type Miner = {
  open(): Promise<void>
  cpu: { createJob(tip: Entry, address: unknown): Promise<Job>; mine(job: Job): Block }
}
export type Network = { addressPrefix: { bech32: string }; lastCheckpoint: number; now(): number }

type Options = Record<string, unknown>
export type Bcoin = Readonly<{
  network: Network
  Chain: new (options: Options) => Chain
  Mempool: new (options: Options) => Mempool
  Miner: new (options: Options) => Miner
  Tx: { fromRaw(raw: Buffer): Tx }
  Block: { fromRaw(raw: Buffer): Block }
  CoinEntry: { fromRaw(raw: Buffer): { height: number; coinbase: boolean; output: Output } }
  coinKeys: { min(): Buffer; max(): Buffer; parse(key: Buffer): [string, number] }
  genericAddress: unknown
}>

/** bcoin's error for a transaction or block that violates its rules. */
export type VerifyError = Error & { type: 'VerifyError'; reason: string }

export function isVerifyError(error: unknown): error is VerifyError {
  return error instanceof Error && (error as { type?: unknown }).type === 'VerifyError'
}

/** Converts between internal byte order and display order. */
export function revHex(hash: string): string {
  return Buffer.from(hash, 'hex').reverse().toString('hex')
}

export function loadBcoin(): Bcoin {
  preferJavaScriptCrypto()
  const require = createRequire(import.meta.url)
  const load = (path: string) => require(`bcoin/lib/${path}`)
  const network: Network = load('protocol/network').get('regtest')
  // bcoin's regtest prefix is `rb`; Bitcoin Core uses `bcrt` (BIP-173).
  network.addressPrefix.bech32 = 'bcrt'
  const script: { prototype: Script & { isStandard(): boolean } } = load('script/script')
  const isStandardBefore = script.prototype.isStandard
  // Since 0.19 Bitcoin Core relays payments to witness programs of any version, including taproot.
  script.prototype.isStandard = function (this: Script) {
    return isStandardBefore.call(this) || this.isProgram()
  }
  return {
    network,
    Chain: load('blockchain/chain'),
    Mempool: load('mempool/mempool'),
    Miner: load('mining/miner'),
    Tx: load('primitives/tx'),
    Block: load('primitives/block'),
    CoinEntry: load('coins/coinentry'),
    coinKeys: load('blockchain/layout').c,
    genericAddress: load('primitives/address').fromProgram(0, Buffer.alloc(20)),
  }
}
