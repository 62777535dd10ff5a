/** Placeholder of the native coin on EVM networks. The zero address is accepted as well. */
export const nativeAddress = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'
export const zeroAddress = '0x0000000000000000000000000000000000000000'

export const isNative = (address: string): boolean => address === nativeAddress || address === zeroAddress
