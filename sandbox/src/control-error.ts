/**
 * An error reply of the control server. The reply has only status, code and message; the cause stays in the process.
 */
export class ControlError extends Error {
  readonly status: 400 | 404 | 409 | 503
  readonly code: string

  constructor(status: 400 | 404 | 409 | 503, code: string, message: string, cause?: unknown) {
    super(message, { cause })
    this.status = status
    this.code = code
  }
}

export function currencyNotFound(network: string, currency: string): ControlError {
  const message = `${network} has no currency "${currency.slice(0, 40)}" in the sandbox`
  return new ControlError(404, 'CURRENCY_NOT_FOUND', message)
}

export function requireNativeCurrency(network: string, currency: string): void {
  if (currency !== 'native' && currency !== network) throw currencyNotFound(network, currency)
}

export function requireReorgDepth(depth: number, depthMax: number): void {
  if (depth <= depthMax) return
  throw new ControlError(409, 'REORG_TOO_DEEP', `depth is ${depth}; at most ${depthMax} blocks can be replaced`)
}

export function invalidAddress(network: string, address: string, cause?: unknown): ControlError {
  const message = `"${address.slice(0, 120)}" is not a valid ${network} address in the sandbox`
  return new ControlError(400, 'INVALID_ADDRESS', message, cause)
}
