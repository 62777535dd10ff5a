/* Signed integers of Move packages: structs with the two's complement. */
import { bcs } from '@mysten/sui/bcs'

export const i32 = bcs.struct('I32', { bits: bcs.u32() })
export const i128 = bcs.struct('I128', { bits: bcs.u128() })

export const toI32 = (value: number) => ({ bits: value >>> 0 })
export const fromI32 = ({ bits }: Readonly<{ bits: number }>): number => bits | 0
export const toI128 = (value: bigint) => ({ bits: BigInt.asUintN(128, value) })
export const fromI128 = ({ bits }: Readonly<{ bits: string }>): bigint => BigInt.asIntN(128, BigInt(bits))
