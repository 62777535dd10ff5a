import { base58 } from '@scure/base'
import type { AddressFormat } from '../../swap/ports/swap-chain.ts'

/** The coin type of SUI, in the short form of its own tools. */
export const nativeCoin = '0x2::sui::SUI'

const ACCOUNT = /^0x[0-9a-fA-F]{64}$/
const COIN_TYPE = /^0x([0-9a-fA-F]{1,64})::([a-zA-Z_]\w{0,127})::([a-zA-Z_]\w{0,127})$/
const HASH_BYTES = 32
/** Addresses below belong to system objects and packages. */
const RESERVED_DIGITS = 60

/** A coin type with its address in full, except SUI's own. Coin types with type arguments, such as shares of pools, are not read. */
export function parseCoinType(text: string): string | null {
  const [, digits = '', module, name] = COIN_TYPE.exec(text) ?? []
  if (module === undefined) return null
  const address = `0x${digits.toLowerCase().padStart(64, '0')}`
  const type = `${address}::${module}::${name}`
  return type === `0x${'2'.padStart(64, '0')}::sui::SUI` ? nativeCoin : type
}

/** Tokens are coin types, whose names distinguish upper and lower case; accounts are written in lower case. */
export const createSuiAddressFormat = () =>
  ({
    native: nativeCoin,
    hashForm: 'base58 of 32 bytes',
    parse: parseCoinType,
    parseAccount: (text) =>
      ACCOUNT.test(text) && !text.startsWith(`0x${'0'.repeat(RESERVED_DIGITS)}`) ? text.toLowerCase() : null,
    parseHash(text) {
      try {
        return base58.decode(text).length === HASH_BYTES ? text : null
      } catch {
        // Not base58.
        return null
      }
    },
    formatAddress: (address) => address,
  }) as const satisfies AddressFormat
