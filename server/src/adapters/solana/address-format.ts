import type { AddressFormat } from '../../swap/ports/swap-chain.ts'
import { isOnCurve, readAddress, readBase58, systemProgram, wrappedSol } from './program-address.ts'

const SIGNATURE_BYTES = 64

/** Base58, whose case counts. The native coin is named by the mint of wrapped SOL. */
export const createSolanaAddressFormat = () =>
  ({
    native: wrappedSol,
    hashForm: 'base58 of 64 bytes',
    parse: (text) => (readAddress(text) === null ? null : text),
    parseAccount: (text) => {
      const bytes = readAddress(text)
      return bytes === null || text === systemProgram || !isOnCurve(bytes) ? null : text
    },
    parseHash: (text) => (readBase58(text, SIGNATURE_BYTES) === null ? null : text),
    formatAddress: (address) => address,
  }) as const satisfies AddressFormat
