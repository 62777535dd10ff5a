import { formatUnits } from '../core/domain/amount.ts'
import type { AssetAmount } from '../exchange/ports/explorer.ts'
import { type Html, html } from '../lib/html.ts'

/** An unlisted contract shows raw units: its decimals and name are not verified. */
export function amountOf({ units, asset, contract }: AssetAmount): Html {
  if (asset !== null) return html`${formatUnits(units, asset.decimals)} ${asset.ticker.toUpperCase()}`
  return html`${units} units of <code>${contract ?? 'an unknown asset'}</code>`
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

/** UTC, to the second, like block times. */
export function timeText(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}
