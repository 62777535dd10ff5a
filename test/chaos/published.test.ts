import { afterEach, expect, test } from 'vitest'
import { type LocalServer, readBody, sendJson, startLocalServer } from './local-server.ts'
import { createPublishedTerms } from './published.ts'
import { startRpcProxy } from './rpc-proxy.ts'

const FEE = 10n ** 15n
const quote = { fees: { network: '0.001', payout: '0.001' }, min: 0.01 }
const servers: Pick<LocalServer, 'close'>[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

test.each([
  ['exact where the nodes state constant fee rates', ['eth'], FEE, FEE],
  ['elsewhere within what the rates may move between two blocks', [], FEE / 2n, (FEE * 3n) / 2n],
])('the network fee of ether is %s', (_what, fixedFees, least, most) => {
  const published = createPublishedTerms(fixedFees)
  published.record('btc@btc', 'eth@eth', quote)
  expect(published.networkFee('btc@btc', 'eth@eth')).toEqual({ least, most })
  expect(published.refundFee('eth@eth')).toEqual({ least, most })
})

test('a proxy with fixed fees states the same rates whatever its node estimates, and changes nothing else', async () => {
  let rate = '0x2'
  const node = await startLocalServer(async (request, response) => {
    const { id, method } = JSON.parse((await readBody(request)).toString('utf8')) as { id: number; method: string }
    const results: Readonly<Record<string, unknown>> = {
      eth_maxPriorityFeePerGas: rate,
      eth_feeHistory: { oldestBlock: '0x5', baseFeePerGas: [rate, rate], reward: [[rate]] },
      eth_blockNumber: rate,
    }
    sendJson(response, JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }))
  })
  const proxy = await startRpcProxy(node.url, 'evm')
  servers.push(proxy, node)
  const call = async (method: string) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] })
    return ((await (await fetch(proxy.url, { method: 'POST', body })).json()) as { result: unknown }).result
  }
  expect(await call('eth_maxPriorityFeePerGas')).toBe('0x2')
  proxy.fixFees()
  const history = {
    oldestBlock: '0x5',
    baseFeePerGas: ['0x77359400', '0x77359400'],
    reward: [['0x3b9aca00']],
  }
  for (const moved of ['0x3', '0x4']) {
    rate = moved
    expect(await call('eth_maxPriorityFeePerGas')).toBe('0x3b9aca00')
    expect(await call('eth_feeHistory')).toEqual(history)
    expect(await call('eth_blockNumber')).toBe(moved)
  }
})
