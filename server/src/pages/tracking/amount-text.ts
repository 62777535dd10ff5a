import { formatUnits } from '../../core/domain/amount.ts'
import { type Html, html } from '../../lib/html.ts'
import type { NamedAsset } from './currency-names.ts'
import { isolate } from './languages/locale.ts'

/** Amounts keep the form that wallets take, with a point and without grouping, in every language. */
export const amountText = ({ asset, symbol }: NamedAsset, units: bigint): Html =>
  html`<b class="sum">${isolate(`${formatUnits(units, asset.decimals)} ${symbol}`)}</b>`

export const codeText = (text: string): Html => html`<code>${isolate(text)}</code>`

/** A link to a block explorer, which learns neither this page nor its token. */
export const explorerLink = (href: string | null, text: string): Html =>
  href === null
    ? codeText(text)
    : html`<a href="${href}" rel="noreferrer noopener" target="_blank">${codeText(text)}</a>`
