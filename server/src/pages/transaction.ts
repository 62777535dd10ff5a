import type { Network } from '../core/domain/network.ts'
import type { BlockPosition, ProgramFacts, TransactionFacts } from '../exchange/ports/explorer.ts'
import { type Html, html } from '../lib/html.ts'
import { addressLink, amountOf, timeText, transactionLink } from './amounts.ts'
import { paymentTerm, termsOf } from './network-terms.ts'
import { table } from './page.ts'

const statusTextOf = (network: Network, status: TransactionFacts['status']): string =>
  ({
    waiting: 'unconfirmed',
    confirmed: `in a ${termsOf(network).block}`,
    failed: 'failed',
    dropped: 'dropped: neither in a block nor in the mempool',
  })[status]

/** Whether it has fewer confirmations than a deposit or swap needs. */
export function isSettling(network: Network, { status, block }: TransactionFacts): boolean {
  if (status === 'waiting') return true
  if (block === null) return false
  if (block.commitment !== undefined) return block.commitment !== 'finalized'
  return block.confirmations < BigInt(network.confirmations)
}

function finalityRow(network: Network, block: BlockPosition | null): Html {
  const payment = paymentTerm(network)
  if (block?.commitment !== undefined)
    return html`<dt>Commitment</dt><dd>${block.commitment} <span class="quiet">(${payment} needs finalized)</span></dd>`
  return html`<dt>Confirmations</dt><dd>${block?.confirmations ?? 0} <span class="quiet">(${payment} needs ${network.confirmations})</span></dd>`
}

export function transactionBody(network: Network, facts: TransactionFacts): Html {
  const { hash, status, block, fee, call } = facts
  return html`<h1>Transaction on ${network.name}</h1>
<p class="subject"><code>${hash}</code></p>
<section>
<dl>
<dt>Status</dt><dd><span class="badge ${status}">${statusTextOf(network, status)}</span></dd>
${facts.program?.failure ? html`<dt>Error</dt><dd><code>${facts.program.failure}</code></dd>` : null}
${finalityRow(network, block)}
${block && html`<dt>${termsOf(network).height}</dt><dd>${block.height} <code class="quiet">${block.hash}</code></dd><dt>Time</dt><dd>${timeText(block.at)}</dd>`}
${facts.program ? signerRows(network, facts.program) : null}
${fee && html`<dt>Fee</dt><dd>${amountOf(fee)}</dd>`}
${call && callRows(network, call)}
</dl>
</section>
${transferSection(network, facts)}${outputSections(network, facts)}${facts.hidden ? hiddenSections(network, facts.hidden) : null}${facts.program ? programSections(network, facts.program) : null}`
}

const signerRows = (network: Network, { signers, payer }: ProgramFacts): Html =>
  html`${signers.map(
    (one) => html`<dt>${termsOf(network).signer}</dt><dd>${addressLink(network.id, one)}</dd>`,
  )}${payer === null ? null : html`<dt>Payer of the fee</dt><dd>${addressLink(network.id, payer)}</dd>`}`

function programSections(network: Network, { changes, steps }: ProgramFacts): Html {
  const { step, program: programTerm } = termsOf(network)
  return html`<section>
<h2>Changes of balances</h2>
${
  changes.length === 0
    ? html`<p class="quiet">None.</p>`
    : table(
        html`<th>Address</th><th class="amount">Amount</th>`,
        changes,
        ({ address, direction, amount: sum }) => html`<tr>
<td data-name="Address">${addressLink(network.id, address)}</td>
<td class="amount ${direction}">${direction === 'in' ? '+' : '−'}${amountOf(sum)}</td>
</tr>
`,
      )
}
</section>
<section>
<h2>${step}s</h2>
${table(
  html`<th>${step}</th><th>${programTerm}</th><th>Details</th>`,
  steps,
  ({ name, program, accounts, text }) => html`<tr>
<td data-name="${step}">${name}</td>
<td data-name="${programTerm}">${program === null ? '–' : addressLink(network.id, program)}</td>
<td>${accounts.length === 0 ? null : html`<details><summary>${accounts.length} ${accounts.length === 1 ? 'account' : 'accounts'}</summary>${accounts.map((one) => html`<div>${addressLink(network.id, one)}</div>`)}</details>`}<code>${text}</code></td>
</tr>
`,
)}
</section>`
}

function callRows({ id }: Network, call: NonNullable<TransactionFacts['call']>): Html {
  return html`<dt>From</dt><dd>${addressLink(id, call.from)}</dd>
<dt>To</dt><dd>${call.to === null ? html`a new contract ${addressLink(id, call.created)}` : addressLink(id, call.to)}</dd>
<dt>Value</dt><dd>${amountOf(call.value)}</dd>
<dt>Nonce</dt><dd>${call.nonce}</dd>`
}

function transferSection({ id }: Network, { transfers }: TransactionFacts): Html | null {
  if (transfers.length === 0) return null
  return html`<section>
<h2>Token transfers</h2>
${table(
  html`<th>From</th><th>To</th><th class="amount">Amount</th>`,
  transfers,
  ({ from, to, amount: sum }) => html`<tr>
<td data-name="From">${addressLink(id, from)}</td>
<td data-name="To">${addressLink(id, to)}</td>
<td class="amount">${amountOf(sum)}</td>
</tr>
`,
)}
</section>`
}

function outputSections({ id }: Network, { inputs, outputs }: TransactionFacts): Html | null {
  if (outputs.length === 0) return null
  return html`<section>
<h2>Inputs</h2>
${table(
  html`<th>From</th><th>Output spent</th><th class="amount">Amount</th>`,
  inputs,
  ({ spends, address, amount: sum }) => html`<tr>
<td data-name="From">${address === null ? '–' : addressLink(id, address)}</td>
<td data-name="Output">${spends === null ? 'newly mined' : html`${transactionLink(id, spends.hash)}:${spends.index}`}</td>
<td class="amount">${sum === null ? '–' : amountOf(sum)}</td>
</tr>
`,
)}
</section>
<section>
<h2>Outputs</h2>
${table(
  html`<th>To</th><th>Kind</th><th class="amount">Amount</th>`,
  outputs,
  ({ address, kind, amount: sum }) => html`<tr>
<td data-name="To">${address === null ? '–' : addressLink(id, address)}</td>
<td data-name="Kind">${kind}</td>
<td class="amount">${amountOf(sum)}</td>
</tr>
`,
)}
</section>`
}

function hiddenSections(
  { name }: Network,
  { inputs, outputs, lockedUntil }: NonNullable<TransactionFacts['hidden']>,
): Html {
  return html`<section>
<h2>Inputs</h2>
${
  inputs.length === 0
    ? html`<p class="quiet">None: newly mined.</p>`
    : html`<p class="quiet">Each input spends one output of its ring; the chain hides which. The key image prevents a second spend.</p>
${table(
  html`<th>Key image</th><th class="amount">Outputs in its ring</th>`,
  inputs,
  ({ keyImage, ring }) => html`<tr>
<td data-name="Key image"><code>${keyImage}</code></td>
<td class="amount" data-name="Outputs in its ring">${ring}</td>
</tr>
`,
)}`
}
</section>
<section>
<h2>Outputs</h2>
<p class="quiet">${name} shows neither the address nor the amount of an output${lockedUntil === null ? null : html`. These outputs are locked until ${lockedUntil instanceof Date ? timeText(lockedUntil) : html`block ${lockedUntil}`}`}.</p>
${table(
  html`<th>One-time key</th><th class="amount">Amount</th>`,
  outputs,
  ({ key, amount: sum }) => html`<tr>
<td data-name="One-time key"><code>${key}</code></td>
<td class="amount" data-name="Amount">${sum === null ? 'hidden' : amountOf(sum)}</td>
</tr>
`,
)}
</section>`
}
