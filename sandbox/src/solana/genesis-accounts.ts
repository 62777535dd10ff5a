import type { Address, MaybeEncodedAccount } from '@solana/kit'
import type { Pair } from './dexes/dex-program.ts'
import { accountAt, bytesOf, derive, exemptLamports, type Mint, put } from './dexes/market-pool.ts'

/* Accounts that exist when the chain begins, in the byte layouts of their programs. */

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
  const address = await derive(metaplex, 'metadata', bytesOf(metaplex), bytesOf(mint))
  const text = (value: string, bytes: number): Buffer => {
    const data = Buffer.alloc(4 + bytes)
    data.writeUInt32LE(bytes, 0)
    data.write(value, 4)
    return data
  }
  const head = Buffer.concat([Buffer.from([4]), bytesOf(metaplex), bytesOf(mint)])
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

/** The token accounts in which a pool holds its reserves. */
export const vaultAccounts = (
  vaults: Pair<Address>,
  mints: Pair<Mint>,
  owner: Address,
  reserves: Pair<bigint>,
): readonly MaybeEncodedAccount[] =>
  ([0, 1] as const).map((index) => tokenAccount(vaults[index], mints[index], owner, reserves[index]))
