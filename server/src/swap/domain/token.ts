/** A token on a DeFi network, or its native coin. */
export type Token = Readonly<{
  network: string
  /** Lower case. The native coin has the ecosystem's placeholder (`nativeAddress`). */
  address: string
  name: string
  symbol: string
  decimals: number
}>

/** Placeholder that partners write for the native coin of an EVM network; the zero address is taken for it, too. */
export const nativeAddress = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'
export const zeroAddress = '0x0000000000000000000000000000000000000000'

export const isNative = (address: string): boolean => address === nativeAddress || address === zeroAddress
