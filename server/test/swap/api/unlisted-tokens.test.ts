import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nodeOf } from '../../../../test/support/nodes.ts'
import { createLog } from '../../../src/lib/log.ts'
import { type FaultyNode, startFaultyNode } from '../../adapters/chains/evm/faulty-node.ts'
import { LOCK_MS, NATIVE, type Stage, startStage } from './partner.ts'

// A quote reads memory alone: what it meets for the first time is read behind it.

let node: FaultyNode
let stage: Stage
const logged: string[] = []
beforeAll(async () => {
  const [url = ''] = nodeOf('eth').rpcUrls
  node = await startFaultyNode(url)
  const log = createLog({ level: 'warn', pretty: false, destination: { write: (line) => void logged.push(line) } })
  stage = await startStage('eth', { swapNodes: new Map([['eth', node.url]]), log })
}, LOCK_MS)
afterAll(async () => {
  await stage?.scenario.stop()
  await node?.stop()
})

let last = 0xabcdef00
const nobody = () => `0x${(last++).toString(16).padStart(40, '0')}`
const asked = (toTokenAddress: string) => ({
  ...{ fromTokenAddress: NATIVE, toTokenAddress, amount: '1', slippage: '0.5', referrerFee: '0' },
})
const info = (address: string) =>
  stage.scenario.call('GET', `/v1/defi/currency/info?${new URLSearchParams({ network: 'eth', address })}`)
/** What partners must not learn: which node failed, and at what. */
const INTERNALS = /node \d|eth_|anvil|127\.0\.0\.1/

async function timed<T>(work: Promise<T>): Promise<T & { ms: number }> {
  const since = performance.now()
  const done = await work
  return { ...done, ms: performance.now() - since }
}

describe('a token that is met for the first time', () => {
  test('is NO_ROUTE at once, and what it is a moment later', async () => {
    const address = nobody()
    const first = await stage.quote(asked(address))
    expect(first.body).toMatchObject({
      ...{ statusCode: 422, code: 'NO_ROUTE', message: expect.stringContaining('ask again') },
      errors: [{ code: 'NO_ROUTE', field: 'toTokenAddress' }],
    })
    expect(first.headers.get('retry-after')).toBe('1')
    const known = await stage.scenario.until('it is read', async () => {
      const { body } = await stage.quote(asked(address))
      return body.code === 'NO_ROUTE' ? null : body
    })
    expect(known).toMatchObject({ statusCode: 404, code: 'TOKEN_NOT_FOUND', errors: [{ field: 'toTokenAddress' }] })
  })

  test('comes after whatever must be corrected', async () => {
    const { body } = await stage.quote({ ...asked(nobody()), slippage: '51' })
    expect(body.statusCode).toBe(400)
    expect(body.errors).toMatchObject([{ code: 'SLIPPAGE_OUT_OF_RANGE' }, { code: 'NO_ROUTE' }])
  })
})

describe('where the node is silent', () => {
  const codesAsked: unknown[] = []
  beforeAll(() =>
    node.set(({ method, params: [address] }) => {
      if (method !== 'eth_getCode') return undefined
      codesAsked.push(address)
      return 'silence'
    }),
  )
  afterAll(() => node.set(() => undefined))

  test('quotes wait for nothing, and ask it no more than once for each token', async () => {
    const address = nobody()
    const answers = await Promise.all(Array.from({ length: 20 }, () => timed(stage.quote(asked(address)))))
    for (const { body, ms } of answers) {
      expect(body).toMatchObject({ statusCode: 422, code: 'NO_ROUTE' })
      expect(ms).toBeLessThan(2_000)
    }
    expect(codesAsked.filter((one) => one === address)).toEqual([address])
    expect((await stage.quote(asked(stage.token('usdc')))).status).toBe(200)
  })

  test('whoever waits is told in some seconds, and nothing of nodes: the log says which', async () => {
    const address = nobody()
    const account = `0x${'12'.repeat(20)}`
    const [told, built] = await Promise.all([timed(info(address)), timed(stage.build({ ...asked(address), account }))])
    for (const { body, ms } of [told, built]) {
      expect(body).toMatchObject({ statusCode: 503, code: 'NETWORK_UNAVAILABLE' })
      expect(JSON.stringify(body)).not.toMatch(INTERNALS)
      expect(ms).toBeLessThan(9_000)
    }
  })

  test('a build of listed tokens is refused in some seconds, too', async () => {
    const user = await stage.user()
    const { body, ms } = await timed(stage.build({ ...asked(stage.token('usdc')), account: user.address }))
    expect(body).toMatchObject({ statusCode: 503, code: 'NETWORK_UNAVAILABLE' })
    expect(JSON.stringify(body)).not.toMatch(INTERNALS)
    expect(ms).toBeLessThan(12_000)
    expect(logged.join('')).toContain('eth node 1 gave no answer to eth_getCode')
  })
})
