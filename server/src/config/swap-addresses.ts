import { networks as definitions } from '../../networks/index.ts'
import { createSolanaAddressFormat } from '../adapters/solana/address-format.ts'
import { createSuiAddressFormat } from '../adapters/sui/address-format.ts'
import { createEvmAddressFormat } from '../adapters/swap-chain/address-format.ts'
import type { Family } from '../core/domain/network.ts'
import { present } from '../lib/assert.ts'
import type { AddressFormat } from '../swap/ports/swap-chain.ts'

type Format = Pick<AddressFormat, 'parse' | 'parseAccount'>

const formatByFamily: Readonly<Partial<Record<Family, Format>>> = {
  evm: createEvmAddressFormat(),
  solana: createSolanaAddressFormat(),
  sui: createSuiAddressFormat(),
}

/** What an address of the swap settings names. */
export type AddressUse = 'account' | 'token' | 'contract' | 'pool'

/** An address in the canonical form of its network; null if the network has no such address. */
export function parseSwapAddress(network: string, use: AddressUse, text: string): string | null {
  const family = present(definitions.find(({ id }) => id === network)?.family, `the network ${network}`)
  const { parse, parseAccount } = present(formatByFamily[family], `the addresses of ${family}`)
  if (use === 'account') return parseAccount(text)
  // The tokens of Sui are types; its packages and pools are objects, whose ids have the form of accounts.
  return use === 'token' || family !== 'sui' ? parse(text) : parseAccount(text)
}
