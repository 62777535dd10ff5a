import { formatUnits } from '../core/domain/amount.ts'
import type { AssetAmount } from '../exchange/ports/explorer.ts'
import { type Html, html } from '../lib/html.ts'

/** A contract that is not listed has units only: nobody vouches for its decimals or its name. */
export function amountOf({ units, asset, contract }: AssetAmount): Html {
  if (asset !== null) return html`${formatUnits(units, asset.decimals)} ${asset.ticker.toUpperCase()}`
  return html`${units} units of <code>${contract ?? 'an unknown coin'}</code>`
}

export function addressHref(network: string, address: string): string {
  return `/sandbox/explorer/${network}/address/${encodeURIComponent(address)}`
}

export function addressLink(network: string, address: string | null): Html {
  if (address === null) return html`<span class="quiet">none</span>`
  return html`<a href="${addressHref(network, address)}"><code>${address}</code></a>`
}

export function transactionLink(network: string, hash: string): Html {
  return html`<a href="/sandbox/explorer/${network}/tx/${hash}"><code>${hash}</code></a>`
}

/** To the second, in UTC: what block times are. */
export function timeText(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}
