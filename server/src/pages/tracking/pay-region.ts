import { formatUnits } from '../../core/domain/amount.ts'
import { type Html, html } from '../../lib/html.ts'
import { amountText, codeText } from './amount-text.ts'
import { fill, isolate, type Locale } from './languages/locale.ts'
import { toPaymentUri } from './payment-uri.ts'
import { qrCode } from './qr-code.ts'
import type { ShownExchange } from './shown-exchange.ts'

/** Where to pay. Null unless a payment is expected. */
export function payRegion({ tracked, from, isPayable }: ShownExchange, locale: Locale): Html | null {
  if (!isPayable) return null
  const { texts } = locale
  const { deposit, fromUnits } = tracked.exchange
  const { address, memo } = deposit
  const { asset, network, symbol, networkName, memoName } = from
  const uri = network && toPaymentUri({ asset, network, address, memo, units: fromUnits })
  return html`<section aria-labelledby="pay-heading">
<h2 id="pay-heading">${texts.pay.heading}</h2>
<p class="warning">${fill(texts.pay.onlyThis, { currency: isolate(symbol), network: isolate(networkName) })}</p>
<div class="pay">
<dl>
<dt>${texts.pay.amount}</dt>
<dd>${amountText(from, fromUnits)} ${copyButton(formatUnits(fromUnits, asset.decimals), texts.pay.amount, locale)}</dd>
<dt>${texts.pay.network}</dt>
<dd>${isolate(networkName)}</dd>
<dt>${texts.pay.address}</dt>
<dd>${codeText(address)} ${copyButton(address, texts.pay.address, locale)}</dd>
${
  memo === null
    ? null
    : html`<dt>${isolate(memoName)}</dt>
<dd>${codeText(memo)} ${copyButton(memo, memoName, locale)}
<p class="warning">${fill(texts.pay.memo, { memo: isolate(memoName) })}</p></dd>`
}
</dl>
<div class="scan">
${qrCode(uri ?? address, texts.pay.qr)}
${uri === null ? null : html`<a href="${uri}">${texts.pay.openWallet}</a>`}
</div>
</div>
</section>`
}

/** Shown by the script, without which it could do nothing. */
function copyButton(text: string, what: string, { texts }: Locale): Html {
  return html`<button type="button" class="copy" hidden data-copy="${text}" data-copied="${texts.pay.copied}" aria-label="${texts.pay.copy}: ${what}">${texts.pay.copy}</button>`
}
