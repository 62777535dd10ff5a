import type { Throttle } from '../ports/throttle.ts'

export type ApiSettings = Readonly<{
  /** The public URL without a trailing slash, for icons and the OpenAPI document. */
  publicUrl: string
  /** Number of our own proxies in front of the server. 0: forwarded addresses are ignored. */
  trustedProxies: number
  /** Null: no limit (sandbox only). */
  throttle: Throttle | null
  /** Requests per minute of one address on public routes. */
  publicLimitPerMinute: number
  /** Allows `/metrics` from other addresses than loopback; null: loopback only. */
  operatorToken: string | null
  /** The sandbox's control server; null outside the sandbox. */
  sandboxControlUrl: string | null
  /** Serves only health and metrics, as a worker does. */
  operationsOnly: boolean
  /** Time to receive a request, in ms; then 408. */
  requestTimeoutMs: number
  headersTimeoutMs: number
  /** Time to answer a create, in ms. */
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

/** Metrics of the HTTP server. `route` is the pattern, never the path, so that labels are bounded. */
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
