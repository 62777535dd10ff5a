import { networks as definitions } from '../../networks/index.ts'
import { createSolanaAddressFormat } from '../adapters/solana/address-format.ts'
import { createSuiAddressFormat } from '../adapters/sui/address-format.ts'
import { createEvmAddressFormat } from '../adapters/swap-chain/address-format.ts'
import type { Family } from '../core/domain/network.ts'
import { present } from '../lib/assert.ts'
import type { AddressFormat } from '../swap/ports/swap-chain.ts'

type Format = Pick<AddressFormat, 'native' | 'parse' | 'parseAccount'>

const formatByFamily: Readonly<Partial<Record<Family, Format>>> = {
  evm: createEvmAddressFormat(),
  solana: createSolanaAddressFormat(),
  sui: createSuiAddressFormat(),
}

/** What an address of the swap settings names. */
export type AddressUse = 'account' | 'token' | 'contract' | 'pool'

function formatOf(network: string): Readonly<{ family: Family; format: Format }> {
  const family = present(definitions.find(({ id }) => id === network)?.family, `the network ${network}`)
  return { family, format: present(formatByFamily[family], `the addresses of ${family}`) }
}

/** The form of the ids by which Uniswap V4 and Balancer name pools. */
const POOL_ID = /^0x[0-9a-fA-F]{64}$/

/** A pool as routes name it: by its address, or by its id in a pool manager or vault. */
export const parsePool = (network: string, text: string): string | null =>
  formatOf(network).family === 'evm' && POOL_ID.test(text)
    ? text.toLowerCase()
    : parseSwapAddress(network, 'pool', text)

/** A token as routes name it: the native coin by its wrapped token. */
export async function parsePoolToken(
  network: string,
  text: string,
  readWrapped: () => Promise<string>,
): Promise<string | null> {
  const { family, format } = formatOf(network)
  const token = format.parse(text)
  // In the other families the native coin has the name by which pools hold it.
  return family === 'evm' && token === format.native ? format.parse(await readWrapped()) : token
}

/** An address in the canonical form of its network; null if the network has no such address. */
export function parseSwapAddress(network: string, use: AddressUse, text: string): string | null {
  const { family, format } = formatOf(network)
  const { parse, parseAccount } = format
  if (use === 'account') return parseAccount(text)
  // The tokens of Sui are types; its packages and pools are objects, whose ids have the form of accounts.
  return use === 'token' || family !== 'sui' ? parse(text) : parseAccount(text)
}
