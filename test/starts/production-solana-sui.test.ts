import { join } from 'node:path'
import { until as waitUntil } from '@swapyard/lib/until.ts'
import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSolanaUser } from '../../sandbox/src/solana/solana-user.fixture.ts'
import { createSuiUser } from '../../sandbox/src/sui/sui-user.fixture.ts'
import { EMBEDDED_VERSION } from '../support/debian-postgres.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { type MainNetworkNode, startMainSolana, startMainSui } from './main-network-nodes.ts'
import { type ProductionSetup, startProductionSetup } from './production-setup.ts'
import type { Json, Program } from './program.ts'

/* Production with swaps on Solana and Sui, as docs/guides/operate.md enables them. */

const coins = { sol: 'So11111111111111111111111111111111111111112', sui: '0x2::sui::SUI' }
const USDC_DECIMALS = 6
/** Far less often than a partner may ask. */
const POLL_MS = 500

let setup: ProductionSetup
let nodes: readonly MainNetworkNode[] = []
let programs: readonly Program[] = []
let apiUrl = ''
let apiKey = ''

beforeAll(async () => {
  // production.test.ts runs on an older version, where one is installed.
  setup = await startProductionSetup({ hasChecksums: true, isEmbeddedVersion: true })
  nodes = [await startMainSolana(), await startMainSui()]
  setup.writeConfig((config) => {
    for (const { network, rpcUrls, settings } of nodes) {
      config.networks[network] = { rpcUrls }
      config.swaps.networks[network] = { enabled: true, ...settings }
    }
  })
  await setup.migrate()
  await setup.run('keystore', 'create')
  await setup.run('keystore', 'export-public', join(setup.folder, 'public.json'))
  programs = [setup.start('api'), setup.start('worker')]
  ;[apiUrl = ''] = await Promise.all(programs.map((program) => program.waitUntilReady()))
  await setup.run('partners', 'add', 'acme')
  const [{ key }] = await setup.run('partners', 'keys', 'add', 'acme')
  apiKey = key
})

afterAll(async () => {
  for (const program of programs) program.kill('SIGKILL')
  for (const { stop } of nodes) await stop()
  await setup?.stop()
})

async function call(method: 'GET' | 'POST', path: string, body?: object): Promise<{ status: number; body: Json }> {
  const response = await fetch(apiUrl + path, {
    method,
    headers: {
      ...{ 'x-api-key': apiKey, 'x-forwarded-for': '192.0.2.7' },
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}

const until = <T>(what: string, look: () => Promise<T | null | false | undefined>): Promise<T> =>
  waitUntil(what, look, { timeoutMs: PATIENCE_MS, intervalMs: POLL_MS })

test('is ready, and lists both networks as enabled', async () => {
  const { body } = await call('GET', '/v1/defi/networks')
  const enabled = body.filter((one: Json) => one.enabled).map((one: Json) => one.network)
  expect(enabled).toEqual(expect.arrayContaining(['sol', 'sui']))
})

test('runs on a PostgreSQL server of the embedded version', async () => {
  expect(await setup.postgres.majorVersion()).toBe(EMBEDDED_VERSION)
})

test.each(['sol', 'sui'] as const)('builds, sends and finishes a swap on %s', async (network) => {
  const node = nodes.find((one) => one.network === network)
  const { address, sign } = network === 'sol' ? await createSolanaUser() : createSuiUser()
  await node?.pay(address, 3n * 10n ** 9n)
  const pair = { network, fromTokenAddress: coins[network], toTokenAddress: node?.usdc ?? '' }
  const order = { ...pair, amount: '1', slippage: '1', referrerFee: '0' }
  const quote = await until('the pools are read', async () => {
    const { status, body } = await call('GET', `/v1/defi/quote?${new URLSearchParams(order)}`)
    return status === 200 ? body : null
  })
  const unsigned = await until('the payment is confirmed', async () => {
    const { status, body } = await call('POST', '/v1/defi/transaction/swap', { ...order, account: address })
    if (status !== 201) expect(body.code, JSON.stringify(body)).toBe('INSUFFICIENT_BALANCE')
    return status === 201 ? body : null
  })
  expect(unsigned).toHaveLength(1)
  const sent = await call('POST', '/v1/defi/send/swap', {
    ...{ ...pair, account: address, amountFrom: '1', amountTo: quote.toAmount, commissionPercentage: '0' },
    rawTx: await sign(unsigned[0]),
  })
  expect(sent.status, JSON.stringify(sent.body)).toBe(201)
  const finished = await until('the swap is finished', async () => {
    const { body } = await call('GET', `/v1/defi/exchange/status?hash=${sent.body}`)
    expect(body.status).not.toBe('failed')
    return body.status === 'finished' && body
  })
  const received = await node?.readUsdc(address)
  expect(received).toBeGreaterThanOrEqual(parseUnits(quote.minReceived, USDC_DECIMALS))
  expect(parseUnits(finished.amountTo, USDC_DECIMALS)).toBe(received)
})
