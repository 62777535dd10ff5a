import { bcs, TypeTagSerializer } from '@mysten/sui/bcs'
import { fromHex, toHex } from '@mysten/sui/utils'
import { canonicalType } from './canonical-type.ts'
import { computeDigest } from './digests.ts'

export type Owner =
  | Readonly<{ kind: 'address'; address: string }>
  | Readonly<{ kind: 'object'; id: string }>
  | Readonly<{ kind: 'shared'; initialVersion: bigint }>
  | Readonly<{ kind: 'immutable' }>

/** An object before it has a version. `contents` is the BCS of the Move struct; the first 32 bytes are the id. */
export type ObjectDraft = Readonly<{ type: string; hasPublicTransfer: boolean; contents: Uint8Array; owner: Owner }>

export type SuiObject = ObjectDraft &
  Readonly<{ id: string; version: bigint; previousTransaction: string; storageRebate: bigint; digest: string }>

const idBytes = 32
const coinBytes = 40
/** Of the owner, the previous transaction and the rebate; of the version and of `hasPublicTransfer`. */
const metadataBytes = 80 + 9

export const SUI_TYPE = canonicalType('0x2::sui::SUI')
const COIN = canonicalType('0x2::coin::Coin')

export const coinTypeOf = (coinType: string): string => canonicalType(`0x2::coin::Coin<${coinType}>`)

/** `T` of `0x2::coin::Coin<T>`; null for other types. */
export const coinTypeArgument = (type: string): string | null =>
  type.startsWith(`${COIN}<`) ? type.slice(COIN.length + 1, -1) : null

export const readId = (contents: Uint8Array): string => `0x${toHex(contents.subarray(0, idBytes))}`

export const readCoinBalance = (contents: Uint8Array): bigint =>
  new DataView(contents.buffer, contents.byteOffset).getBigUint64(idBytes, true)

export function encodeCoin(id: string, balance: bigint): Uint8Array<ArrayBuffer> {
  const contents = new Uint8Array(coinBytes)
  contents.set(fromHex(id))
  new DataView(contents.buffer).setBigUint64(idBytes, balance, true)
  return contents
}

function moveTypeOf(type: string): typeof bcs.MoveObjectType.$inferInput {
  const coinType = coinTypeArgument(type)
  if (coinType === SUI_TYPE) return { GasCoin: true }
  if (coinType !== null) return { Coin: coinType }
  const tag = TypeTagSerializer.parseFromStr(type, true)
  if (!('struct' in tag)) throw new Error(`${type} is not a struct`)
  return { Other: tag.struct }
}

/** The size that storage is charged for. */
export const gasSizeOf = ({ type, contents }: Pick<ObjectDraft, 'type' | 'contents'>): number =>
  metadataBytes + bcs.MoveObjectType.serialize(moveTypeOf(type)).toBytes().length + contents.length

export function encodeOwner(owner: Owner): typeof bcs.Owner.$inferInput {
  switch (owner.kind) {
    case 'address':
      return { AddressOwner: owner.address }
    case 'object':
      return { ObjectOwner: owner.id }
    case 'shared':
      return { Shared: { initialSharedVersion: owner.initialVersion } }
    case 'immutable':
      return { Immutable: true }
  }
}

export function encodeObject(object: Omit<SuiObject, 'digest'>): Uint8Array<ArrayBuffer> {
  const { type, hasPublicTransfer, version, contents, owner, previousTransaction, storageRebate } = object
  const move = { type: moveTypeOf(type), hasPublicTransfer, version, contents }
  return bcs.Object.serialize({
    data: { Move: move },
    owner: encodeOwner(owner),
    previousTransaction,
    storageRebate,
  }).toBytes()
}

/** Gives a draft its version, and computes its digest. */
export function sealObject(
  { type, hasPublicTransfer, contents, owner }: ObjectDraft,
  written: Pick<SuiObject, 'version' | 'previousTransaction' | 'storageRebate'>,
): SuiObject {
  const { version, previousTransaction, storageRebate } = written
  const id = readId(contents)
  const object = { id, type, hasPublicTransfer, contents, owner, version, previousTransaction, storageRebate }
  return { ...object, digest: computeDigest('Object', encodeObject(object)) }
}

/** The largest of non-negative integers; 0 without any. */
export const largest = (values: readonly bigint[]): bigint =>
  values.reduce((highest, value) => {
    if (value > highest) return value
    return highest
  }, 0n)
