import {
  type AccountRole,
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  type EncodedAccount,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  type Instruction,
  lamports,
  type MaybeEncodedAccount,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  type Transaction,
} from '@solana/kit'
import { FailedTransactionMetadata, type LiteSVM, type TransactionMetadata } from 'litesvm'
import type { DexClock, DexProgram, DexTransfer } from './dexes/dex-program.ts'
import { readMint, toExisting, tokenProgram } from './token-state.ts'
import { type TransactionError, toTransactionError } from './transaction-error.ts'
import { computeUnitLimit, isWritable, type WireTransaction } from './wire-transaction.ts'

const lamportsPerSignature = 5000n
const toBase58 = (bytes: Uint8Array): string => getBase58Decoder().decode(bytes)
/** What the runtime says of a program that it does not have; the substitute has none of these. */
const missingProgram: ReadonlySet<unknown> = new Set(['ProgramAccountNotFound', 'InvalidProgramForExecution'])

export type InnerList = readonly Readonly<{
  index: number
  instructions: readonly Readonly<{
    programIdIndex: number
    accounts: readonly number[]
    data: string
    stackHeight: number
  }>[]
}>[]

export type DexRun = Readonly<{
  error: TransactionError | null
  metadata: TransactionMetadata
  inner: InnerList
  /** Accounts after a simulation. */
  changed?: readonly EncodedAccount[]
}>

type Planned = Readonly<{ instruction: Instruction; origin: number; isOfDex: boolean }>
type Plan = Readonly<{
  planned: readonly Planned[]
  writes: ReadonlyMap<Address, Uint8Array>
  error: TransactionError | null
  authorities: ReadonlySet<Address>
}>

export type DexExecutionOptions = Readonly<{
  svm: LiteSVM
  programs: ReadonlyMap<Address, DexProgram>
  clock: DexClock
}>

export const callsDex = ({ message }: WireTransaction, programs: ReadonlyMap<Address, DexProgram>): boolean =>
  message.instructions.some(({ programAddressIndex }) =>
    programs.has(message.staticAccounts[programAddressIndex] as Address),
  )

/**
 * Executes a transaction that calls DEXes as one transaction of the runtime, in which the token transfers of each DEX
 * instruction stand in its place. The runtime first checks the transaction as it was signed: signatures and lookup tables.
 * The pools' authorities sign the transfers, so the payer gets the fee of these signatures before the run.
 */
export function executeWithDexes(
  options: DexExecutionOptions,
  wire: WireTransaction,
  keys: readonly Address[],
  kind: 'commit' | 'simulate',
): DexRun {
  const { svm } = options
  const checked = svm.simulateTransaction(wire.transaction)
  if (checked instanceof FailedTransactionMetadata) {
    const error = toTransactionError(checked)
    if (typeof error === 'string' && !missingProgram.has(error)) return { error, metadata: checked.meta(), inner: [] }
  }
  const payer = keys[0] as Address
  svm.withSigverify(false)
  const before = svm.getAccount(payer)
  try {
    const plan = createPlan(options, wire, keys)
    credit(svm, before, plan.authorities.size)
    const credited = lamportsOf(svm.getAccount(payer))
    const transaction = compile(wire, keys, plan)
    const result = kind === 'commit' ? svm.sendTransaction(transaction) : svm.simulateTransaction(transaction)
    const isFailed = result instanceof FailedTransactionMetadata
    // Nothing was charged: of a simulation, or of a transaction that no block includes.
    if (kind === 'simulate' || lamportsOf(svm.getAccount(payer)) === credited) restore(svm, before, payer)
    const metadata = isFailed ? result.meta() : 'postAccounts' in result ? result.meta() : result
    const inner = mapInner(metadata, transaction, keys, plan)
    if (isFailed) return { error: plan.error ?? mapError(toTransactionError(result), plan), metadata, inner }
    const written = writtenAccounts(svm, plan)
    if (kind === 'commit') for (const account of written) svm.setAccount(account)
    const changed = 'postAccounts' in result ? { changed: [...result.postAccounts(), ...written] } : {}
    return { error: null, metadata, inner, ...changed }
  } finally {
    svm.withSigverify(true)
  }
}

const lamportsOf = (account: MaybeEncodedAccount): bigint => (account.exists ? account.lamports : 0n)

function credit(svm: LiteSVM, payer: MaybeEncodedAccount, signatures: number): void {
  if (!payer.exists || signatures === 0) return
  svm.setAccount({ ...payer, lamports: lamports(payer.lamports + lamportsPerSignature * BigInt(signatures)) })
}

function restore(svm: LiteSVM, before: MaybeEncodedAccount, address: Address): void {
  if (before.exists && lamportsOf(svm.getAccount(address)) !== before.lamports) svm.setAccount(before)
}

/** Each DEX instruction runs on the accounts as the instructions before it leave them. */
function createPlan(
  { svm, programs, clock }: DexExecutionOptions,
  wire: WireTransaction,
  keys: readonly Address[],
): Plan {
  const { message } = wire
  const planned: Planned[] = []
  const writes = new Map<Address, Uint8Array>()
  const authorities = new Set<Address>()
  const signers = new Set(keys.slice(0, message.header.numSignerAccounts))
  const loadedWritable = (message.version === 0 ? (message.addressTableLookups ?? []) : []).reduce(
    (sum, { writableIndexes }) => sum + writableIndexes.length,
    0,
  )
  const roleOf = (index: number): AccountRole => {
    const isStatic = index < message.staticAccounts.length
    const writable = isStatic ? isWritable(message, index) : index < message.staticAccounts.length + loadedWritable
    return ((signers.has(keys[index] as Address) ? 2 : 0) + (writable ? 1 : 0)) as AccountRole
  }
  const finish = (error: TransactionError | null): Plan => ({ planned, writes, error, authorities })
  for (const [origin, { programAddressIndex, accountIndices = [], data }] of message.instructions.entries()) {
    const programAddress = keys[programAddressIndex] as Address
    const accounts = accountIndices.map((index) => ({ address: keys[index] as Address, role: roleOf(index) }))
    const bytes = new Uint8Array(data ?? [])
    const program = programs.get(programAddress)
    if (program === undefined) {
      planned.push({ instruction: { programAddress, accounts, data: bytes }, origin, isOfDex: false })
      continue
    }
    const state = readAfter(svm, wire, keys, finish(null))
    // An earlier instruction fails: so does the whole transaction.
    if (state === null) return finish(null)
    const read = (address: Address): MaybeEncodedAccount => {
      const account = state.get(address) ?? svm.getAccount(address)
      const written = writes.get(address)
      return account.exists && written !== undefined ? { ...account, data: written } : account
    }
    const call = { accounts: accounts.map(({ address }) => address), data: bytes, signers }
    const outcome = program.execute(call, read, clock)
    if (outcome.error !== null) {
      // No instruction of the token program has this number: the transaction fails here, and pays its fee.
      planned.push({
        instruction: { programAddress: tokenProgram, data: new Uint8Array([254]) },
        origin,
        isOfDex: true,
      })
      return finish({ InstructionError: [origin, { Custom: outcome.error }] })
    }
    for (const transfer of outcome.transfers) {
      if (!signers.has(transfer.authority)) authorities.add(transfer.authority)
      const decimals = readMint(read(transfer.mint))?.decimals ?? 0
      planned.push({ instruction: toInstruction(transfer, decimals), origin, isOfDex: true })
    }
    for (const [address, written] of outcome.writes) writes.set(address, written)
  }
  return finish(null)
}

/** TransferChecked, for mints of both token programs. */
function toInstruction({ tokenProgram, source, mint, destination, authority, units }: DexTransfer, decimals: number) {
  const data = Buffer.alloc(10)
  data[0] = 12
  data.writeBigUInt64LE(units, 1)
  data[9] = decimals
  return {
    programAddress: tokenProgram,
    accounts: [
      { address: source, role: 1 },
      { address: mint, role: 0 },
      { address: destination, role: 1 },
      { address: authority, role: 2 },
    ],
    data: new Uint8Array(data),
  } as const satisfies Instruction
}

/** The accounts after the instructions of a plan; null if they fail. */
function readAfter(svm: LiteSVM, wire: WireTransaction, keys: readonly Address[], plan: Plan) {
  if (plan.planned.length === 0) return new Map<Address, MaybeEncodedAccount>()
  const payer = svm.getAccount(keys[0] as Address)
  try {
    credit(svm, payer, plan.authorities.size)
    const result = svm.simulateTransaction(compile(wire, keys, plan))
    if (result instanceof FailedTransactionMetadata) return null
    return new Map<Address, MaybeEncodedAccount>(
      result
        .postAccounts()
        .map((account) => [
          account.address,
          account.lamports === 0n ? { exists: false, address: account.address } : toExisting(account),
        ]),
    )
  } finally {
    restore(svm, payer, keys[0] as Address)
  }
}

function compile(wire: WireTransaction, keys: readonly Address[], { planned }: Plan): Transaction {
  // The limit of units, and so the fee, is that of the transaction as it was signed.
  const limit = Buffer.alloc(9)
  limit[0] = 2
  limit.writeBigUInt64LE(computeUnitLimit(wire.message), 1)
  const computeBudget = 'ComputeBudget111111111111111111111111111111' as Address
  const isLimit = ({ programAddress, data }: Instruction) => programAddress === computeBudget && data?.[0] === 2
  const instructions = planned.map(({ instruction }) => instruction)
  const limited = instructions.some(isLimit)
    ? instructions
    : [...instructions, { programAddress: computeBudget, data: new Uint8Array(limit.subarray(0, 5)) }]
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (one) => setTransactionMessageFeePayer(keys[0] as Address, one),
    (one) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: wire.message.lifetimeToken as Blockhash, lastValidBlockHeight: 0n },
        one,
      ),
    (one) => appendTransactionMessageInstructions(limited, one),
  )
  return compileTransaction(message)
}

function mapError(error: TransactionError, { planned }: Plan): TransactionError {
  if (typeof error === 'string' || !('InstructionError' in error)) return error
  const [index, inner] = error.InstructionError
  return { InstructionError: [planned[index]?.origin ?? index, inner] }
}

/** The transfers of a DEX instruction are its inner instructions. */
function mapInner(
  metadata: TransactionMetadata,
  transaction: Transaction,
  keys: readonly Address[],
  { planned }: Plan,
) {
  const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes)
  if (message.version === 1) return []
  const mapIndex = (index: number) => keys.indexOf(message.staticAccounts[index] as Address)
  const lists = new Map<number, InnerList[number]['instructions'][number][]>()
  const executed = metadata.innerInstructions()
  for (const [index, { origin, isOfDex }] of planned.entries()) {
    const list = lists.get(origin) ?? []
    lists.set(origin, list)
    const compiled = message.instructions[index]
    if (isOfDex && compiled && index < executed.length)
      list.push({
        programIdIndex: mapIndex(compiled.programAddressIndex),
        accounts: (compiled.accountIndices ?? []).map(mapIndex),
        data: toBase58(new Uint8Array(compiled.data ?? [])),
        stackHeight: 2,
      })
    for (const inner of executed[index] ?? [])
      list.push({
        programIdIndex: mapIndex(inner.instruction().programIdIndex()),
        accounts: [...inner.instruction().accounts()].map(mapIndex),
        data: toBase58(inner.instruction().data()),
        stackHeight: inner.stackHeight() + (isOfDex ? 1 : 0),
      })
  }
  return [...lists].flatMap(([index, instructions]) => (instructions.length === 0 ? [] : [{ index, instructions }]))
}

function writtenAccounts(svm: LiteSVM, { writes }: Plan): EncodedAccount[] {
  return [...writes].flatMap(([address, data]) => {
    const account = svm.getAccount(address)
    return account.exists ? [{ ...account, data }] : []
  })
}
