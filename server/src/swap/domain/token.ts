/** A token on a DeFi network, or its native currency. */
export type Token = Readonly<{
  network: string
  /** Lower case. Native currency has the placeholder `nativeAddress`. */
  address: string
  name: string
  symbol: string
  decimals: number
}>

/** Placeholder of native currency on EVM networks. The zero address is accepted as well. */
export const nativeAddress = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'
export const zeroAddress = '0x0000000000000000000000000000000000000000'

export const isNative = (address: string): boolean => address === nativeAddress || address === zeroAddress
