import type { Network } from '../core/domain/network.ts'
import type { AddressFacts, AddressTransfer } from '../exchange/ports/explorer.ts'
import { type Html, html } from '../lib/html.ts'
import { addressLink, amountOf, transactionLink } from './amounts.ts'

export function addressBody(network: Network, facts: AddressFacts): Html {
  const { address, balances: holdings, sentCount: sent } = facts
  if (facts.hidden) return hiddenBody(network, address)
  return html`<h1>Address on ${network.name}</h1>
<p class="subject"><code>${address}</code></p>
<section>
<h2>Balance</h2>
<dl>
${holdings.map((sum) => html`<dt>${sum.asset?.contract ? 'Token' : 'Coin'}</dt><dd>${amountOf(sum)}</dd>`)}
${sent === null ? null : html`<dt>Transactions sent</dt><dd>${sent}</dd>`}
</dl>
</section>
<section>
<h2>Transactions</h2>
${movementTable(network, facts)}
</section>`
}

function hiddenBody({ name }: Network, address: string): Html {
  return html`<h1>Address on ${name}</h1>
<p class="subject"><code>${address}</code></p>
<section>
<h2>Balance and transactions</h2>
<p>${name} shows them to nobody but the owner: no block names an address, and amounts are hidden. They can be seen with the wallet that this address belongs to, or with its view key.</p>
<p class="quiet">A transaction can be looked up by its hash: what it pays, and to whom, stays hidden there too. What an address of the sandbox's bank received, the sandbox's control <code>GET /sandbox/balance</code> says.</p>
</section>`
}

function movementTable(network: Network, { transfers: movements, blocks }: AddressFacts): Html {
  const range = blocks === null ? null : html`<p class="quiet">Of the last ${blocks} blocks, and those that wait.</p>`
  if (movements === null) return html`<p class="quiet">The node could not tell in time.</p>`
  if (movements.length === 0) return html`${range}<p class="quiet">None.</p>`
  // Output families name no other side.
  const hasOthers = movements.some(({ counterparty: other }) => other !== null)
  return html`${range}<table>
<thead><tr><th>Block</th><th>Transaction</th>${hasOthers ? html`<th>From or to</th>` : null}<th class="amount">Amount</th></tr></thead>
<tbody>
${movements.map((movement) => movementRow(network, movement, hasOthers))}
</tbody>
</table>`
}

function movementRow(network: Network, { hash, height, direction, counterparty, amount }: AddressTransfer, hasOthers: boolean): Html {
  const side = html`<td data-name="${direction === 'in' ? 'From' : 'To'}">${counterparty === null ? '–' : addressLink(network.id, counterparty)}</td>`
  return html`<tr>
<td data-name="Block">${height ?? 'waits'}</td>
<td>${transactionLink(network.id, hash)}</td>
${hasOthers ? side : null}
<td class="amount ${direction}">${direction === 'in' ? '+' : '−'}${amountOf(amount)}</td>
</tr>
`
}
