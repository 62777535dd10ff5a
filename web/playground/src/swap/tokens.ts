import { amountToUnits, type Currency, type DefiCurrency } from '@swapyard/sdk'

/** The address that stands for the native coin of an EVM network. */
const NATIVE = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'

export const isNative = ({ address }: Pick<DefiCurrency, 'address'>): boolean => address.toLowerCase() === NATIVE

/** The ticker by which the faucet pays a token; null if it has none of it. */
export function faucetTicker(token: DefiCurrency, currencies: readonly Currency[]): string | null {
  if (isNative(token)) return 'native'
  const same = ({ network, contractAddress }: Currency) =>
    network === token.network && contractAddress?.toLowerCase() === token.address.toLowerCase()
  return currencies.find(same)?.ticker ?? null
}

export const isAtLeast = (amount: string, least: string, decimals: number): boolean =>
  amountToUnits(amount, decimals) >= amountToUnits(least, decimals)
