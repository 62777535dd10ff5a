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

export type PriceDocuments = Readonly<{ urls: readonly string[]; stop(): Promise<void> }>

/** Serves three price documents in the form that docs/settings.md states. */
export async function servePriceDocuments(): Promise<PriceDocuments> {
  const servers = await Promise.all(middles.map(serve))
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

async function serve(prices: Readonly<Record<string, number>>): Promise<Server> {
  const usd = Object.fromEntries(
    Object.entries(prices).map(([key, middle]) => [
      key,
      key === 'usdc' ? { bid: '0.9999', ask: '1.0001' } : { bid: `${middle - 1}`, ask: `${middle + 1}` },
    ]),
  )
  const server = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ at: Date.now(), usd })),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
