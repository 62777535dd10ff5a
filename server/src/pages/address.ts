import type { Network } from '../core/domain/network.ts'
import type { AddressFacts, AddressTransfer } from '../exchange/ports/explorer.ts'
import { type Html, html } from '../lib/html.ts'
import { addressLink, amountOf, transactionLink } from './amounts.ts'
import { termsOf } from './network-terms.ts'
import { table } from './page.ts'

export function addressBody(network: Network, facts: AddressFacts): Html {
  const { address, balances, sentCount } = facts
  if (facts.hidden) return hiddenBody(network, address)
  return html`<h1>Address on ${network.name}</h1>
<p class="subject"><code>${address}</code></p>
<section>
<h2>Balance</h2>
<dl>
${balances.map((amount) => html`<dt>${amount.asset?.contract ? 'Token' : 'Native currency'}</dt><dd>${amountOf(amount)}</dd>`)}
${sentCount === null ? null : html`<dt>Transactions sent</dt><dd>${sentCount}</dd>`}
</dl>
</section>
<section>
<h2>Transactions</h2>
${transferTable(network, facts)}
</section>`
}

function hiddenBody({ name }: Network, address: string): Html {
  return html`<h1>Address on ${name}</h1>
<p class="subject"><code>${address}</code></p>
<section>
<h2>Balance and transactions</h2>
<p>${name} hides addresses and amounts in its blocks. Only the owner's wallet or its view key shows them.</p>
<p class="quiet">A transaction can be looked up by its hash, which does not show recipients or amounts either. <code>GET /sandbox/balance</code> returns what an address of the sandbox's bank received.</p>
</section>`
}

function rangeOf({ blocks, byCoins }: AddressFacts): Html | null {
  if (byCoins)
    return html`<p class="quiet">Those that last changed a coin which the address holds: the node has no index by address.</p>`
  return blocks === null ? null : html`<p class="quiet">In the last ${blocks} blocks, and unconfirmed ones.</p>`
}

function transferTable(network: Network, facts: AddressFacts): Html {
  const { transfers } = facts
  const range = rangeOf(facts)
  if (transfers === null) return html`<p class="quiet">The node did not answer in time.</p>`
  if (transfers.length === 0) return html`${range}<p class="quiet">None.</p>`
  // Transactions of output-based networks have no single counterparty.
  const hasCounterparty = transfers.some(({ counterparty }) => counterparty !== null)
  return html`${range}${table(
    html`<th>${termsOf(network).height}</th><th>Transaction</th>${hasCounterparty ? html`<th>From or to</th>` : null}<th class="amount">Amount</th>`,
    transfers,
    (transfer) => transferRow(network, transfer, hasCounterparty),
  )}`
}

function transferRow(
  network: Network,
  { hash, height, direction, counterparty, amount }: AddressTransfer,
  hasCounterparty: boolean,
): Html {
  const side = html`<td data-name="${direction === 'in' ? 'From' : 'To'}">${counterparty === null ? '–' : addressLink(network.id, counterparty)}</td>`
  return html`<tr>
<td data-name="${termsOf(network).height}">${height ?? 'unconfirmed'}</td>
<td>${transactionLink(network.id, hash)}</td>
${hasCounterparty ? side : null}
<td class="amount ${direction}">${direction === 'in' ? '+' : '−'}${amountOf(amount)}</td>
</tr>
`
}
