import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The middle price of each document in whole US dollars. They differ by less than 25 basis points, so all three agree. */
const middles: readonly Readonly<Record<string, number>>[] = [
  { eth: 3_199, bnb: 599, btc: 63_900, usdc: 1 },
  { eth: 3_200, bnb: 600, btc: 64_000, usdc: 1 },
  { eth: 3_201, bnb: 601, btc: 64_100, usdc: 1 },
]
/** The lowest bid and the highest ask of the documents, in whole US dollars: each is a dollar from its middle price. */
export const AGREED = { ethBid: 3_198, bnbAsk: 602, btcBid: 63_899, btcAsk: 64_101 } as const

/** `sources`: as members of `prices.sources`. */
export type PriceDocuments = Readonly<{ sources: readonly unknown[]; stop(): Promise<void> }>

/** Serves two price documents in the form that docs/settings.md states, and a mirror of Kraken between them. */
export async function servePriceDocuments(): Promise<PriceDocuments> {
  const { urls, stop } = await serveDocuments(
    middles.map((prices, n) => () => (n === 1 ? renderKraken(prices) : renderDocument(prices))),
  )
  return { sources: urls.map((url, n) => (n === 1 ? { exchange: 'kraken', url } : url)), stop }
}

/** Serves documents, each on a port of its own and rendered for each request. */
export async function serveDocuments(
  renders: readonly (() => object | Promise<object>)[],
): Promise<{ urls: readonly string[]; stop(): Promise<void> }> {
  const servers = await Promise.all(renders.map(serve))
  return {
    urls: servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/usd`),
    async stop() {
      for (const server of servers) {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      }
    },
  }
}

const booksOf = (prices: Readonly<Record<string, number>>) =>
  Object.entries(prices).map(
    ([key, middle]) =>
      [
        key,
        key === 'usdc' ? { bid: '0.9999', ask: '1.0001' } : { bid: `${middle - 1}`, ask: `${middle + 1}` },
      ] as const,
  )

const renderDocument = (prices: Readonly<Record<string, number>>): object => ({
  at: Date.now(),
  usd: Object.fromEntries(booksOf(prices)),
})

/** Kraken's names of the pairs. */
const pairs: Readonly<Record<string, string>> = { eth: 'XETHZUSD', bnb: 'BNBUSD', btc: 'XXBTZUSD', usdc: 'USDCUSD' }

const renderKraken = (prices: Readonly<Record<string, number>>): object => ({
  error: [],
  result: Object.fromEntries(
    booksOf(prices).map(([key, { bid, ask }]) => [pairs[key], { a: [ask, '1', '1.000'], b: [bid, '1', '1.000'] }]),
  ),
})

async function serve(render: () => object | Promise<object>): Promise<Server> {
  const server = createServer(async (_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(await render())),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
