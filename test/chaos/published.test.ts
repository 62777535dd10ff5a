import { formatUnits } from 'viem'
import { afterEach, describe, expect, test } from 'vitest'
import { decimalsOf } from '../support/published-prices.ts'
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

/**
 * At base fees of 2 gwei, tips of 1 gwei, 10 satoshis and 12 litoshis per virtual byte, and 1.2 million piconeros per byte. A payment of ether
 * costs 25 200 × 5 gwei, its deposit 25 200 × 3.5 gwei, a payment of USDT 78 000 × 5 gwei and its deposit 103 200 × 3.5 gwei; bitcoin and
 * litecoin 209 and 68 virtual bytes; monero 2900 and 750 bytes. Converted at 3420.684 to 96380.72 dollars, and so on.
 */
const costs: readonly (readonly [from: string, to: string, both: bigint, payment: bigint])[] = [
  ['btc@btc', 'eth@eth', 317_749_198_962_600n, 126_000_000_000_000n],
  ['btc@btc', 'usdt@eth', 1_989_719n, 1_334_067n],
  ['eth@eth', 'btc@btc', 2_404n, 2_090n],
  ['eth@eth', 'usdt@eth', 1_635_772n, 1_334_067n],
  ['usdt@eth', 'btc@btc', 3_372n, 2_090n],
  ['usdt@eth', 'eth@eth', 487_200_000_000_000n, 126_000_000_000_000n],
  ['btc@btc', 'ltc@ltc', 633_068n, 2_508n],
  ['eth@eth', 'ltc@ltc', 292_667n, 2_508n],
  ['ltc@ltc', 'eth@eth', 126_248_239_626_873n, 126_000_000_000_000n],
  ['ltc@ltc', 'btc@btc', 2_091n, 2_090n],
  ['btc@btc', 'xmr@xmr', 5_196_707_489n, 3_480_000_000n],
  ['xmr@xmr', 'eth@eth', 226_566_534_359_504n, 126_000_000_000_000n],
]

describe.each(costs)('a quote of %s to %s', (from, to, both, payment) => {
  const listDisputes = (fixedFees: readonly string[], network: bigint, payout: bigint) => {
    const published = createPublishedTerms(fixedFees)
    const text = (units: bigint) => formatUnits(units, decimalsOf(to))
    published.record(from, to, { fees: { network: text(network), payout: text(payout) }, min: 0.01 })
    return published.disputes()
  }

  test('may state the network costs of its chains', () => {
    for (const fixedFees of [['ltc'], ['eth', 'ltc']]) expect(listDisputes(fixedFees, both, payment)).toEqual([])
  })

  test.each<[string, readonly string[], bigint]>([
    ['twice that', ['ltc'], 2n],
    ['twice that where the fee rates are constant', ['eth', 'ltc'], 2n],
    ['nothing', ['ltc'], 0n],
  ])('may not state %s', (_what, fixedFees, factor) => {
    const cost = (what: string, units: bigint) =>
      `a quote of ${what} states network costs of ${factor * units}, and those of the chains are ${units}`
    expect(listDisputes(fixedFees, factor * both, payment)).toEqual([cost(`${from} to ${to}`, both)])
    expect(listDisputes(fixedFees, both, factor * payment)).toEqual([cost(`one payment of ${to}`, payment)])
  })

  test('may not state one unit more or less where the fee rates are constant', () => {
    for (const difference of [-1n, 1n]) {
      expect(listDisputes(['eth', 'ltc'], both + difference, payment)).toHaveLength(1)
      expect(listDisputes(['eth', 'ltc'], both, payment + difference)).toHaveLength(1)
    }
  })
})

test('what a quote of litecoin states is believed where no proxy states its fee rate', () => {
  const published = createPublishedTerms([])
  published.record('btc@btc', 'ltc@ltc', { fees: { network: '1', payout: '1' }, min: 0.01 })
  expect(published.disputes()).toEqual([])
})

/** A proxy in front of a node with these results, and a call through it. */
async function startProxy(family: 'evm' | 'bitcoin', resultsNow: () => Readonly<Record<string, unknown>>) {
  const node = await startLocalServer(async (request, response) => {
    const { id, method } = JSON.parse((await readBody(request)).toString('utf8')) as { id: number; method: string }
    sendJson(response, JSON.stringify({ jsonrpc: '2.0', id, result: resultsNow()[method] }))
  })
  const proxy = await startRpcProxy(node.url, family)
  servers.push(proxy, node)
  const call = async (method: string) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] })
    return ((await (await fetch(proxy.url, { method: 'POST', body })).json()) as { result: unknown }).result
  }
  return { proxy, call }
}

test('a proxy with fixed fees states the same rates whatever its node estimates, and changes nothing else', async () => {
  let rate = '0x2'
  const { proxy, call } = await startProxy('evm', () => ({
    eth_maxPriorityFeePerGas: rate,
    eth_feeHistory: { oldestBlock: '0x5', baseFeePerGas: [rate, rate], reward: [[rate]] },
    eth_blockNumber: rate,
  }))
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

test('a proxy with fixed fees of the bitcoin family states a rate that its node does not, and changes nothing else', async () => {
  let estimate: object = { feerate: 0.001, blocks: 2 }
  const { proxy, call } = await startProxy('bitcoin', () => ({ estimatesmartfee: estimate, getblockcount: 7 }))
  expect(await call('estimatesmartfee')).toEqual(estimate)
  proxy.fixFees()
  for (const moved of [estimate, { errors: ['Insufficient data or no feerate found'], blocks: 2 }]) {
    estimate = moved
    expect(await call('estimatesmartfee')).toEqual({ feerate: 0.000_12, blocks: 2 })
    expect(await call('getblockcount')).toBe(7)
  }
  proxy.multiplyFees(20)
  expect(await call('estimatesmartfee')).toEqual({ feerate: 0.002_4, blocks: 2 })
})
