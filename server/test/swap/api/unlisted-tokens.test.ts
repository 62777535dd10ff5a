import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findNode } from '../../../../test/support/nodes.ts'
import { createLog } from '../../../src/lib/log.ts'
import { type FaultyNode, startFaultyNode } from '../../adapters/chains/evm/faulty-node.ts'
import { LOCK_MS, NATIVE, type Stage, startStage } from './partner.ts'

// A quote reads memory only: an unknown token is read in the background.

let node: FaultyNode
let stage: Stage
const logged: string[] = []
beforeAll(async () => {
  const [url = ''] = findNode('eth').rpcUrls
  node = await startFaultyNode(url)
  const log = createLog({ level: 'warn', pretty: false, destination: { write: (line) => void logged.push(line) } })
  stage = await startStage('eth', { swapNodes: new Map([['eth', node.url]]), log })
}, LOCK_MS)
afterAll(async () => {
  await stage?.scenario.stop()
  await node?.stop()
})

let last = 0xabcdef00
const newAddress = () => `0x${(last++).toString(16).padStart(40, '0')}`
const request = (toTokenAddress: string) => ({
  ...{ fromTokenAddress: NATIVE, toTokenAddress, amount: '1', slippage: '0.5', referrerFee: '0' },
})
const info = (address: string) =>
  stage.scenario.call('GET', `/v1/defi/currency/info?${new URLSearchParams({ network: 'eth', address })}`)
/** Details that partners must not see: which node failed, and in which call. */
const INTERNALS = /node \d|eth_|anvil|127\.0\.0\.1/

describe('an unknown token', () => {
  test('is refused with NO_ROUTE at first, and classified after the read', async () => {
    const address = newAddress()
    const first = await stage.quote(request(address))
    expect(first.body).toMatchObject({
      ...{ statusCode: 422, code: 'NO_ROUTE', message: expect.stringContaining('try again') },
      errors: [{ code: 'NO_ROUTE', field: 'toTokenAddress' }],
    })
    expect(first.headers.get('retry-after')).toBe('1')
    const body = await stage.scenario.until('it is read', async () => {
      const { body } = await stage.quote(request(address))
      return body.code === 'NO_ROUTE' ? null : body
    })
    expect(body).toMatchObject({ statusCode: 404, code: 'TOKEN_NOT_FOUND', errors: [{ field: 'toTokenAddress' }] })
  })

  test('is listed after errors of the request', async () => {
    const { body } = await stage.quote({ ...request(newAddress()), slippage: '51' })
    expect(body.statusCode).toBe(400)
    expect(body.errors).toMatchObject([{ code: 'SLIPPAGE_OUT_OF_RANGE' }, { code: 'NO_ROUTE' }])
  })
})

describe('with a node that does not answer', () => {
  const codeReads: unknown[] = []
  beforeAll(() =>
    node.set(({ method, params: [address] }) => {
      if (method !== 'eth_getCode') return undefined
      codeReads.push(address)
      return 'silence'
    }),
  )
  afterAll(() => node.set(() => undefined))

  test('quotes do not wait, and read each token once', async () => {
    const address = newAddress()
    const answers = await Promise.all(Array.from({ length: 20 }, () => stage.quote(request(address))))
    // A quote that waited for the node would be answered with NETWORK_UNAVAILABLE.
    for (const { body } of answers) expect(body).toMatchObject({ statusCode: 422, code: 'NO_ROUTE' })
    expect(codeReads.filter((one) => one === address)).toEqual([address])
    expect((await stage.quote(request(stage.token('usdc')))).status).toBe(200)
  })

  test('waiting requests fail without node names, which are logged', async () => {
    const address = newAddress()
    const account = `0x${'12'.repeat(20)}`
    for (const { body } of await Promise.all([info(address), stage.build({ ...request(address), account })])) {
      expect(body).toMatchObject({ statusCode: 503, code: 'NETWORK_UNAVAILABLE' })
      expect(JSON.stringify(body)).not.toMatch(INTERNALS)
    }
  })

  test('a build of listed tokens fails as well', async () => {
    const user = await stage.user()
    const { body } = await stage.build({ ...request(stage.token('usdc')), account: user.address })
    expect(body).toMatchObject({ statusCode: 503, code: 'NETWORK_UNAVAILABLE' })
    expect(JSON.stringify(body)).not.toMatch(INTERNALS)
    expect(logged.join('')).toContain('eth node 1 gave no answer to eth_getCode')
  })
})
