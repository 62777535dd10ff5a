import { bcs } from '@mysten/sui/bcs'
import { canonicalType } from './canonical-type.ts'
import { coinTypeOf, encodeCoin, readCoinBalance } from './sui-object.ts'

export type Ability = 'copy' | 'drop' | 'store' | 'key'

/**
 * A value of a running transaction. `contents` is its BCS; references change it in place. A value with `key` is an object. `type` is
 * null for a pure input, which gets its type where it is used.
 */
export type MoveValue = {
  readonly type: string | null
  readonly abilities: ReadonlySet<Ability>
  contents: Uint8Array<ArrayBuffer>
  /** Of a vector of objects. */
  readonly elements?: readonly MoveValue[]
}

const plain: ReadonlySet<Ability> = new Set(['copy', 'drop', 'store'])
const asset: ReadonlySet<Ability> = new Set(['store'])
const storedObject: ReadonlySet<Ability> = new Set(['key', 'store'])
const untransferable: ReadonlySet<Ability> = new Set(['key'])
const request: ReadonlySet<Ability> = new Set(['drop'])

export const u64Max = 2n ** 64n - 1n
export const BALANCE_TYPE = canonicalType('0x2::balance::Balance')

export const balanceTypeOf = (coinType: string): string => `${BALANCE_TYPE}<${coinType}>`
export const withdrawalTypeOf = (coinType: string): string =>
  canonicalType(`0x2::funds_accumulator::Withdrawal<${balanceTypeOf(coinType)}>`)

const copyBytes = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => Uint8Array.from(bytes)

export const pureValue = (bytes: Uint8Array): MoveValue => ({
  type: null,
  abilities: plain,
  contents: copyBytes(bytes),
})

export const plainValue = (type: string, bytes: Uint8Array): MoveValue => ({
  type,
  abilities: plain,
  contents: copyBytes(bytes),
})

export const u64Value = (value: bigint): MoveValue => plainValue('u64', bcs.U64.serialize(value).toBytes())

/** A value that must be used: it has neither `copy` nor `drop`. */
export const assetValue = (type: string, bytes: Uint8Array): MoveValue => ({
  type,
  abilities: asset,
  contents: copyBytes(bytes),
})

export const balanceValue = (coinType: string, amount: bigint): MoveValue =>
  assetValue(balanceTypeOf(coinType), bcs.U64.serialize(amount).toBytes())

const withdrawal = bcs.struct('Withdrawal', { owner: bcs.Address, limit: bcs.u256() })

export const withdrawalValue = (coinType: string, owner: string, limit: bigint): MoveValue => ({
  type: withdrawalTypeOf(coinType),
  abilities: request,
  contents: withdrawal.serialize({ owner, limit }).toBytes(),
})

export function readWithdrawal(value: MoveValue): Readonly<{ owner: string; limit: bigint }> {
  const { owner, limit } = withdrawal.parse(value.contents)
  return { owner, limit: BigInt(limit) }
}

export const objectValue = (type: string, contents: Uint8Array, hasPublicTransfer: boolean): MoveValue => ({
  type,
  abilities: hasPublicTransfer ? storedObject : untransferable,
  contents: copyBytes(contents),
})

export const coinValue = (coinType: string, id: string, balance: bigint): MoveValue =>
  objectValue(coinTypeOf(coinType), encodeCoin(id, balance), true)

export const vectorValue = (type: string, elements: readonly MoveValue[]): MoveValue => ({
  type: `vector<${type}>`,
  abilities:
    elements.every(({ abilities }) => abilities.has('copy')) && !elements.some((e) => e.abilities.has('key'))
      ? plain
      : asset,
  contents: Uint8Array.of(
    ...bcs.uleb128().serialize(elements.length).toBytes(),
    ...elements.flatMap(({ contents }) => [...contents]),
  ),
  elements,
})

export const copyValue = (value: MoveValue): MoveValue => ({ ...value, contents: copyBytes(value.contents) })

export const readU64 = (value: MoveValue): bigint => BigInt(bcs.U64.parse(value.contents))
export const readAddress = (value: MoveValue): string => bcs.Address.parse(value.contents)
export const readBalance = (coin: MoveValue): bigint => readCoinBalance(coin.contents)

export function setBalance(coin: MoveValue, balance: bigint): void {
  new DataView(coin.contents.buffer).setBigUint64(coin.contents.length - 8, balance, true)
}
