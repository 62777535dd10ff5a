import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../core/domain/errors.ts'
import type { Network } from '../core/domain/network.ts'
import type { ChainExplorer, HeadFacts } from '../exchange/ports/explorer.ts'
import { type Html, html } from '../lib/html.ts'
import { addressBody } from './address.ts'
import { timeText } from './amounts.ts'
import { type Page, sendPage, table } from './page.ts'
import { isSettling, transactionBody } from './transaction.ts'

const EXPLORER_PATH = '/sandbox/explorer'
const REFRESH_SECONDS = 2

export type Explorers = ReadonlyMap<string, ChainExplorer>
type Params = { network: string; subject: string }
type PageResponse = Readonly<{ status: number; page: Page }>

/** Block explorer of the sandbox's chains: the target of `addressExplorer` and `txExplorer` in the sandbox's currency list. */
export function mountExplorer(app: FastifyInstance, explorers: Explorers): void {
  app.get(EXPLORER_PATH, async (request, reply) => {
    request.operation = EXPLORER_PATH
    const heads = await Promise.all([...explorers.values()].map(async (one) => ({ one, head: await headOf(one) })))
    return sendPage(reply, 200, { title: 'Sandbox explorer', trail: trailOf(null), body: indexBody(heads) })
  })
  mountLookup(app, explorers, `${EXPLORER_PATH}/:network/address/:subject`, async (explorer, text) => {
    const { network } = explorer
    const facts = await explorer.address(text)
    if (facts === null) return notFound(network, `Not an address on ${network.name}`, text)
    return ok({
      title: `${network.id} ${facts.address}`,
      trail: trailOf(network),
      body: addressBody(network, facts),
    })
  })
  mountLookup(app, explorers, `${EXPLORER_PATH}/:network/tx/:subject`, async (explorer, text) => {
    const { network } = explorer
    const facts = await explorer.transaction(text)
    if (facts === null) return notFound(network, `No such transaction on ${network.name}`, text)
    return ok({
      title: `${network.id} ${facts.hash}`,
      trail: trailOf(network),
      body: transactionBody(network, facts),
      ...(isSettling(network, facts) ? { refreshSeconds: REFRESH_SECONDS } : {}),
    })
  })
}

type Lookup = (explorer: ChainExplorer, text: string) => Promise<PageResponse>

function mountLookup(app: FastifyInstance, explorers: Explorers, path: string, lookup: Lookup): void {
  app.get<{ Params: Params }>(path, async (request: FastifyRequest<{ Params: Params }>, reply: FastifyReply) => {
    request.operation = path
    const { network, subject } = request.params
    const { status, page } = await runLookup(explorers, network.toLowerCase(), subject, lookup)
    return sendPage(reply, status, page)
  })
}

async function runLookup(
  explorers: Explorers,
  network: string,
  subject: string,
  lookup: Lookup,
): Promise<PageResponse> {
  const explorer = explorers.get(network)
  if (explorer === undefined) return notFound(null, 'This sandbox does not run this network', network)
  try {
    return await lookup(explorer, subject)
  } catch (error) {
    if (!(error instanceof AppError && error.retryable)) throw error
    return { status: 503, page: failure(explorer.network, 'The node does not answer', 'Try again in a moment.') }
  }
}

const ok = (page: Page): PageResponse => ({ status: 200, page })

function notFound(network: Network | null, title: string, text: string): PageResponse {
  return { status: 404, page: failure(network, title, html`<code>${text}</code>`) }
}

function failure(network: Network | null, title: string, text: Html | string): Page {
  return { title, trail: trailOf(network), body: html`<h1>${title}</h1><section><p>${text}</p></section>` }
}

function trailOf(network: Network | null): Page['trail'] {
  return [
    { name: 'Sandbox explorer', href: EXPLORER_PATH },
    ...(network === null ? [] : [{ name: network.name, href: null }]),
    { name: 'test funds without value', href: null },
  ]
}

async function headOf(explorer: ChainExplorer): Promise<HeadFacts | null> {
  try {
    return await explorer.head()
  } catch {
    return null
  }
}

function indexBody(heads: readonly Readonly<{ one: ChainExplorer; head: HeadFacts | null }>[]): Html {
  return html`<h1>Sandbox explorer</h1>
<p class="quiet">An address is at <code>${EXPLORER_PATH}/NETWORK/address/ADDRESS</code>, a transaction at <code>${EXPLORER_PATH}/NETWORK/tx/HASH</code>.</p>
<section>
<h2>Networks</h2>
${table(
  html`<th>Network</th><th>Ticker</th><th>Latest block</th><th>Time</th>`,
  heads,
  ({ one: { network }, head }) => html`<tr>
<td>${network.name}</td>
<td data-name="Ticker"><code>${network.id}</code></td>
<td data-name="Latest block">${head === null ? 'no response' : head.height}</td>
<td data-name="Time">${head === null ? '–' : timeText(head.at)}</td>
</tr>
`,
)}
</section>`
}
