import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'

export type ResolveOptions = Readonly<{
  /** Addresses of DNS servers. Default: those of the system. */
  servers?: readonly string[]
  /** Time of one look-up. Default: 5 s. */
  timeoutMs?: number
}>

const TIMEOUT_MS = 5_000
/** Of the first query to each server; that of its repeat is longer. */
const QUERY_MS = 1_500
const QUERIES = 2

const loopback: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/**
 * All addresses of a host by DNS, for names of strangers. `dns.lookup` would hold one of the four threads of the process for as long
 * as a server does not answer, and files and all other names wait for these threads. The file of hosts is not read. Rejects with a
 * code of DNS if there is no address.
 */
export async function resolveHost(
  host: string,
  { servers, timeoutMs = TIMEOUT_MS }: ResolveOptions = {},
): Promise<readonly LookupAddress[]> {
  // RFC 6761 §6.3: resolvers answer for these names without DNS.
  if (/(^|\.)localhost\.?$/.test(host)) return loopback
  const resolver = new Resolver({ timeout: QUERY_MS, tries: QUERIES })
  if (servers !== undefined) resolver.setServers(servers)
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    resolver.cancel()
  }, timeoutMs)
  try {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = [...toAddresses(v4, 4), ...toAddresses(v6, 6)]
    if (addresses.length > 0) return addresses
    if (isLate) throw Object.assign(new Error(`DNS did not answer for ${host}`), { code: 'ETIMEOUT' })
    throw v4.status === 'rejected' ? v4.reason : new Error(`${host} has no address`)
  } finally {
    clearTimeout(timer)
  }
}

const toAddresses = (result: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] =>
  result.status === 'rejected' ? [] : result.value.map((address) => ({ address, family }))
