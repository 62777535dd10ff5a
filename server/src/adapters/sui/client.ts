import { SuiGrpcClient } from '@mysten/sui/grpc'
import { headersOf, type NodeEndpoint, urlOf } from '@swapyard/lib/node-endpoint.ts'
import { present } from '../../lib/assert.ts'

const TIMEOUT_MS = 5_000

/** The client of one node. Its `network` chooses nothing that the program uses. */
export function createSuiClient(endpoint: NodeEndpoint): SuiGrpcClient {
  const baseUrl = new URL(urlOf(endpoint))
  // They are among the headers, and `fetch` refuses a URL with them.
  baseUrl.username = baseUrl.password = ''
  return new SuiGrpcClient({
    network: 'mainnet',
    baseUrl: baseUrl.href,
    meta: { ...headersOf(endpoint) },
    // As with all other nodes: the headers and the request are for this host alone.
    fetchInit: { redirect: 'error' },
  })
}

/** The transport itself waits without end. */
export const callOptions = (signal?: AbortSignal) => {
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  return { abort: signal === undefined ? timeout : AbortSignal.any([timeout, signal]) }
}

/** Base58 of the digest of the first checkpoint. */
export async function readGenesis({ ledgerService }: SuiGrpcClient): Promise<string> {
  const { response } = await ledgerService.getServiceInfo({}, callOptions())
  return present(response.chainId, 'the chain id of a node')
}
