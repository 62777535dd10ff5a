/* The functions of 0x1::fixed_point32 that take a share of an amount. */
import { canonicalType } from './canonical-type.ts'
import { FunctionAbort, type MoveFunction, type MoveFunctions, packageFunctions, value } from './move-function.ts'
import { type MoveValue, plainValue, readU64, u64Max, u64Value } from './move-value.ts'

const units = 20n
const fractionBits = 32n
/** Abort codes of the module. */
const zeroDenominator = 0x10001n
const tooLarge = 0x20003n
const outOfRange = 0x20005n

const fixedPoint = canonicalType('0x1::fixed_point32::FixedPoint32')

const define = (parameters: readonly string[], run: (first: bigint, second: bigint) => MoveValue): MoveFunction => ({
  ...{ typeParameters: 0, units, parameters: parameters.map(value) },
  run({ arguments: values }) {
    const [first = 0n, second = 0n] = values.map(readU64)
    return [run(first, second)]
  },
})

const fixedPointValue = (raw: bigint): MoveValue => plainValue(fixedPoint, u64Value(raw).contents)

export const fixedPointFunctions: MoveFunctions = packageFunctions('0x1', {
  'fixed_point32::create_from_raw_value': define(['u64'], fixedPointValue),
  'fixed_point32::create_from_rational': define(['u64', 'u64'], (numerator, denominator) => {
    if (denominator === 0n) throw new FunctionAbort(zeroDenominator)
    const raw = (numerator << fractionBits) / denominator
    if ((raw === 0n && numerator !== 0n) || raw > u64Max) throw new FunctionAbort(outOfRange)
    return fixedPointValue(raw)
  }),
  /** Rounds down. */
  'fixed_point32::multiply_u64': define(['u64', fixedPoint], (amount, multiplier) => {
    const product = (amount * multiplier) >> fractionBits
    if (product > u64Max) throw new FunctionAbort(tooLarge)
    return u64Value(product)
  }),
})
