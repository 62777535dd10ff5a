import { RpcError } from '@swapyard/lib/json-rpc.ts'

/** Null for an answer of the node that refuses the call. A missing answer is an error. */
export function nullIfRefused(error: unknown): null {
  if (error instanceof RpcError) return null
  throw error
}
