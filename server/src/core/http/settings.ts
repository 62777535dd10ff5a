import type { Throttle } from '../ports/throttle.ts'

export type ApiSettings = Readonly<{
  /** Where partners reach us, without a trailing slash: icons, the OpenAPI document. */
  publicUrl: string
  /** How many proxies of ours stand in front. 0 = none: a forwarded address is believed from nobody. */
  trustedProxies: number
  /** null = no limit at all (sandbox only). */
  throttle: Throttle | null
  /** Of one address on public routes. */
  publicLimitPerMinute: number
  /** Opens `/metrics` from elsewhere than loopback; null = from loopback only. */
  operatorToken: string | null
  /** The sandbox's control server; null outside the sandbox. */
  sandboxControlUrl: string | null
  /** Health and metrics alone: what a worker shows. */
  operationsOnly: boolean
  /** A request must be in by then: 408. */
  requestTimeoutMs: number
  headersTimeoutMs: number
  /** A create must be answered by then. */
  createTimeoutMs: number
  /** Mean delay of the event loop over one sample above which requests are refused with 503; null = never. */
  overload: Readonly<{ eventLoopDelayMs: number; sampleMs: number }> | null
}>

export const apiDefaults = {
  trustedProxies: 0,
  throttle: null,
  publicLimitPerMinute: 600,
  operatorToken: null,
  sandboxControlUrl: null,
  operationsOnly: false,
  requestTimeoutMs: 15_000,
  headersTimeoutMs: 10_000,
  createTimeoutMs: 10_000,
  overload: { eventLoopDelayMs: 200, sampleMs: 1_000 },
} as const satisfies Omit<ApiSettings, 'publicUrl'>

/** What the HTTP floor counts. `route` is the pattern, never the path: labels are a bounded set. */
export type HttpMetrics = Readonly<{
  observeRequest(route: string, method: string, status: number, seconds: number): void
  /** Prometheus text. */
  render(): Promise<string>
  contentType: string
}>

/** The part of a pino logger that is used here: object first, constant message. */
export type HttpLog = Readonly<{
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}>
