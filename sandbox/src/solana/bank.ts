import { createHash } from 'node:crypto'
import { type Address, type EncodedAccount, getBase58Decoder, lamports, type MaybeEncodedAccount } from '@solana/kit'
import { Clock, FailedTransactionMetadata, LiteSVM, type SlotHash, type TransactionMetadata } from 'litesvm'
import { callsDex, executeWithDexes, type InnerList } from './dex-execution.ts'
import type { DexClock, DexProgram } from './dexes/dex-program.ts'
import { type Execution, readMetadata, type TokenBalance } from './execution.ts'
import { readMint, readTokenAccount, toExisting, toUiAmount } from './token-state.ts'
import { type TransactionError, toTransactionError } from './transaction-error.ts'
import { computeFee, isWritable, loadAddresses, type WireTransaction } from './wire-transaction.ts'

export type Commitment = 'processed' | 'confirmed' | 'finalized'

export type Block = Readonly<{
  slot: number
  height: number
  hash: string
  parent: Readonly<{ slot: number; hash: string }>
  timeMs: number
  executions: readonly Execution[]
  /** Accounts that the block changed, as they were before. Emptied when the block is final. */
  undo: Map<Address, MaybeEncodedAccount>
}>

export type BankEvent =
  | Readonly<{ kind: 'block'; block: Block }>
  | Readonly<{ kind: 'fork'; dropped: readonly Block[] }>

/** The state of a bank, for `serialize` of `node:v8`. */
export type SavedBank = Readonly<{
  /** A snapshot of litesvm. */
  accounts: Uint8Array
  blocks: readonly Block[]
  pending: readonly WireTransaction[]
  slot: number
  forks: number
  finalizedHeight: number
}>

/** MAX_PROCESSING_AGE of the validator, in blocks. */
export const blockhashAgeMax = 150
/** A block is confirmed by the votes in the two blocks after it, and final 32 blocks later. */
const confirmedDepth = 2
const finalizedDepth = confirmedDepth + 32
/** Slots of an epoch of the main net. */
export const epochSlots = 432_000
const epochOf = (slot: bigint): bigint => slot / BigInt(epochSlots)
/** SlotHashes holds this many entries. */
const slotHashesMax = 512
/** Two and a half hours of blocks. */
const blocksMax = 22_500
const pendingMax = 10_000
/** Seven minutes: more than unfinalized blocks and the window of blockhashes. */
const savedBlocksMax = 1_000

const base58 = getBase58Decoder()
const hashOf = (text: string): string => base58.decode(createHash('sha256').update(text).digest())

/** Not the hash of any public cluster, so that a client can tell the sandbox from one. */
const sandboxGenesis = hashOf('swapyard sandbox solana')

type Outcome = Readonly<{
  error: TransactionError | null
  metadata: TransactionMetadata
  /** Inner instructions where they are not those of the metadata: of DEXes. */
  inner: InnerList | null
  changed?: readonly EncodedAccount[]
}>
type RunKind = 'commit' | 'simulate'

const genesisBlock = (hash: string): Block => ({
  ...{ slot: 0, height: 0, hash, parent: { slot: 0, hash: '11111111111111111111111111111111' } },
  ...{ timeMs: 0, executions: [], undo: new Map() },
})

/**
 * A chain of blocks over one litesvm, which holds the state after the last block. Earlier unfinalized states are read
 * through the accounts that each later block changed. litesvm knows only one blockhash and keeps no blocks, so the window
 * of blockhashes and replay protection are checked here.
 */
export class Bank {
  readonly genesisHash: string
  readonly #now: () => number
  readonly #dexes: ReadonlyMap<Address, DexProgram>
  readonly #svm: LiteSVM
  readonly #blocks: Block[]
  readonly #heights = new Map<string, number>()
  readonly #located = new Map<string, Readonly<{ block: Block; execution: Execution }>>()
  readonly #pending = new Map<string, WireTransaction>()
  readonly #listeners = new Set<(event: BankEvent) => void>()
  #slot: number
  #forks: number
  #finalizedHeight: number

  /** Continues a saved bank, or begins with an empty one. */
  constructor(
    now: () => number,
    dexes: readonly DexProgram[] = [],
    saved: SavedBank | null = null,
    genesisHash = sandboxGenesis,
  ) {
    this.genesisHash = genesisHash
    this.#now = now
    this.#dexes = new Map(dexes.map((program) => [program.address, program]))
    const svm = saved === null ? new LiteSVM().withNativeMints() : LiteSVM.fromBytes(saved.accounts)
    this.#svm = svm.withBlockhashCheck(false).withTransactionHistory(0n).withSigverify(true)
    this.#blocks = saved === null ? [genesisBlock(genesisHash)] : [...saved.blocks]
    this.#slot = saved?.slot ?? 0
    this.#forks = saved?.forks ?? 0
    this.#finalizedHeight = saved?.finalizedHeight ?? 0
    for (const block of this.#blocks) {
      this.#heights.set(block.hash, block.height)
      for (const execution of block.executions) this.#located.set(execution.wire.signature, { block, execution })
    }
    for (const wire of saved?.pending ?? []) this.#pending.set(wire.signature, wire)
  }

  save(): SavedBank {
    return {
      ...{ accounts: this.#svm.toBytes(), blocks: this.#blocks.slice(-savedBlocksMax) },
      ...{ pending: [...this.#pending.values()], slot: this.#slot, forks: this.#forks },
      finalizedHeight: this.#finalizedHeight,
    }
  }

  readonly #tip = (): Block => this.#blocks[this.#blocks.length - 1] as Block
  readonly #firstHeight = () => (this.#blocks[0] as Block).height
  readonly #atHeight = (height: number): Block | undefined => this.#blocks[height - this.#firstHeight()]

  heightOf(commitment: Commitment): number {
    const last = this.#tip().height
    if (commitment === 'processed') return last
    return commitment === 'finalized' ? this.#finalizedHeight : Math.max(this.#finalizedHeight, last - confirmedDepth)
  }
  readonly blockAt = (commitment: Commitment): Block => this.#atHeight(this.heightOf(commitment)) as Block

  readonly #laterBlocks = (block: Block) => this.#blocks.slice(block.height - this.#firstHeight() + 1)

  readAccount(address: Address, block = this.#tip()): MaybeEncodedAccount {
    for (const later of this.#laterBlocks(block)) {
      const account = later.undo.get(address)
      if (account) return account
    }
    return this.#svm.getAccount(address)
  }

  readProgramAccounts(program: Address, block: Block): EncodedAccount[] {
    const found = new Map(this.#svm.getProgramAccounts(program).map((account) => [account.address as string, account]))
    for (const address of this.#changedAfter(block).keys()) {
      const account = this.readAccount(address, block)
      if (account.exists && account.programAddress === program) found.set(address, account)
      else found.delete(address)
    }
    return [...found.values()].sort((a, b) => (a.address < b.address ? -1 : 1))
  }

  #changedAfter(block: Block): Map<Address, MaybeEncodedAccount> {
    const accounts = new Map<Address, MaybeEncodedAccount>()
    for (const { undo } of this.#laterBlocks(block))
      for (const [address, account] of undo) if (!accounts.has(address)) accounts.set(address, account)
    return accounts
  }

  writeAccount(account: MaybeEncodedAccount): void {
    const absent = {
      address: account.address,
      lamports: lamports(0n),
      data: new Uint8Array(),
      programAddress: '11111111111111111111111111111111' as Address,
      executable: false,
      space: 0n,
    }
    this.#svm.setAccount(account.exists ? account : absent)
  }

  /** The sysvars that a block at `atSlot` with this parent sees. */
  #setSysvars(atSlot: number, timeMs: number, parent: Block): void {
    this.#svm.setClock(new Clock(BigInt(atSlot), 0n, epochOf(BigInt(atSlot)), 0n, BigInt(Math.floor(timeMs / 1000))))
    const end = parent.height - this.#firstHeight() + 1
    const recent = this.#blocks.slice(Math.max(0, end - slotHashesMax), end).reverse()
    this.#svm.setSlotHashes(recent.map((one) => ({ slot: BigInt(one.slot), hash: one.hash }) as SlotHash))
  }

  /** Runs `body` on the state after a block, then restores the latest. */
  #withStateOf<T>(block: Block, body: () => T): T {
    const earlier = this.#changedAfter(block)
    const latest = [...earlier.keys()].map((address) => this.#svm.getAccount(address))
    const last = this.#tip()
    try {
      for (const account of earlier.values()) this.writeAccount(account)
      this.#setSysvars(block.slot, block.timeMs, this.#atHeight(block.height - 1) ?? block)
      return body()
    } finally {
      for (const account of latest) this.writeAccount(account)
      this.#setSysvars(last.slot, last.timeMs, this.#atHeight(last.height - 1) ?? last)
    }
  }

  clock(): DexClock {
    const { slot, unixTimestamp: unixTime } = this.#svm.getClock()
    return { unixTime, slot, epoch: epochOf(slot) }
  }

  /** `age` 0: the hash of the block itself. */
  isBlockhashValid(hash: string, block: Block): boolean {
    const height = this.#heights.get(hash)
    return height !== undefined && height <= block.height && block.height - height <= blockhashAgeMax
  }

  #tokenBalances(keys: readonly Address[], accounts: readonly MaybeEncodedAccount[]): TokenBalance[] {
    return accounts.flatMap((account, accountIndex) => {
      const state = readTokenAccount(account)
      if (!account.exists || state === null || keys[accountIndex] === undefined) return []
      const decimals = readMint(this.#svm.getAccount(state.mint))?.decimals ?? 0
      const { mint, owner, amount } = state
      const uiTokenAmount = toUiAmount(amount, decimals)
      return [{ accountIndex, mint, owner, programId: account.programAddress, uiTokenAmount }]
    })
  }

  #execute(wire: WireTransaction, kind: RunKind): Execution {
    const { message } = wire
    const loaded = loadAddresses(message, (address) => this.#svm.getAccount(address))
    const keys = [...message.staticAccounts, ...loaded.writable, ...loaded.readonly]
    const before = keys.map((key) => this.#svm.getAccount(key))
    const preTokenBalances = this.#tokenBalances(keys, before)
    const { error, metadata, inner, changed } = this.#run(wire, keys, kind)
    const overlay = new Map(changed?.map((account) => [account.address as string, account]))
    const after = keys.map((key): MaybeEncodedAccount => {
      const account = overlay.get(key)
      if (account === undefined) return this.#svm.getAccount(key)
      return account.lamports === 0n ? { exists: false, address: key } : toExisting(account)
    })
    return {
      wire,
      error,
      fee: computeFee(message),
      metadata: readMetadata(metadata, inner),
      keys,
      loaded,
      before,
      after,
      preTokenBalances,
      postTokenBalances: this.#tokenBalances(keys, after),
    }
  }

  #run(wire: WireTransaction, keys: readonly Address[], kind: RunKind): Outcome {
    const svm = this.#svm
    if (callsDex(wire, this.#dexes))
      return executeWithDexes({ svm, programs: this.#dexes, clock: this.clock() }, wire, keys, kind)
    const result = kind === 'commit' ? svm.sendTransaction(wire.transaction) : svm.simulateTransaction(wire.transaction)
    if (result instanceof FailedTransactionMetadata)
      return { error: toTransactionError(result), metadata: result.meta(), inner: null }
    if (!('postAccounts' in result)) return { error: null, metadata: result, inner: null }
    return { error: null, metadata: result.meta(), inner: null, changed: result.postAccounts() }
  }

  /** The state after `block`, as the validator's simulation has it. */
  simulate(
    wire: WireTransaction,
    block: Block,
    options: Readonly<{ verifySignatures: boolean; checkBlockhash: boolean }>,
  ): Execution | Readonly<{ error: TransactionError }> {
    if (options.checkBlockhash && !this.isBlockhashValid(wire.message.lifetimeToken, block))
      return { error: 'BlockhashNotFound' }
    const known = this.#located.get(wire.signature)
    if (options.checkBlockhash && known && known.block.height <= block.height) return { error: 'AlreadyProcessed' }
    this.#svm.withSigverify(options.verifySignatures)
    try {
      return this.#withStateOf(block, () => this.#execute(wire, 'simulate'))
    } finally {
      this.#svm.withSigverify(true)
    }
  }

  #executeForBlock(wire: WireTransaction, parent: Block): Execution | null {
    if (this.#located.has(wire.signature) || !this.isBlockhashValid(wire.message.lifetimeToken, parent)) return null
    const execution = this.#execute(wire, 'commit')
    // A transaction that cannot pay its fee is in no block.
    const isPaid = lamportsOf(execution.before[0]) !== lamportsOf(execution.after[0])
    return execution.error === null || isPaid ? execution : null
  }

  /** Produces the block of the next slot from the this.#pending transactions, or skips the slot. */
  advance(isSkipped = false): Block | null {
    this.#slot += 1
    const slot = this.#slot
    if (isSkipped) return null
    const parent = this.#tip()
    const timeMs = this.#now()
    this.#setSysvars(slot, timeMs, parent)
    const undo: Block['undo'] = new Map()
    const executions: Execution[] = []
    const queue = [...this.#pending.values()].sort((a, b) => {
      const difference = computeFee(b.message).unitPrice - computeFee(a.message).unitPrice
      return difference > 0n ? 1 : difference < 0n ? -1 : 0
    })
    this.#pending.clear()
    for (const wire of queue) {
      const execution = this.#executeForBlock(wire, parent)
      if (execution === null) continue
      executions.push(execution)
      for (const [index, key] of execution.keys.entries()) {
        const isLoadedWritable =
          index >= wire.message.staticAccounts.length &&
          index < wire.message.staticAccounts.length + execution.loaded.writable.length
        const account = execution.before[index]
        if (account && !undo.has(key) && (isLoadedWritable || isWritable(wire.message, index))) undo.set(key, account)
      }
      this.#located.set(wire.signature, { block: parent, execution })
    }
    const hash = hashOf(`${parent.hash} ${slot} ${this.#forks}`)
    const block: Block = {
      slot,
      height: parent.height + 1,
      hash,
      parent: { slot: parent.slot, hash: parent.hash },
      timeMs,
      executions,
      undo,
    }
    for (const execution of executions) this.#located.set(execution.wire.signature, { block, execution })
    this.#blocks.push(block)
    this.#heights.set(hash, block.height)
    this.#finalizedHeight = Math.max(this.#finalizedHeight, block.height - finalizedDepth)
    this.blockAt('finalized').undo.clear()
    if (this.#blocks.length > blocksMax) this.#forget(this.#blocks.shift() as Block)
    for (const listener of this.#listeners) listener({ kind: 'block', block })
    return block
  }

  #forget(block: Block): void {
    this.#heights.delete(block.hash)
    for (const { wire } of block.executions) this.#located.delete(wire.signature)
  }

  /** Drops the last `depth` this.#blocks with their transactions. The next block follows the last one that is left. */
  fork(depth: number): readonly Block[] {
    const unfinalized = this.#tip().height - this.#finalizedHeight
    if (!Number.isInteger(depth) || depth < 1 || depth > unfinalized)
      throw new RangeError(`depth is ${depth}; ${unfinalized} this.#blocks are not final`)
    const dropped = this.#blocks.splice(this.#blocks.length - depth).reverse()
    for (const block of dropped) {
      for (const account of block.undo.values()) this.writeAccount(account)
      this.#forget(block)
    }
    this.#forks += 1
    for (const listener of this.#listeners) listener({ kind: 'fork', dropped })
    return dropped
  }

  enqueue(wire: WireTransaction): void {
    if (this.#pending.size >= pendingMax) throw new RangeError(`${pendingMax} transactions are this.#pending`)
    this.#pending.set(wire.signature, wire)
  }

  slot(): number {
    return this.#slot
  }

  countPending(): number {
    return this.#pending.size
  }

  find(signature: string): Readonly<{ block: Block; execution: Execution }> | undefined {
    return this.#located.get(signature)
  }

  blocks(): readonly Block[] {
    return this.#blocks
  }

  blockOfSlot(slot: number): Block | undefined {
    return this.#blocks.findLast((block) => block.slot === slot)
  }

  rentExemption(bytes: number): bigint {
    return this.#svm.minimumBalanceForRentExemption(BigInt(bytes))
  }

  listen(listener: (event: BankEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

const lamportsOf = (account: MaybeEncodedAccount | undefined): bigint => (account?.exists ? account.lamports : 0n)

export function commitmentOf(bank: Bank, block: Block): Commitment {
  if (block.height <= bank.heightOf('finalized')) return 'finalized'
  return block.height <= bank.heightOf('confirmed') ? 'confirmed' : 'processed'
}
