import Type, { type StaticDecode } from 'typebox'
import type { NodeEndpoint } from '../lib/node-endpoint.ts'
import { findWrongNames, headers } from './headers.ts'

export const nodeHeaders = Type.Record(Type.String(), headers(), {
  description:
    'Headers that a node asks for, such as a key: by the host of its URL, with the port if the URL has one, then by name. They are never logged. Not for `xmr`, whose wallet program sends none',
})

type NodeSettings = Readonly<{ rpcUrls: readonly string[]; headers?: StaticDecode<typeof nodeHeaders> }>

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '')

/** The nodes of a network, each with the headers of its host. */
export const toEndpoints = ({ rpcUrls, headers: byHost = {} }: NodeSettings): readonly NodeEndpoint[] =>
  rpcUrls.map((url) => {
    const own = byHost[hostOf(url)]
    return own === undefined ? url : { url, headers: own }
  })

/** Headers that no request would carry, and names that cannot be set. */
export function findWrongHeaders(source: string, networks: Readonly<Record<string, NodeSettings>>): readonly string[] {
  return Object.entries(networks).flatMap(([network, { rpcUrls, headers: byHost }]) => {
    const path = `${source}: networks.${network}.headers`
    if (byHost === undefined) return []
    if (network === 'xmr') return [`${path}: the wallet program of Monero sends no headers; use a node without them`]
    const hosts = rpcUrls.map(hostOf)
    return Object.entries(byHost).flatMap(([host, own]) => [
      ...(hosts.includes(host) ? [] : [`${path}.${host} is the host of none of its rpcUrls`]),
      ...findWrongNames(`${path}.${host}`, own),
    ])
  })
}
