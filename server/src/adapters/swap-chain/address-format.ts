import { getAddress } from 'viem'
import type { AddressFormat } from '../../swap/ports/swap-chain.ts'
import { parseAddress } from '../chains/evm/address.ts'
import { isNative, nativeAddress } from '../chains/evm/native-coin.ts'
import { readAddress } from '../chains/shared/account-address.ts'

/** In the notation of wallets and aggregators. */
const placeholder = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
const HASH = /^0x[0-9a-fA-F]{64}$/

/**
 * Addresses and hashes in lower case. The native coin is its placeholder in any case, the zero address, or `nativeContract`, which
 * represents the coin itself (Polygon).
 */
export const createEvmAddressFormat = (nativeContract?: string) =>
  ({
    native: nativeAddress,
    hashForm: '0x and 64 hexadecimal digits',
    parse: (text) => {
      const lower = text.toLowerCase()
      return isNative(lower) || lower === nativeContract ? nativeAddress : (readAddress(text)?.toLowerCase() ?? null)
    },
    parseAccount: (text) => {
      const account = parseAddress(text)?.toLowerCase() ?? null
      return account === null || isNative(account) ? null : account
    },
    parseHash: (text) => (HASH.test(text) ? text.toLowerCase() : null),
    formatAddress: (address) => (isNative(address) ? placeholder : getAddress(address)),
  }) as const satisfies AddressFormat
