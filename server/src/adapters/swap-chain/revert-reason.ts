import { externalExecutor, swapExecutor, swapRouter } from '@swapyard/contracts'
import { decodeErrorResult, type Hex } from 'viem'
import { cleanText } from '../../lib/clean-text.ts'

const abi = [...swapRouter.abi, ...swapExecutor.abi, ...externalExecutor.abi]
const TEXT_MAX = 200
/** A selector and three words. */
const HEX_MAX = 2 + 2 * (4 + 96)

/** What the router would have paid, if it reverted because that is less than the minimum; else null. */
export function paidBelowMinimum(reverted: Hex | null): bigint | null {
  try {
    const { errorName, args } = decodeErrorResult({ abi: swapRouter.abi, data: reverted ?? '0x' })
    return errorName === 'TooLittle' ? args[0] : null
  } catch {
    // Not an error of the router.
    return null
  }
}

/** Whether an account refused the native coin that the router paid to it. */
export function isCoinRefused(reverted: Hex | null): boolean {
  try {
    return decodeErrorResult({ abi: swapRouter.abi, data: reverted ?? '0x' }).errorName === 'CoinRefused'
  } catch {
    // Not an error of the router.
    return false
  }
}

/** Describes a revert: our errors by name, `Error(string)` by its text, others in hex. */
export function revertReason(reverted: Hex | null): string {
  if (reverted === null || reverted === '0x') return 'reverted without a reason'
  try {
    const decoded = decodeErrorResult({ abi, data: reverted })
    // viem also decodes Error(string) and Panic(uint256).
    const errorName: string = decoded.errorName
    const args: readonly unknown[] = decoded.args ?? []
    const [first] = args
    if (errorName === 'Error') return cleanText(String(first), TEXT_MAX) ?? 'reverted with an empty reason'
    if (errorName === 'Panic') return `panic 0x${BigInt(first as bigint).toString(16)}`
    return `${errorName}(${args.map(String).join(', ')})`
  } catch {
    // An error of a pool or token.
    return reverted.length > HEX_MAX ? `${reverted.slice(0, HEX_MAX)}…` : reverted
  }
}
