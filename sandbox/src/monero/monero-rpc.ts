import { ControlError } from '../control-error.ts'

export type MoneroRpc = Readonly<{
  call(
    method: string,
    params?: Readonly<Record<string, unknown>> | readonly unknown[],
  ): Promise<Readonly<Record<string, unknown>>>
  /** Calls a monerod method that has its own path. */
  post(path: string, body: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>
}>

/** An error that monerod or monero-wallet-rpc returned. */
export class MoneroError extends Error {}

const timeoutMs = 60_000

/** An RPC client for a local monerod or monero-wallet-rpc. Amounts may exceed 2^53 and are then bigint. */
export function createMoneroRpc(port: number): MoneroRpc {
  const post: MoneroRpc['post'] = async (path, body) => {
    let text: string
    try {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: toJson(body),
        signal: AbortSignal.timeout(timeoutMs),
      })
      text = await answer.text()
    } catch (cause) {
      throw new ControlError(503, 'NODE_UNAVAILABLE', `the node at port ${port} does not answer`, cause)
    }
    return JSON.parse(text, parseExact) as Record<string, unknown>
  }
  return {
    post,
    call: async (method, params = {}) => {
      const { result, error } = (await post('/json_rpc', { jsonrpc: '2.0', id: '0', method, params })) as {
        result?: Record<string, unknown>
        error?: { message: string }
      }
      if (error) throw new MoneroError(`${method}: ${error.message}`)
      return result ?? {}
    },
  }
}

/** Parses integers beyond 2^53 as bigint, so that they stay exact. */
function parseExact(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  return BigInt(context?.source ?? '0')
}

const toJson = (body: unknown): string =>
  JSON.stringify(body, (_key, value: unknown) => (typeof value === 'bigint' ? `@${value}@` : value)).replace(
    /"@(\d+)@"/g,
    '$1',
  )
