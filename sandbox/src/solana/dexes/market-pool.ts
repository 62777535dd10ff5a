import { createHash } from 'node:crypto'
import {
  type Address,
  getAddressDecoder,
  getAddressEncoder,
  getProgramDerivedAddress,
  type Instruction,
  lamports,
  type MaybeEncodedAccount,
} from '@solana/kit'
import type { DexProgram, Pair, ReadAccount } from './dex-program.ts'

export type TransferFee = Readonly<{ basisPoints: number; maximumFee: bigint }>
export type Mint = Readonly<{
  address: Address
  decimals: number
  program: Address
  transferFee: TransferFee | null
  /** A delegate that may move all balances (Token-2022). */
  hasPermanentDelegate?: boolean
}>

/** A pool of the sandbox's market. Pairs are in the order of the pool. */
export type MarketPool = Readonly<{
  program: DexProgram
  address: Address
  tickers: Pair<string>
  mints: Pair<Mint>
  vaults: Pair<Address>
  /** A difference of prices that no trade can use, in millionths: the fee, or the distance of two bins. */
  tolerancePpm: number
  /** Its accounts when the chain begins. */
  genesis: readonly MaybeEncodedAccount[]
  /** Base units of the second token for one of the first. */
  readPrice(read: ReadAccount): number
  /** A swap without a minimum. */
  swap(read: ReadAccount, trade: PoolTrade): Instruction
}>

export type PoolTrade = Readonly<{
  owner: Address
  /** Token accounts of the owner. */
  source: Address
  target: Address
  inputIndex: 0 | 1
  units: bigint
}>

/** What a pool is made of. `reserves` have the same worth. */
export type PoolPlan = Readonly<{
  name: string
  tickers: Pair<string>
  mints: Pair<Mint>
  reserves: Pair<bigint>
}>

/** An address that every sandbox derives from the same text. */
export const addressOf = (text: string): Address =>
  getAddressDecoder().decode(createHash('sha256').update(`swapyard sandbox solana ${text}`).digest())

export const bytesOf = (address: Address): Uint8Array => new Uint8Array(getAddressEncoder().encode(address))

/** The address that a program derives from seeds: texts and addresses as bytes. */
export const derive = async (programAddress: Address, ...seeds: readonly (string | Uint8Array)[]): Promise<Address> =>
  (await getProgramDerivedAddress({ programAddress, seeds: [...seeds] }))[0]

/** Enough for any of these accounts to be exempt from rent. */
export const exemptLamports = 100_000_000n

export function accountAt(
  address: Address,
  programAddress: Address,
  data: Uint8Array,
  extra = 0n,
): MaybeEncodedAccount {
  return {
    exists: true,
    address,
    programAddress,
    data: new Uint8Array(data),
    lamports: lamports(exemptLamports + extra),
    executable: false,
    space: BigInt(data.length),
  }
}

export const put = (data: Buffer, address: Address, offset: number) => data.set(bytesOf(address), offset)

/** Sets a bit of a bitmap; the lowest bit of a byte is the first. */
export function setBit(data: Buffer, bitmapAt: number, bit: number): void {
  const place = bitmapAt + (bit >> 3)
  data[place] = (data[place] ?? 0) | (1 << (bit & 7))
}

const roles = { r: 0, w: 1, s: 2, sw: 3 } as const

/** Accounts of an instruction: readonly, writable, signers. */
export const meta = (address: Address, role: keyof typeof roles) => ({ address, role: roles[role] })

/** Data of an instruction: a mark, then numbers of 64 bits, then other bytes. */
export function encodeCall(mark: Buffer, numbers: readonly bigint[], rest: Buffer = Buffer.alloc(0)): Uint8Array {
  const words = Buffer.alloc(numbers.length * 8)
  for (const [index, number] of numbers.entries()) words.writeBigUInt64LE(number, index * 8)
  return new Uint8Array([...mark, ...words, ...rest])
}
