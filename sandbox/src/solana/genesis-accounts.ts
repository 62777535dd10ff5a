import { createHash } from 'node:crypto'
import {
  type Address,
  getAddressDecoder,
  getAddressEncoder,
  getProgramDerivedAddress,
  lamports,
  type MaybeEncodedAccount,
} from '@solana/kit'
import {
  ammConfigMark,
  poolStateAt,
  poolStateBytes,
  poolStateMark,
  raydiumCpmm,
  raydiumCpmmAuthority,
} from './raydium-cpmm-program.ts'

/* Accounts that exist when the chain begins, in the byte layouts of their programs. */

/** An address that every sandbox derives from the same text. */
export const addressOf = (text: string): Address =>
  getAddressDecoder().decode(createHash('sha256').update(`swapyard sandbox solana ${text}`).digest())

/** Enough for any of these accounts to be exempt from rent. */
const exemptLamports = 100_000_000n

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

export type TransferFee = Readonly<{ basisPoints: number; maximumFee: bigint }>
export type Mint = Readonly<{
  address: Address
  decimals: number
  program: Address
  transferFee: TransferFee | null
  /** A delegate that may move all balances (Token-2022). */
  hasPermanentDelegate?: boolean
}>

const put = (data: Buffer, address: Address, offset: number) => data.set(getAddressEncoder().encode(address), offset)

/** The mints of `supply` units, whose authority may create more. */
export function mintAccount(mint: Mint, authority: Address, supply: bigint): MaybeEncodedAccount {
  const { address, decimals, program, transferFee, hasPermanentDelegate = false } = mint
  const data = Buffer.alloc(transferFee !== null ? 278 : hasPermanentDelegate ? 202 : 82)
  data.writeUInt32LE(1, 0)
  put(data, authority, 4)
  data.writeBigUInt64LE(supply, 36)
  data[44] = decimals
  data[45] = 1
  if (transferFee !== null) {
    data[165] = 1
    data.writeUInt16LE(1, 166)
    data.writeUInt16LE(108, 168)
    put(data, authority, 170)
    put(data, authority, 202)
    for (const offset of [242, 260]) {
      data.writeBigUInt64LE(transferFee.maximumFee, offset + 8)
      data.writeUInt16LE(transferFee.basisPoints, offset + 16)
    }
  }
  if (hasPermanentDelegate) {
    data[165] = 1
    data.writeUInt16LE(12, 166)
    data.writeUInt16LE(32, 168)
    put(data, authority, 170)
  }
  return accountAt(address, program, data)
}

const metaplex = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s' as Address

/** The account of Metaplex's program that names a mint: texts with their length, filled up with zero bytes. */
export async function metadataAccount(mint: Address, name: string, symbol: string): Promise<MaybeEncodedAccount> {
  const encode = (address: Address) => new Uint8Array(getAddressEncoder().encode(address))
  const [address] = await getProgramDerivedAddress({
    programAddress: metaplex,
    seeds: ['metadata', encode(metaplex), encode(mint)],
  })
  const text = (value: string, bytes: number): Buffer => {
    const data = Buffer.alloc(4 + bytes)
    data.writeUInt32LE(bytes, 0)
    data.write(value, 4)
    return data
  }
  const head = Buffer.concat([Buffer.from([4]), encode(metaplex), encode(mint)])
  return accountAt(address, metaplex, Buffer.concat([head, text(name, 32), text(symbol, 10), text('', 200)]))
}

const wrappedSol = 'So11111111111111111111111111111111111111112'

/** A token account; one of wrapped SOL holds its units as lamports. */
export function tokenAccount(address: Address, mint: Mint, owner: Address, units: bigint): MaybeEncodedAccount {
  const data = Buffer.alloc(mint.transferFee === null ? 165 : 178)
  put(data, mint.address, 0)
  put(data, owner, 32)
  data.writeBigUInt64LE(units, 64)
  data[108] = 1
  if (mint.transferFee !== null) {
    data[165] = 2
    data.writeUInt16LE(2, 166)
    data.writeUInt16LE(8, 168)
  }
  const isWrapped = mint.address === wrappedSol
  if (isWrapped) {
    data.writeUInt32LE(1, 109)
    data.writeBigUInt64LE(exemptLamports, 113)
  }
  return accountAt(address, mint.program, data, isWrapped ? units : 0n)
}

export type CpmmConfig = Readonly<{ address: Address; index: number; tradeFeeRate: bigint }>

export function cpmmConfigAccount({ address, index, tradeFeeRate }: CpmmConfig): MaybeEncodedAccount {
  const data = Buffer.alloc(236)
  data.set(ammConfigMark)
  data.writeUInt16LE(index, 10)
  data.writeBigUInt64LE(tradeFeeRate, 12)
  data.writeBigUInt64LE(120_000n, 20)
  data.writeBigUInt64LE(40_000n, 28)
  return accountAt(address, raydiumCpmm, data)
}

export type CpmmPool = Readonly<{
  address: Address
  config: CpmmConfig
  mints: readonly [Mint, Mint]
  vaults: readonly [Address, Address]
  observation: Address
}>

/** A pool with what its vaults hold. */
export function cpmmPoolAccounts(pool: CpmmPool, reserves: readonly [bigint, bigint]): MaybeEncodedAccount[] {
  const data = Buffer.alloc(poolStateBytes)
  data.set(poolStateMark)
  put(data, pool.config.address, poolStateAt.config)
  put(data, pool.observation, poolStateAt.observation)
  for (const index of [0, 1] as const) {
    put(data, pool.vaults[index], poolStateAt.vaults[index])
    put(data, pool.mints[index].address, poolStateAt.mints[index])
    put(data, pool.mints[index].program, poolStateAt.programs[index])
    data[331 + index] = pool.mints[index].decimals
  }
  const vaults = ([0, 1] as const).map((index) =>
    tokenAccount(pool.vaults[index], pool.mints[index], raydiumCpmmAuthority, reserves[index]),
  )
  return [
    accountAt(pool.address, raydiumCpmm, data),
    accountAt(pool.observation, raydiumCpmm, Buffer.alloc(4075)),
    ...vaults,
  ]
}
