import { html } from '../../lib/html.ts'
import { type Site, siteDocument } from './layout.ts'
import { OPENAPI_PATH, POSTMAN_PATH, REFERENCE_PATH, START_PATH } from './page-list.ts'

/** The page at `/` in production: what this server is and where its documentation is. The sandbox has the playground there. */
export function rootDocument(site: Site): string {
  const summary = 'An exchange of coins between networks, and swaps of tokens on one network, over an HTTP API.'
  return siteDocument(site, {
    path: '/',
    title: 'Swapyard',
    summary,
    body: html`<main id="content" class="root" tabindex="-1">
<h1>Swapyard</h1>
<p class="lead">${summary}</p>
<p>The API of this server is at <code>${site.publicUrl}</code>. Every call needs an API key, which the operator of this server issues.</p>
<section>
<h2 id="exchanges">Exchanges</h2>
<p>A customer sends a coin on one network and receives another coin on another network, at a floating or a fixed rate. A partner’s program asks for a quote, creates an exchange, shows the deposit address and reads the status.</p>
<p><a href="/docs/first-exchange">The first exchange in five minutes</a></p>
</section>
<section>
<h2 id="swaps">Swaps</h2>
<p>A user exchanges tokens on one network in one transaction, which the user’s own key signs. This server finds the route and builds the transaction.</p>
<p><a href="/docs/swaps">Swaps with viem, Solana and Sui</a></p>
</section>
<section>
<h2 id="documentation">Documentation</h2>
<ul>
<li><a href="${START_PATH}">Guides</a></li>
<li><a href="${REFERENCE_PATH}">API reference</a></li>
<li><a href="${OPENAPI_PATH}">OpenAPI document</a></li>
<li><a href="${POSTMAN_PATH}">Postman collection</a></li>
</ul>
</section>
</main>`,
  })
}
