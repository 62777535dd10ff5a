import type { SwapOrder } from '../../swap/ports/swap-chain.ts'
import { nativeCoin, parseCoinType } from './address-format.ts'
import { type Execution, netGasOf } from './node.ts'

type Terms = Pick<SwapOrder, 'account' | 'recipient' | 'tokenOut' | 'feePpm' | 'feeTo'>

const FRACTION_BITS = 32n
const MILLION = 1_000_000n

/** The fee that the transaction takes of an output: `fixed_point32` has 32 binary decimals. */
export const feeOf = (output: bigint, feePpm: number): bigint =>
  (output * ((BigInt(feePpm) << FRACTION_BITS) / MILLION)) >> FRACTION_BITS

/** Base units that an account gained or lost by a transaction, without the gas that it paid. */
export function changeOf(execution: Execution, account: string, token: string, payer: string): bigint {
  const units = execution.changes
    .filter(({ address, coinType }) => address === account && parseCoinType(coinType) === token)
    .reduce((sum, change) => sum + change.units, 0n)
  return account === payer && token === nativeCoin ? units + netGasOf(execution) : units
}

/** What a swap paid to the recipient and as the fee, by the changes of balances. */
export function receivedIn(
  execution: Execution,
  { account, recipient, tokenOut, feePpm, feeTo }: Terms,
): Readonly<{ received: bigint; fee: bigint }> {
  const gained = changeOf(execution, recipient, tokenOut, account)
  if (feeTo === null) return { received: gained, fee: 0n }
  if (feeTo !== recipient) return { received: gained, fee: changeOf(execution, feeTo, tokenOut, account) }
  const fee = feeOf(gained, feePpm)
  return { received: gained - fee, fee }
}
