import { type Address, getAddressDecoder, type MaybeEncodedAccount } from '@solana/kit'
import { readTransferFeeConfig } from '@swapyard/lib/pools/solana/mint-extensions.ts'
import type { TransferFeeConfig } from '@swapyard/lib/pools/solana/transfer-fee.ts'
import { readTokenAccount } from '../token-state.ts'

export type ReadAccount = (address: Address) => MaybeEncodedAccount
export type Pair<T> = readonly [T, T]

/** Only these accounts signed the transaction. The program must check them: nothing after it does. */
export type DexInstruction = Readonly<{
  accounts: readonly Address[]
  data: Uint8Array
  signers: ReadonlySet<Address>
}>

/** A transfer that the program asks the token program for. The pool's authority signs for its own accounts. */
export type DexTransfer = Readonly<{
  tokenProgram: Address
  source: Address
  mint: Address
  destination: Address
  authority: Address
  units: bigint
}>

/** What an instruction does, or the program's error code. */
export type DexOutcome =
  | Readonly<{ error: number }>
  | Readonly<{ error: null; transfers: readonly DexTransfer[]; writes: ReadonlyMap<Address, Uint8Array> }>

export type DexClock = Readonly<{ unixTime: bigint; slot: bigint; epoch: bigint }>

/** A program whose binary is not available: its maths on the data of real accounts. */
export type DexProgram = Readonly<{
  address: Address
  /** What is executed, for the notice at the start. */
  title: string
  execute(instruction: DexInstruction, read: ReadAccount, clock: DexClock): DexOutcome
}>

/* Errors of Anchor. */
export const ANCHOR = {
  unknownInstruction: 101,
  constraintHasOne: 2001,
  constraintAddress: 2012,
  notEnoughAccounts: 3005,
  wrongOwner: 3007,
  notSigner: 3010,
  notInitialized: 3012,
} as const

/** The runtime's ProgramFailedToComplete has no code of the program; a panic of the maths is reported as this. */
const panicked = 0xffff_ffff
export const codeOf = (error: number | string): number => (typeof error === 'number' ? error : panicked)

export const addressAt = (data: Uint8Array, offset: number): Address => getAddressDecoder().decode(data, offset)

export const addressesAt = (data: Uint8Array, [first, second]: Pair<number>): Pair<Address> => [
  addressAt(data, first),
  addressAt(data, second),
]

/** The data of an account of the program; null for any other account. */
export function readOwned(read: ReadAccount, address: Address | undefined, program: Address): Buffer | null {
  if (address === undefined) return null
  const account = read(address)
  return account.exists && account.programAddress === program ? Buffer.from(account.data) : null
}

/** Units of a token account; 0 if it does not exist. */
export const unitsOf = (read: ReadAccount, address: Address): bigint => readTokenAccount(read(address))?.amount ?? 0n

export const ownerOf = (read: ReadAccount, address: Address): Address | null => {
  const account = read(address)
  return account.exists ? account.programAddress : null
}

export function readTransferFees(
  read: ReadAccount,
  mints: Pair<Address>,
  epoch: bigint,
): Pair<TransferFeeConfig | null> {
  const feeOf = (address: Address) => {
    const mint = read(address)
    return mint.exists ? readTransferFeeConfig(mint.data, epoch) : null
  }
  return [feeOf(mints[0]), feeOf(mints[1])]
}

export function writeU128(data: Buffer, value: bigint, offset: number): void {
  data.writeBigUInt64LE(value & 0xffff_ffff_ffff_ffffn, offset)
  data.writeBigUInt64LE(value >> 64n, offset + 8)
}

export const memoProgram = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr' as Address
