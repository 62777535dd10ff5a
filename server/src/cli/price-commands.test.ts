import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compileCache } from '../../../test/support/compile-cache.ts'
import { PATIENCE_MS } from '../../../test/support/patience.ts'
import { currencies } from '../../currencies/index.ts'

const SECRET = 'canary-5e6f7a8b9c0d'
const folder = mkdtempSync(join(tmpdir(), 'swapyard-prices-'))
let server: Server
let origin = ''

const replies: Readonly<Record<string, (key: string | undefined) => string>> = {
  '/kraken': () =>
    '{"error":[],"result":{"XXBTZUSD":{"a":["64010.00000"],"b":["64000.50000"]},"WBTCUSD":{"a":["64000"],"b":["63990"]}}}',
  '/bitfinex': () =>
    '[["tBTCUSD",64001,39.7,64009.5,32.2,2680,0.027,64005,661.8,65000,63000],["tWBTUSD",63990,1,64000,1,0,0,0,0,0,0]]',
  '/document': (key) => (key === SECRET ? JSON.stringify({ at: Date.now(), usd: {} }) : 'no'),
}

beforeAll(async () => {
  server = createServer((request, response) =>
    response.end(replies[request.url ?? '']?.(request.headers['x-key']?.toString())),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs `swapyard prices check` as a process without a database. */
function check(networks: readonly string[]): Promise<{ code: number; rows: readonly unknown[]; error: string }> {
  const limit = { transaction: '1', hour: '1', day: '1' }
  const config = {
    networks: Object.fromEntries(networks.map((id) => [id, { rpcUrls: ['https://a.example', 'https://b.example'] }])),
    prices: {
      sources: [
        { exchange: 'kraken', url: `${origin}/kraken` },
        { exchange: 'bitfinex', url: `${origin}/bitfinex` },
        { url: `${origin}/document`, headers: { 'x-key': SECRET } },
      ],
      quorum: 2,
    },
    signer: {
      limits: Object.fromEntries(
        currencies.flatMap(({ ticker, network }) =>
          networks.includes(network) ? [[`${ticker}@${network}`, limit] as const] : [],
        ),
      ),
    },
  }
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config))
  const env = {
    ...{ PATH: '/usr/bin:/bin', SWAPYARD_DATA_DIR: folder, SWAPYARD_CONFIG: join(folder, 'config.json') },
    ...{ DATABASE_URL: 'postgres://nowhere.invalid/swapyard', SWAPYARD_PEPPER: SECRET, ...compileCache },
  }
  const main = join(import.meta.dirname, '../main.ts')
  return new Promise((resolve) => {
    execFile(process.execPath, [main, 'prices', 'check'], { env, timeout: PATIENCE_MS }, (error, stdout, stderr) => {
      const rows = stdout.split('\n').filter(Boolean)
      expect(stdout + stderr).not.toContain(SECRET)
      resolve({
        code: error === null ? 0 : Number(error.code),
        rows: rows.map((row) => JSON.parse(row) as unknown),
        error: stderr,
      })
    })
  })
}

test('T54: `prices check` prints the prices on which the sources agree, and what was not counted', async () => {
  const { code, rows } = await check(['btc'])
  expect(rows).toContainEqual({ price: 'btc', bid: '64000.5', ask: '64010' })
  expect(rows).toContainEqual({ source: 'kraken', reason: 'missing', priceKey: 'eth' })
  // The document has no prices, but it was returned, because its header was sent.
  expect(rows.filter((row) => JSON.stringify(row).includes('failed'))).toEqual([])
  expect(code).toBe(0)
})

test('`prices check` names the bridged tokens on offer that follow a price', async () => {
  const { rows } = await check(['btc', 'eth', 'matic'])
  expect(rows).toContainEqual({ price: 'btc', bid: '64000.5', ask: '64010' })
  expect(rows).toContainEqual({ price: 'wbtc', bid: '63990', ask: '64000', bridged: ['wbtc@matic'] })
})

test('T54: `prices check` fails if a currency on offer has no price', async () => {
  const { code, error } = await check(['btc', 'ltc'])
  expect(error).toContain('no price of ltc')
  expect(code).toBe(1)
})
