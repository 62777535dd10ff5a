/** An error of the validator's JSON-RPC. */
export class SolanaRpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

export const invalidParams = (message: string): SolanaRpcError => new SolanaRpcError(-32602, message)
