import { PATIENCE_MS } from '../support/patience.ts'
import type { Json } from '../support/until.ts'

/** A reply of the sandbox's control API with an error code. */
class ControlRefusal extends Error {
  readonly path: string
  /** Null = the reply has none. */
  readonly code: string | null

  constructor(path: string, text: string) {
    super(`${path}: ${text}`)
    this.path = path
    this.code = readCode(text)
  }
}

/** Sends a request to the sandbox's control API. Throws a ControlRefusal if the reply is an error. */
export async function postControl(controlUrl: string, path: string, body: unknown): Promise<Json> {
  const response = await fetch(controlUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  if (!response.ok) throw new ControlRefusal(path, await response.text())
  return response.json()
}

/** Whether the node refused a payment of the sandbox's bank, as it may after a reorganisation. */
export const isRefusedPayment = (error: unknown): boolean =>
  error instanceof ControlRefusal && error.path === '/deposits' && error.code === 'NODE_REFUSED'

function readCode(text: string): string | null {
  try {
    const { code } = JSON.parse(text) as { code?: unknown }
    return typeof code === 'string' ? code : null
  } catch {
    return null
  }
}
