import { existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createBody } from '../support/create-body.ts'
import { until } from '../support/until.ts'
import { sendRequest } from './program.ts'
import { expectMessage, expectNoProcesses, findProcesses, useStarts } from './use-starts.ts'

const starts = useStarts()

test('keeps its exchanges after its process group is killed and restarted', async () => {
  const first = starts.start()
  const url = await first.waitUntilReady()
  const { status, body } = await sendRequest(`${url}/v1/cross-chain/exchange`, createBody)
  expect(status).toBe(201)
  first.killGroup()
  expect(await first.ended).toMatchObject({ signal: 'SIGKILL' })
  const restartedUrl = await starts.start().waitUntilReady()
  // `ready` is printed only once the readiness check succeeds. Afterwards a busy machine can delay an answer (503).
  await until('it is ready', async () => (await sendRequest(`${restartedUrl}/health/ready`)).status === 200)
  const stored = await sendRequest(`${restartedUrl}/v1/cross-chain/exchange/status?id=${body.id}`)
  expect(stored.body.exchange.request.depositAddress).toBe(body.request.depositAddress)
  const next = await sendRequest(`${restartedUrl}/v1/cross-chain/exchange`, createBody)
  expect(next.body.request.depositAddress).not.toBe(body.request.depositAddress)
})

test('quotes a price that POST /sandbox/prices fixed, until null lets it move again', async () => {
  const url = await starts.start().waitUntilReady()
  const query = 'fromCurrency=wbtc&fromNetwork=eth&toCurrency=eth&toNetwork=eth&amount=0.1&flow=standard'
  const quote = async () => {
    const { status, body } = await sendRequest(`${url}/v1/cross-chain/rate?${query}`)
    expect(status, JSON.stringify(body)).toBe(200)
    return Number(body.toAmount)
  }
  const setPrice = async (usd: string | null) => {
    const { status, body } = await sendRequest(`${url}/sandbox/prices`, { currency: 'wbtc', usd })
    expect([status, body]).toEqual([201, { currency: 'wbtc', usd }])
  }
  const before = await quote()
  await setPrice('192620')
  const fixed = await until('the fixed price is quoted', async () => {
    const now = await quote()
    return now > 1.1 * before && now
  })
  // The base price of WBTC is 96 310 dollars: twice that gives twice the ether, apart from the network fee.
  expect(fixed / before).toBeGreaterThan(1.9)
  expect(fixed / before).toBeLessThan(2.1)
  await setPrice(null)
  const moving = await until('the fixed price is not quoted any more', async () => {
    const now = await quote()
    return now < fixed / 1.1 && now
  })
  expect(moving).toBeCloseTo(before, 4)
})

test.for([
  ['an unknown network', 'btc,bitcoin2', 2, 'contains bitcoin2, which is not a network; did you mean btc?'],
  [
    'a network without a sandbox chain',
    'btc,doge',
    1,
    'the sandbox has no chain for "doge"; it has btc, ltc, xmr, eth',
  ],
] as const)('rejects %s and leaves no process running', async ([, networks, code, message]) => {
  const program = starts.start({ env: { SWAPYARD_CHAINS: '', SWAPYARD_SANDBOX_NETWORKS: networks } })
  expect(await program.ended).toEqual({ code, signal: null })
  expectMessage(program.output(), message)
  await expectNoProcesses(starts.cluster.folder)
})

test('exits with a message and starts nothing if its port is in use', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? String(address?.port) : ''
  const program = starts.start({ env: { PORT: port } })
  expect(await program.ended).toEqual({ code: 1, signal: null })
  expectMessage(program.output(), `port ${port} on 127.0.0.1 is in use`, 'PORT=0')
  expect(existsSync(join(starts.env['SWAPYARD_DATA_DIR'] ?? '', 'postgres'))).toBe(false)
  await expectNoProcesses(starts.cluster.folder)
  await new Promise((resolve) => server.close(resolve))
})

test('refuses a second start on the same data folder, and the first continues', async () => {
  const first = starts.start()
  const url = await first.waitUntilReady()
  const second = starts.start()
  expect(await second.ended).toEqual({ code: 1, signal: null })
  expectMessage(second.output(), starts.env['SWAPYARD_DATA_DIR'] ?? '-', `process ${first.pid}`, 'SWAPYARD_DATA_DIR')
  await until('the first is ready', async () => (await sendRequest(`${url}/health/ready`)).status === 200)
})

test('leaves no process and no lock after SIGTERM', async () => {
  const first = starts.start()
  const url = await first.waitUntilReady()
  const { body } = await sendRequest(`${url}/v1/cross-chain/available-currencies`)
  // PORT=0 takes a free port, and the URLs in responses use it.
  expect((await fetch(body[0].image)).status).toBe(200)
  expect(body[0].addressExplorer.startsWith(url)).toBe(true)
  first.kill('SIGTERM')
  expect(await first.ended).toEqual({ code: 0, signal: null })
  await expectNoProcesses(starts.cluster.folder)
  expect(readdirSync(starts.env['SWAPYARD_DATA_DIR'] ?? '')).not.toContain('swapyard.lock')
})

test('leaves no process and no lock after a SIGTERM during the start', async () => {
  const program = starts.start()
  await program.waitForOutput('database: embedded Postgres started')
  program.kill('SIGTERM')
  expect(await program.ended).toEqual({ code: 0, signal: null })
  expect(program.output()).not.toContain('ready:')
  await expectNoProcesses(starts.cluster.folder)
  expect(readdirSync(starts.env['SWAPYARD_DATA_DIR'] ?? '')).not.toContain('swapyard.lock')
})

test('leaves no process after a SIGTERM to npm alone, as a supervisor sends it', async () => {
  const program = starts.start({ usesNpm: true })
  await program.waitUntilReady()
  program.kill('SIGTERM')
  await program.ended
  expect(findProcesses(starts.cluster.folder)).toEqual([])
  expect(readdirSync(starts.env['SWAPYARD_DATA_DIR'] ?? '')).not.toContain('swapyard.lock')
})
