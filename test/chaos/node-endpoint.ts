import { headersOf } from '@swapyard/lib/node-endpoint.ts'

/** A node's URL and headers. The password is a header, because `fetch` rejects a URL that contains one. */
export type NodeEndpoint = Readonly<{ url: string; headers: Readonly<Record<string, string>> }>

export function nodeEndpoint(rpcUrl: string): NodeEndpoint {
  const { host } = new URL(rpcUrl)
  return { url: `http://${host}/`, headers: { 'content-type': 'application/json', ...headersOf(rpcUrl) } }
}
