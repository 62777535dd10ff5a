import type { AggregatorOrder, AggregatorTrade, AggregatorTransaction } from '../../swap/ports/aggregator.ts'
import { isNative } from '../chains/evm/native-coin.ts'

/**
 * A selector and at most 29 000 bytes in all: `/send/swap` accepts signed transactions of 31 000 bytes, which also contain the arguments
 * of our router.
 */
const CALLDATA = /^0x[0-9a-f]{8}([0-9a-f]{2}){0,28996}$/

/** Checks a transaction of an aggregator: published contracts, the exact native value, well-formed calldata. Null if it fails. */
export function readAggregatorCall(
  transaction: AggregatorTransaction,
  { tokenIn, amountIn }: AggregatorOrder,
  contracts: readonly string[],
): AggregatorTrade | null {
  if (!('calldata' in transaction)) return null
  const { amountOut, target, spender, value, calldata } = transaction
  const isNativeIn = isNative(tokenIn)
  const [targetKey, spenderKey, bytes] = [target.toLowerCase(), spender?.toLowerCase() ?? null, calldata.toLowerCase()]
  if (!contracts.includes(targetKey) || !CALLDATA.test(bytes)) return null
  if (value !== (isNativeIn ? amountIn : 0n)) return null
  if (isNativeIn) return { amountOut, call: { target: targetKey, spender: null, calldata: bytes } }
  if (spenderKey === null || !contracts.includes(spenderKey)) return null
  return { amountOut, call: { target: targetKey, spender: spenderKey, calldata: bytes } }
}
