import { formatUnits } from '../../core/domain/amount.ts'
import type { Asset } from '../../core/domain/asset.ts'
import type { Network } from '../../core/domain/network.ts'

/** Schemes of BIP-21 on the bitcoin family, as the wallets of each chain register them. */
const bitcoinSchemes: Readonly<Record<string, string>> = {
  btc: 'bitcoin',
  ltc: 'litecoin',
  doge: 'dogecoin',
  bch: 'bitcoincash',
}

export type Payment = Readonly<{ asset: Asset; network: Network; address: string; memo: string | null; units: bigint }>

/**
 * The payment URI of the standard of its family, which a wallet opens with address and amount: BIP-21, EIP-681, or that of
 * Monero. Null where the family has no standard, and for tokens: a wallet that reads only the address of an EIP-681 transfer pays to the
 * token's contract (decision 0123). Also with a memo, which none of these standards has.
 */
export function toPaymentUri({ asset, network, address, memo, units }: Payment): string | null {
  if (asset.contract !== null || memo !== null) return null
  const amount = formatUnits(units, asset.decimals)
  if (network.family === 'evm')
    return network.evm === undefined ? null : `ethereum:${address}@${network.evm.chainId}?value=${units}`
  if (network.family === 'monero') return `monero:${address}?tx_amount=${amount}`
  if (network.family !== 'bitcoin') return null
  // A CashAddr has its prefix already.
  const scheme = bitcoinSchemes[network.id]
  if (address.includes(':')) return `${address}?amount=${amount}`
  return scheme === undefined ? null : `${scheme}:${address}?amount=${amount}`
}
