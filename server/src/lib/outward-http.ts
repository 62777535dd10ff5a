import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { reasonOf } from '@swapyard/lib/transport-error.ts'
import { Agent, request } from 'undici'
import { isPublicAddress } from './ip-address.ts'
import { resolveHost } from './resolve-host.ts'

/** Status of the answer, or why none came. Nothing throws. */
type Outcome = Readonly<{ status: number | null; error: string | null }>

/** All addresses of a host, in a bounded time. Rejects without one. */
type Lookup = (host: string) => Promise<readonly LookupAddress[]>

export type OutwardOptions = Readonly<{
  /** http, and addresses of the own network: for the sandbox. */
  allowsAll: boolean
  /** Time of one request, from the name to the answer. Default: 10 s. */
  timeoutMs?: number
  /** Default: by DNS. `allowsAll` uses the system's. */
  lookup?: Lookup
}>

export type OutwardHttp = Readonly<{
  /** Why this URL must not be called; null = it may be. A host that does not resolve now may be. */
  findProblem(url: string): Promise<string | null>
  /** Sends one request; follows no redirect, and reads no more of the answer than its connection needs. */
  post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<Outcome>
  close(): Promise<void>
}>

const TIMEOUT_MS = 10_000
/** A longer answer costs the connection, and is still an answer. */
const ANSWER_BYTES = 16 * 1024

/** An address that must not be called. */
class RefusedAddressError extends Error {}

/**
 * The client for URLs that strangers name. Every address that it connects to is checked at the time of the connection, so a
 * name that resolves to another address later changes nothing.
 */
export function createOutwardHttp({
  allowsAll,
  timeoutMs = TIMEOUT_MS,
  lookup = resolveHost,
}: OutwardOptions): OutwardHttp {
  // One connection for each request that runs, so that none waits behind requests to the same host, and its time ends before it was
  // sent. The caller bounds how many run.
  const agent = new Agent({
    allowH2: false,
    connect: { timeout: timeoutMs, ...(allowsAll ? {} : { lookup: createLookupPublic(lookup) }) },
  })
  const findStaticProblem = (url: string) => problemOf(url, allowsAll)
  return {
    findProblem: async (url) => {
      const problem = findStaticProblem(url)
      if (problem !== null || allowsAll) return problem
      const host = hostOf(new URL(url))
      if (isIP(host) !== 0) return null
      const addresses = await lookup(host).catch(() => [])
      return addresses.every(({ address }) => isPublicAddress(address))
        ? null
        : 'its host has an address that is not public'
    },
    post: async (url, headers, body) => {
      const problem = findStaticProblem(url)
      if (problem !== null) return { status: null, error: problem }
      try {
        const answer = await request(url, {
          dispatcher: agent,
          method: 'POST',
          headers: { ...headers },
          body,
          signal: AbortSignal.timeout(timeoutMs),
        })
        // The status alone decides. The signal ends an answer that does not end.
        await answer.body.dump({ limit: ANSWER_BYTES }).catch(() => undefined)
        return { status: answer.statusCode, error: null }
      } catch (error) {
        return { status: null, error: toReason(error, timeoutMs) }
      }
    },
    close: () => agent.destroy(),
  }
}

/** What the text of a URL tells. The parser has made every form of an IPv4 address a dotted one. */
function problemOf(text: string, allowsAll: boolean): string | null {
  if (!URL.canParse(text)) return 'it is not a URL'
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return 'it contains credentials'
  if (url.protocol !== 'https:' && !(allowsAll && url.protocol === 'http:')) return 'it must begin with https://'
  const host = hostOf(url)
  if (!allowsAll && isIP(host) !== 0 && !isPublicAddress(host)) return 'its address is not public'
  return null
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1')

/** Refuses a name if any of its addresses is not public. The connection uses the addresses that were checked. */
const createLookupPublic =
  (lookup: Lookup): LookupFunction =>
  (host, options, done) => {
    lookup(host).then(
      (addresses) => {
        const [first] = addresses
        if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
          return done(new RefusedAddressError('its host has an address that is not public'), '', 4)
        return options.all ? done(null, [...addresses]) : done(null, first.address, first.family)
      },
      (error) => done(error, '', 4),
    )
  }

function toReason(error: unknown, timeoutMs: number): string {
  if (error instanceof RefusedAddressError) return error.message
  if (error instanceof Error && error.name === 'TimeoutError') return `no answer within ${timeoutMs / 1_000} s`
  return reasonOf(error)
}
