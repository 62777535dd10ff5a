import { createHash } from 'node:crypto'
import {
  type Address,
  type EncodedAccount,
  getBase58Decoder,
  lamports,
  type MaybeEncodedAccount,
  type Transaction,
} from '@solana/kit'
import { Clock, FailedTransactionMetadata, LiteSVM, type SlotHash, type TransactionMetadata } from 'litesvm'
import { readMint, readTokenAccount, toExisting, toUiAmount } from './token-state.ts'
import { type TransactionError, toTransactionError } from './transaction-error.ts'
import {
  computeFee,
  type Fee,
  isWritable,
  type LoadedAddresses,
  loadAddresses,
  type WireTransaction,
} from './wire-transaction.ts'

export type Commitment = 'processed' | 'confirmed' | 'finalized'

export type TokenBalance = Readonly<{
  accountIndex: number
  mint: Address
  owner: Address
  programId: Address
  uiTokenAmount: ReturnType<typeof toUiAmount>
}>

/** What a transaction did. The metadata is the runtime's. */
export type Execution = Readonly<{
  wire: WireTransaction
  error: TransactionError | null
  fee: Fee
  metadata: TransactionMetadata
  keys: readonly Address[]
  loaded: LoadedAddresses
  before: readonly MaybeEncodedAccount[]
  after: readonly MaybeEncodedAccount[]
  preTokenBalances: readonly TokenBalance[]
  postTokenBalances: readonly TokenBalance[]
}>

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

/** MAX_PROCESSING_AGE of the validator, in blocks. */
export const blockhashAgeMax = 150
/** A block is confirmed by the votes in the two blocks after it, and final 32 blocks later. */
const confirmedDepth = 2
const finalizedDepth = confirmedDepth + 32
/** SlotHashes holds this many entries. */
const slotHashesMax = 512
/** Two and a half hours of blocks. */
const blocksMax = 22_500
const pendingMax = 10_000

const base58 = getBase58Decoder()
const hashOf = (text: string): string => base58.decode(createHash('sha256').update(text).digest())

/** Not the hash of any public cluster, so that a client can tell the sandbox from one. */
export const genesisHash = hashOf('swapyard sandbox solana')

export type Bank = ReturnType<typeof createBank>

/**
 * A chain of blocks over one litesvm, which holds the state after the last block. Earlier unfinalized states are read
 * through the accounts that each later block changed. litesvm knows only one blockhash and keeps no blocks, so the window
 * of blockhashes and replay protection are checked here.
 */
export function createBank({ now }: Readonly<{ now: () => number }>) {
  const svm = new LiteSVM().withBlockhashCheck(false).withTransactionHistory(0n)
  const blocks: Block[] = [
    {
      slot: 0,
      height: 0,
      hash: genesisHash,
      parent: { slot: 0, hash: '11111111111111111111111111111111' },
      timeMs: now(),
      executions: [],
      undo: new Map(),
    },
  ]
  const heights = new Map<string, number>([[genesisHash, 0]])
  const located = new Map<string, Readonly<{ block: Block; execution: Execution }>>()
  const pending = new Map<string, WireTransaction>()
  const listeners = new Set<(event: BankEvent) => void>()
  let slot = 0
  let forks = 0
  let finalizedHeight = 0

  const tip = (): Block => blocks[blocks.length - 1] as Block
  const firstHeight = () => (blocks[0] as Block).height
  const atHeight = (height: number): Block | undefined => blocks[height - firstHeight()]

  function heightOf(commitment: Commitment): number {
    const last = tip().height
    if (commitment === 'processed') return last
    return commitment === 'finalized' ? finalizedHeight : Math.max(finalizedHeight, last - confirmedDepth)
  }
  const blockAt = (commitment: Commitment): Block => atHeight(heightOf(commitment)) as Block

  const laterBlocks = (block: Block) => blocks.slice(block.height - firstHeight() + 1)

  function readAccount(address: Address, block = tip()): MaybeEncodedAccount {
    for (const later of laterBlocks(block)) {
      const account = later.undo.get(address)
      if (account) return account
    }
    return svm.getAccount(address)
  }

  function readProgramAccounts(program: Address, block: Block): EncodedAccount[] {
    const found = new Map(svm.getProgramAccounts(program).map((account) => [account.address as string, account]))
    for (const address of changedAfter(block).keys()) {
      const account = readAccount(address, block)
      if (account.exists && account.programAddress === program) found.set(address, account)
      else found.delete(address)
    }
    return [...found.values()].sort((a, b) => (a.address < b.address ? -1 : 1))
  }

  function changedAfter(block: Block): Map<Address, MaybeEncodedAccount> {
    const accounts = new Map<Address, MaybeEncodedAccount>()
    for (const { undo } of laterBlocks(block))
      for (const [address, account] of undo) if (!accounts.has(address)) accounts.set(address, account)
    return accounts
  }

  function writeAccount(account: MaybeEncodedAccount): void {
    const absent = {
      address: account.address,
      lamports: lamports(0n),
      data: new Uint8Array(),
      programAddress: '11111111111111111111111111111111' as Address,
      executable: false,
      space: 0n,
    }
    svm.setAccount(account.exists ? account : absent)
  }

  /** The sysvars that a block at `atSlot` with this parent sees. */
  function setSysvars(atSlot: number, timeMs: number, parent: Block): void {
    svm.setClock(new Clock(BigInt(atSlot), 0n, 0n, 0n, BigInt(Math.floor(timeMs / 1000))))
    const end = parent.height - firstHeight() + 1
    const recent = blocks.slice(Math.max(0, end - slotHashesMax), end).reverse()
    svm.setSlotHashes(recent.map((one) => ({ slot: BigInt(one.slot), hash: one.hash }) as SlotHash))
  }

  /** Runs `body` on the state after a block, then restores the latest. */
  function withStateOf<T>(block: Block, body: () => T): T {
    const earlier = changedAfter(block)
    const latest = [...earlier.keys()].map((address) => svm.getAccount(address))
    const last = tip()
    try {
      for (const account of earlier.values()) writeAccount(account)
      setSysvars(block.slot, block.timeMs, atHeight(block.height - 1) ?? block)
      return body()
    } finally {
      for (const account of latest) writeAccount(account)
      setSysvars(last.slot, last.timeMs, atHeight(last.height - 1) ?? last)
    }
  }

  /** `age` 0: the hash of the block itself. */
  function isBlockhashValid(hash: string, block: Block): boolean {
    const height = heights.get(hash)
    return height !== undefined && height <= block.height && block.height - height <= blockhashAgeMax
  }

  function tokenBalances(keys: readonly Address[], accounts: readonly MaybeEncodedAccount[]): TokenBalance[] {
    return accounts.flatMap((account, accountIndex) => {
      const state = readTokenAccount(account)
      if (!account.exists || state === null || keys[accountIndex] === undefined) return []
      const decimals = readMint(svm.getAccount(state.mint))?.decimals ?? 0
      const { mint, owner, amount } = state
      const uiTokenAmount = toUiAmount(amount, decimals)
      return [{ accountIndex, mint, owner, programId: account.programAddress, uiTokenAmount }]
    })
  }

  type Run = (transaction: Transaction) => Readonly<{
    result: FailedTransactionMetadata | { metadata: TransactionMetadata }
    changed?: readonly EncodedAccount[]
  }>

  function execute(wire: WireTransaction, run: Run): Execution {
    const { message } = wire
    const loaded = loadAddresses(message, (address) => svm.getAccount(address))
    const keys = [...message.staticAccounts, ...loaded.writable, ...loaded.readonly]
    const before = keys.map((key) => svm.getAccount(key))
    const preTokenBalances = tokenBalances(keys, before)
    const { result, changed } = run(wire.transaction)
    const overlay = new Map(changed?.map((account) => [account.address as string, account]))
    const after = keys.map((key): MaybeEncodedAccount => {
      const account = overlay.get(key)
      if (account === undefined) return svm.getAccount(key)
      return account.lamports === 0n ? { exists: false, address: key } : toExisting(account)
    })
    const failed = result instanceof FailedTransactionMetadata
    return {
      wire,
      error: failed ? toTransactionError(result) : null,
      fee: computeFee(message),
      metadata: failed ? result.meta() : result.metadata,
      keys,
      loaded,
      before,
      after,
      preTokenBalances,
      postTokenBalances: tokenBalances(keys, after),
    }
  }

  const commit: Run = (transaction) => {
    const result = svm.sendTransaction(transaction)
    return { result: result instanceof FailedTransactionMetadata ? result : { metadata: result } }
  }

  const dryRun: Run = (transaction) => {
    const result = svm.simulateTransaction(transaction)
    if (result instanceof FailedTransactionMetadata) return { result }
    return { result: { metadata: result.meta() }, changed: result.postAccounts() }
  }

  /** The state after `block`, as the validator's simulation has it. */
  function simulate(
    wire: WireTransaction,
    block: Block,
    options: Readonly<{ verifySignatures: boolean; checkBlockhash: boolean }>,
  ): Execution | Readonly<{ error: TransactionError }> {
    if (options.checkBlockhash && !isBlockhashValid(wire.message.lifetimeToken, block))
      return { error: 'BlockhashNotFound' }
    const known = located.get(wire.signature)
    if (options.checkBlockhash && known && known.block.height <= block.height) return { error: 'AlreadyProcessed' }
    svm.withSigverify(options.verifySignatures)
    try {
      return withStateOf(block, () => execute(wire, dryRun))
    } finally {
      svm.withSigverify(true)
    }
  }

  function executeForBlock(wire: WireTransaction, parent: Block): Execution | null {
    if (located.has(wire.signature) || !isBlockhashValid(wire.message.lifetimeToken, parent)) return null
    const execution = execute(wire, commit)
    // A transaction that cannot pay its fee is in no block.
    const isPaid = lamportsOf(execution.before[0]) !== lamportsOf(execution.after[0])
    return execution.error === null || isPaid ? execution : null
  }

  /** Produces the block of the next slot from the pending transactions, or skips the slot. */
  function advance(isSkipped = false): Block | null {
    slot += 1
    if (isSkipped) return null
    const parent = tip()
    const timeMs = now()
    setSysvars(slot, timeMs, parent)
    const undo: Block['undo'] = new Map()
    const executions: Execution[] = []
    const queue = [...pending.values()].sort((a, b) => {
      const difference = computeFee(b.message).unitPrice - computeFee(a.message).unitPrice
      return difference > 0n ? 1 : difference < 0n ? -1 : 0
    })
    pending.clear()
    for (const wire of queue) {
      const execution = executeForBlock(wire, parent)
      if (execution === null) continue
      executions.push(execution)
      for (const [index, key] of execution.keys.entries()) {
        const isLoadedWritable =
          index >= wire.message.staticAccounts.length &&
          index < wire.message.staticAccounts.length + execution.loaded.writable.length
        const account = execution.before[index]
        if (account && !undo.has(key) && (isLoadedWritable || isWritable(wire.message, index))) undo.set(key, account)
      }
      located.set(wire.signature, { block: parent, execution })
    }
    const hash = hashOf(`${parent.hash} ${slot} ${forks}`)
    const block: Block = {
      slot,
      height: parent.height + 1,
      hash,
      parent: { slot: parent.slot, hash: parent.hash },
      timeMs,
      executions,
      undo,
    }
    for (const execution of executions) located.set(execution.wire.signature, { block, execution })
    blocks.push(block)
    heights.set(hash, block.height)
    finalizedHeight = Math.max(finalizedHeight, block.height - finalizedDepth)
    blockAt('finalized').undo.clear()
    if (blocks.length > blocksMax) forget(blocks.shift() as Block)
    for (const listener of listeners) listener({ kind: 'block', block })
    return block
  }

  function forget(block: Block): void {
    heights.delete(block.hash)
    for (const { wire } of block.executions) located.delete(wire.signature)
  }

  /** Drops the last `depth` blocks with their transactions. The next block follows the last one that is left. */
  function fork(depth: number): readonly Block[] {
    const unfinalized = tip().height - finalizedHeight
    if (!Number.isInteger(depth) || depth < 1 || depth > unfinalized)
      throw new RangeError(`depth is ${depth}; ${unfinalized} blocks are not final`)
    const dropped = blocks.splice(blocks.length - depth).reverse()
    for (const block of dropped) {
      for (const account of block.undo.values()) writeAccount(account)
      forget(block)
    }
    forks += 1
    for (const listener of listeners) listener({ kind: 'fork', dropped })
    return dropped
  }

  function enqueue(wire: WireTransaction): void {
    if (pending.size >= pendingMax) throw new RangeError(`${pendingMax} transactions are pending`)
    pending.set(wire.signature, wire)
  }

  return {
    advance,
    fork,
    enqueue,
    simulate,
    readAccount,
    readProgramAccounts,
    isBlockhashValid,
    blockAt,
    writeAccount,
    slot: () => slot,
    countPending: () => pending.size,
    find: (signature: string) => located.get(signature),
    heightOf,
    blocks: (): readonly Block[] => blocks,
    blockOfSlot: (atSlot: number) => blocks.findLast((block) => block.slot === atSlot),
    rentExemption: (bytes: number) => svm.minimumBalanceForRentExemption(BigInt(bytes)),
    listen(listener: (event: BankEvent) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

const lamportsOf = (account: MaybeEncodedAccount | undefined): bigint => (account?.exists ? account.lamports : 0n)

export function commitmentOf(bank: Bank, block: Block): Commitment {
  if (block.height <= bank.heightOf('finalized')) return 'finalized'
  return block.height <= bank.heightOf('confirmed') ? 'confirmed' : 'processed'
}
