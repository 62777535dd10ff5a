import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networks } from '../server/networks/index.ts'
import type { NetworkNodes } from '../server/src/app/chains.ts'
import { exchangeFamilies, resolveNetwork } from '../server/src/core/domain/network.ts'

/** Responses to the fee queries of the API role. All other methods fail. */
const results: Readonly<Record<string, unknown>> = {
  eth_feeHistory: { oldestBlock: '0x1', baseFeePerGas: ['0x3b9aca00', '0x3b9aca00'], reward: [['0x3b9aca00']] },
  eth_maxPriorityFeePerGas: '0x3b9aca00',
  eth_gasPrice: '0x3b9aca00',
  eth_getCode: '0x',
  estimatesmartfee: { feerate: 0.0001, blocks: 2 },
  getmempoolinfo: { mempoolminfee: 0.00001 },
  getnetworkinfo: { relayfee: 0.00001 },
  get_fee_estimate: { fee: 20_000, quantization_mask: 10_000, status: 'OK' },
}

/** One stub node per network that has an adapter, so that all currencies are available. */
export async function startStubNodes(): Promise<{ nodes: readonly NetworkNodes[]; stop(): Promise<void> }> {
  const chainIds = new Map(
    networks.map((network) => [`/${network.id}`, resolveNetwork(network, 'sandbox').evm?.chainId]),
  )
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const { id, method } = JSON.parse(text) as { id: number; method: string }
    const result =
      method === 'eth_chainId' ? `0x${(chainIds.get(request.url ?? '') ?? 0).toString(16)}` : results[method]
    const outcome = result === undefined ? { error: { code: -32601, message: 'method not found' } } : { result }
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const served = networks.filter(({ family }) => exchangeFamilies.some((known) => known === family))
  return {
    nodes: served.map(({ id }) => ({ network: id, rpcUrls: [`http://127.0.0.1:${port}/${id}`], tokens: {} })),
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
