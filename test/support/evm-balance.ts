import type { CallNode } from './utxo-wallets.ts'

/** ERC-20 `balanceOf(address)`. */
const BALANCE_OF = '0x70a08231'

/** What an account holds by its node, in units: of a token, or of the native coin if `contract` is null. */
export async function readEvmBalance(call: CallNode, address: string, contract: string | null): Promise<bigint> {
  if (contract === null) return BigInt(String(await call('eth_getBalance', [address, 'latest'])))
  const data = `${BALANCE_OF}${address.slice(2).toLowerCase().padStart(64, '0')}`
  return BigInt(String(await call('eth_call', [{ to: contract, data }, 'latest'])))
}
