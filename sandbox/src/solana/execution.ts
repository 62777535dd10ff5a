import { type Address, getBase58Decoder, type MaybeEncodedAccount } from '@solana/kit'
import type { TransactionMetadata } from 'litesvm'
import type { InnerList } from './dex-execution.ts'
import type { toUiAmount } from './token-state.ts'
import type { TransactionError } from './transaction-error.ts'
import type { Fee, LoadedAddresses, WireTransaction } from './wire-transaction.ts'

const base58 = getBase58Decoder()

export type TokenBalance = Readonly<{
  accountIndex: number
  mint: Address
  owner: Address
  programId: Address
  uiTokenAmount: ReturnType<typeof toUiAmount>
}>

export type ExecutionMetadata = Readonly<{
  logs: readonly string[]
  unitsConsumed: bigint
  inner: InnerList
  /** Null if the program returned nothing. */
  returned: Readonly<{ program: string; data: Uint8Array }> | null
}>

/** What a transaction did. */
export type Execution = Readonly<{
  wire: WireTransaction
  error: TransactionError | null
  fee: Fee
  metadata: ExecutionMetadata
  keys: readonly Address[]
  loaded: LoadedAddresses
  before: readonly MaybeEncodedAccount[]
  after: readonly MaybeEncodedAccount[]
  preTokenBalances: readonly TokenBalance[]
  postTokenBalances: readonly TokenBalance[]
}>

/** The runtime's metadata as data. */
export function readMetadata(metadata: TransactionMetadata, inner: InnerList | null): ExecutionMetadata {
  const returned = metadata.returnData()
  const data = new Uint8Array(returned.data())
  return {
    logs: metadata.logs(),
    unitsConsumed: metadata.computeUnitsConsumed(),
    inner: inner ?? readInner(metadata),
    returned: data.length === 0 ? null : { program: base58.decode(returned.programId()), data },
  }
}

const readInner = (metadata: TransactionMetadata): InnerList =>
  metadata.innerInstructions().flatMap((list, index) => {
    const instructions = list.map((inner) => ({
      programIdIndex: inner.instruction().programIdIndex(),
      accounts: [...inner.instruction().accounts()],
      data: base58.decode(inner.instruction().data()),
      stackHeight: inner.stackHeight(),
    }))
    return instructions.length === 0 ? [] : [{ index, instructions }]
  })
