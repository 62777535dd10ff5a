import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until as waitUntil } from '@swapyard/lib/until.ts'
import { formatUnits, type Hex, parseEther, parseTransaction, parseUnits } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { significant } from '../chaos/dues.ts'
import { EMBEDDED_VERSION, POSTGRES_MIN } from '../support/debian-postgres.ts'
import { describeWith } from '../support/describe-with.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import type { LocalNetwork } from './local-networks.ts'
import { placeMainnetMarket, readTokenBalance, USDC } from './mainnet-contracts.ts'
import { AGREED } from './price-documents.ts'
import { type ProductionSetup, startProductionSetup } from './production-setup.ts'
import type { Json, Program } from './program.ts'

const NATIVE = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
const DOLLARS_PER_ETHER = 3_200n
/** Far less often than a partner may ask: 6000 weighted requests a minute. So none of the polls may be refused. */
const POLL_MS = 500
/** `spreads.majorBps` and `partners.feeBps` of the example. */
const [SPREAD_BPS, PARTNER_BPS] = [35n, 20n]
const pair = { fromCurrency: 'eth', fromNetwork: 'eth', toCurrency: 'bnb', toNetwork: 'bsc' }

let setup: ProductionSetup
let api: Program
let worker: Program
let apiUrl = ''
let workerUrl = ''
let apiKey = ''

beforeAll(async () => {
  setup = await startProductionSetup()
  const { eth, bsc } = setup.chains
  await placeMainnetMarket(eth.anvil, DOLLARS_PER_ETHER)
  for (const { anvil } of [eth, bsc]) await anvil.request('evm_setIntervalMining', [1])
  setup.writeConfig()
  await setup.migrate()
  await setup.run('keystore', 'create')
  await setup.run('keystore', 'export-public', join(setup.folder, 'public.json'))
  api = setup.start('api')
  worker = setup.start('worker')
  ;[apiUrl, workerUrl] = await Promise.all([api.waitUntilReady(), worker.waitUntilReady()])
})

afterAll(async () => {
  for (const program of [api, worker]) program?.kill('SIGKILL')
  await setup?.stop()
})

const until = <T>(what: string, look: () => Promise<T | null | false | undefined>): Promise<T> =>
  waitUntil(what, look, { timeoutMs: PATIENCE_MS, intervalMs: POLL_MS })

type Answer = Readonly<{ status: number; body: Json }>

/** Calls the API as the partner, through one proxy. */
async function call(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> {
  const response = await fetch(apiUrl + path, {
    method,
    headers: {
      'x-api-key': apiKey,
      'x-forwarded-for': '192.0.2.7',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}

const get = (path: string, query: Readonly<Record<string, string>>) =>
  call('GET', `${path}?${new URLSearchParams(query)}`)

async function readBalance(network: LocalNetwork, address: string): Promise<bigint> {
  return BigInt(await setup.chains[network].anvil.request<Hex>('eth_getBalance', [address, 'latest']))
}

/** A new account with this many native coins from anvil's own account. */
async function fundAccount(network: LocalNetwork, amount: string) {
  const privateKey = generatePrivateKey()
  const account = privateKeyToAccount(privateKey)
  await setup.chains[network].anvil.sendAndMine({ to: account.address, value: parseEther(amount) })
  return { privateKey, account }
}

async function fundHotWallets(): Promise<void> {
  const rows = await setup.run('keystore', 'addresses')
  for (const network of ['eth', 'bsc'] as const) {
    const { hot } = rows.find((row) => row.network === network)
    await setup.chains[network].anvil.sendAndMine({ to: hot, value: parseEther('100') })
  }
  const { hot } = rows.find((row) => row.network === 'btc')
  expect(hot).toMatch(/^bc1/)
  await setup.bitcoin.pay(hot, 10n ** 8n)
  const unclaimed = await until('the coins have arrived unclaimed', async () => {
    for (const network of ['eth', 'bsc'] as const) await setup.chains[network].anvil.mine(4)
    await setup.bitcoin.mine(2)
    const deposits = await setup.run('unclaimed', 'list')
    return deposits.length === 3 && deposits
  })
  expect((await fetch(`${apiUrl}/health/ready`)).status).toBe(503)
  for (const { depositId } of unclaimed)
    await setup.run('fundings', 'claim', depositId, '--reason', 'capital of the start')
  await until('both processes have read the credited wallets', async () => {
    const answers = await Promise.all([apiUrl, workerUrl].map((url) => fetch(`${url}/health/ready`)))
    return answers.every(({ status }) => status === 200)
  })
}

/** Creates an exchange from ETH on Base, and deposits the amount in a block of its own. */
async function depositOnBase(amount: string, fromAmount = amount): Promise<{ id: string; height: number }> {
  const recipient = privateKeyToAccount(generatePrivateKey()).address
  const order = {
    ...pair,
    fromNetwork: 'base',
    fromAmount,
    flow: 'standard',
    address: recipient,
    refundAddress: recipient,
  }
  const created = await call('POST', '/v1/cross-chain/exchange', order)
  expect(created.status, JSON.stringify(created.body)).toBe(201)
  const { id, request } = created.body
  const { anvil } = setup.chains.base
  const { height } = await anvil.sendAndMine({ to: request.depositAddress, value: parseEther(amount) })
  await waitForStatus(id, 'confirming')
  return { id, height }
}

async function mineBaseTo(height: number): Promise<void> {
  const { anvil } = setup.chains.base
  await anvil.mine(height - Number(await anvil.request<Hex>('eth_blockNumber', [])))
}

/** A poll that is refused or not answered now is a failure. */
async function readExchange(id: string): Promise<Json> {
  const { status, body } = await get('/v1/cross-chain/exchange/status', { id })
  expect(status, JSON.stringify(body)).toBe(200)
  return body.exchange
}

/** What these units are worth: sold at the lowest bid, bought at the highest ask, less both fees of the example. */
function worth(units: bigint, bid: number, ask: number, fromDecimals: number, toDecimals: number): bigint {
  const gross = (units * BigInt(bid) * 10n ** BigInt(toDecimals)) / (BigInt(ask) * 10n ** BigInt(fromDecimals))
  const afterSpread = (gross * (10_000n - SPREAD_BPS)) / 10_000n
  return (afterSpread * (10_000n - PARTNER_BPS)) / 10_000n
}

/** Checks that a quote states the value less the network fee that it publishes, and returns that amount, not rounded. */
async function readQuote(query: Readonly<Record<string, string>>, value: bigint, decimals: number): Promise<bigint> {
  const { status, body: quote } = await get('/v1/cross-chain/rate', { ...query, flow: 'standard' })
  expect(status, JSON.stringify(quote)).toBe(200)
  const due = value - parseUnits(quote.fees.network, decimals)
  expect(quote.toAmount).toBe(Number(formatUnits(significant(due), decimals)))
  // A fee far above what the local chains take would hide a wrong value.
  expect(due).toBeGreaterThan((value * 97n) / 100n)
  return due
}

const statusOf = async (id: string): Promise<string> => (await readExchange(id)).status

/** Mines on the network of the payouts meanwhile. */
async function waitForStatus(id: string, ...statuses: readonly string[]): Promise<void> {
  await until(`${id} is ${statuses.join(' or ')}`, async () => {
    await setup.chains.bsc.anvil.mine(2)
    return statuses.includes((await readExchange(id)).status)
  })
}

describeWith('a PostgreSQL of Debian', 'production on an older PostgreSQL than the embedded one', () => {
  test('is what the following tests run on', async () => {
    const version = await setup.postgres.majorVersion()
    expect(version).toBeGreaterThanOrEqual(POSTGRES_MIN)
    expect(version).toBeLessThan(EMBEDDED_VERSION)
  })
})

describe('production from the documented example', () => {
  test('gives each process its own login, which owns no table and is no superuser', async () => {
    const sessions = await setup.postgres.query<{ usename: string }>(
      "select distinct usename from pg_stat_activity where application_name like 'swapyard%' order by usename",
    )
    expect(sessions.map(({ usename }) => usename)).toEqual(['swapyard_api', 'swapyard_worker'])
    const owners = await setup.postgres.query(
      'select distinct r.rolname, r.rolsuper from pg_tables t join pg_roles r on r.rolname = t.tableowner where t.schemaname = $$public$$',
      'swapyard',
    )
    expect(owners).toEqual([{ rolname: 'swapyard_owner', rolsuper: false }])
    const superusers = await setup.postgres.query(
      "select rolname from pg_roles where rolsuper and rolname like 'swapyard%'",
    )
    expect(superusers).toEqual([])
  })

  test('serves metrics through a proxy only with the operator token', async () => {
    const metrics = (headers: Record<string, string>) => fetch(`${apiUrl}/metrics`, { headers })
    const proxied = { 'x-forwarded-for': '192.0.2.7' }
    expect((await metrics(proxied)).status).not.toBe(200)
    const answer = await metrics({ ...proxied, authorization: `Bearer ${setup.operatorToken}` })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('swapyard_price_age_seconds')
  })

  test('becomes ready when the operator has added a partner and funded the hot wallets', async () => {
    expect((await fetch(`${apiUrl}/health/ready`)).status).toBe(503)
    await setup.run('partners', 'add', 'acme')
    const [{ key }] = await setup.run('partners', 'keys', 'add', 'acme')
    expect(key).toMatch(/^sy_live_/)
    apiKey = key
    await fundHotWallets()
  })

  test('refuses a partner above its limit, not the others, and refuses the keys of the sandbox', async () => {
    const limit = 3
    await setup.run('partners', 'add', 'small', '--rate-limit', String(limit))
    const [{ key }] = await setup.run('partners', 'keys', 'add', 'small')
    const ask = (oneKey: string) =>
      fetch(`${apiUrl}/v1/cross-chain/available-currencies`, { headers: { 'x-api-key': oneKey } })
    const answers: Response[] = []
    // If a minute ends meanwhile, the limit begins again.
    while (answers.length <= 2 * limit && answers.at(-1)?.status !== 429) answers.push(await ask(key))
    const refused = answers.at(-1)
    expect(answers.slice(0, limit).map(({ status }) => status)).toEqual(Array(limit).fill(200))
    expect(answers[0]?.headers.get('ratelimit-policy')).toBe(`"minute";q=${limit};w=60`)
    expect(refused?.status).toBe(429)
    expect(refused?.headers.get('ratelimit')).toMatch(/^"minute";r=0;t=\d+$/)
    const seconds = Number(refused?.headers.get('retry-after'))
    expect(seconds).toBeGreaterThanOrEqual(1)
    expect(seconds).toBeLessThanOrEqual(60)
    expect(await refused?.json()).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' })
    expect((await ask(apiKey)).status).toBe(200)
    expect((await ask('sandbox')).status).toBe(401)
  })

  test('pays an exchange at the lowest bid and the highest ask of the price documents', async () => {
    const { eth, bsc } = setup.chains
    const value = worth(parseEther('0.5'), AGREED.ethBid, AGREED.bnbAsk, 18, 18)
    const due = await readQuote({ ...pair, amount: '0.5' }, value, 18)
    const recipient = privateKeyToAccount(generatePrivateKey()).address
    const order = { ...pair, fromAmount: '0.5', flow: 'standard', address: recipient }
    const created = await call('POST', '/v1/cross-chain/exchange', order)
    expect(created.status, JSON.stringify(created.body)).toBe(201)
    const { id, request } = created.body
    await eth.anvil.sendAndMine({ to: request.depositAddress, value: parseEther('0.5') })
    const finished = await until('the exchange is finished', async () => {
      for (const { anvil } of [eth, bsc]) await anvil.mine(2)
      const exchange = await readExchange(id)
      return exchange.status === 'finished' ? exchange : null
    })
    const paid = await readBalance('bsc', recipient)
    expect(parseEther(finished.exchanges[0].amountToReceived)).toBe(paid)
    expect(paid).toBe(due)
  })

  test('pays an exchange from bitcoin, and one to bitcoin', async () => {
    const { eth, bsc } = setup.chains
    const recipient = privateKeyToAccount(generatePrivateKey()).address
    const order = { flow: 'standard', fromAmount: '0.004' }
    const btc = { fromCurrency: 'btc', fromNetwork: 'btc' }
    const soldFor = await readQuote(
      { ...pair, ...btc, amount: '0.004' },
      worth(400_000n, AGREED.btcBid, AGREED.bnbAsk, 8, 18),
      18,
    )
    const boughtFor = await readQuote(
      { ...pair, toCurrency: 'btc', toNetwork: 'btc', amount: '0.1' },
      worth(parseEther('0.1'), AGREED.ethBid, AGREED.btcAsk, 18, 8),
      8,
    )
    const sold = await call('POST', '/v1/cross-chain/exchange', { ...pair, ...btc, ...order, address: recipient })
    expect(sold.status, JSON.stringify(sold.body)).toBe(201)
    expect(sold.body.request.depositAddress).toMatch(/^bc1q/)
    const payee = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
    const bought = await call('POST', '/v1/cross-chain/exchange', {
      ...pair,
      ...{ toCurrency: 'btc', toNetwork: 'btc', flow: 'standard', fromAmount: '0.1', address: payee },
    })
    expect(bought.status, JSON.stringify(bought.body)).toBe(201)
    await setup.bitcoin.pay(sold.body.request.depositAddress, 400_000n)
    await eth.anvil.sendAndMine({ to: bought.body.request.depositAddress, value: parseEther('0.1') })
    const finished = async ({ id }: Json) =>
      until('the exchange is finished', async () => {
        for (const { anvil } of [eth, bsc]) await anvil.mine(2)
        await setup.bitcoin.mine(1)
        const exchange = await readExchange(id)
        return exchange.status === 'finished' ? exchange.exchanges[0] : null
      })
    const bnb = parseEther((await finished(sold.body)).amountToReceived)
    expect(await readBalance('bsc', recipient)).toBe(bnb)
    expect(bnb).toBe(soldFor)

    const satoshis = parseUnits((await finished(bought.body)).amountToReceived, 8)
    expect(await setup.bitcoin.unspent(payee)).toBe(satoshis)
    expect(satoshis).toBe(boughtFor)
  })

  test('deploys the contracts by the documented command', async () => {
    const { privateKey } = await fundAccount('eth', '10')
    const keyFile = join(setup.folder, 'gas')
    writeFileSync(keyFile, privateKey)
    chmodSync(keyFile, 0o600)
    const deployed = await setup.run('contracts', 'deploy', '--network', 'eth', '--key-file', keyFile)
    expect(deployed.map(({ contract, isDeployed }) => [contract, isDeployed])).toEqual([
      ['router', true],
      ['executor', true],
      ['external-executor', true],
    ])
    const states = await setup.run('contracts', 'status', '--network', 'eth')
    expect(states.map(({ isDeployed }) => isDeployed)).toEqual([true, true, true])
  })

  test('finishes a swap through the pool of a listed DEX', async () => {
    const { account } = await fundAccount('eth', '5')
    const trade = {
      network: 'eth',
      fromTokenAddress: NATIVE,
      toTokenAddress: USDC,
      amount: '1',
      slippage: '1',
      referrerFee: '0',
    }
    const quote = await until('the pools are read', async () => {
      const { status, body } = await get('/v1/defi/quote', trade)
      return status === 200 ? body : null
    })
    const built = await call('POST', '/v1/defi/transaction/swap', { ...trade, account: account.address })
    expect(built.status, JSON.stringify(built.body)).toBe(201)
    expect(built.body).toHaveLength(1)
    const rawTx = await account.signTransaction(parseTransaction(built.body[0]) as never)
    const sent = await call('POST', '/v1/defi/send/swap', {
      account: account.address,
      network: 'eth',
      fromTokenAddress: NATIVE,
      toTokenAddress: USDC,
      amountFrom: '1',
      amountTo: quote.toAmount,
      commissionPercentage: '0',
      rawTx,
    })
    expect(sent.status, JSON.stringify(sent.body)).toBe(201)
    const finished = await until('the swap is finished', async () => {
      await setup.chains.eth.anvil.mine(8)
      const { body } = await get('/v1/defi/exchange/list', { network: 'eth' })
      return body.exchanges?.find((one: Json) => one.hash === sent.body && one.status === 'finished')
    })
    // Uniswap V2: 1 ETH into a pool of 1000 ETH and 3 200 000 USDC, less 0.3 %.
    const reserve = 1_000n * 10n ** 18n
    const withFee = 997n * 10n ** 18n
    const due = (withFee * 1_000n * DOLLARS_PER_ETHER * 10n ** 6n) / (reserve * 1_000n + withFee)
    expect(await readTokenBalance(setup.chains.eth.anvil, USDC, account.address)).toBe(due)
    expect(finished.amountTo).toBe(`${Number(due) / 1e6}`)
  })

  test('has no alarm, and the API process holds no seed', async () => {
    expect(await setup.run('alarms')).toEqual([])
    const publicHalf = JSON.parse(readFileSync(join(setup.folder, 'public.json'), 'utf8'))
    expect(publicHalf.seed).toBeNull()
  })

  test('records blocks that no node traced: a log line, a metric and an alarm', async () => {
    const { anvil, endpoints } = setup.chains.eth
    for (const endpoint of endpoints)
      endpoint.set(({ method }) => (/trace/.test(method) ? { error: { code: -32000, message: 'timeout' } } : undefined))
    const { height } = await anvil.sendAndMine({ to: anvil.accounts[1], value: 1n })
    const alarms = await until('the alarm names the block, or a later one', async () => {
      const rows = await setup.run('alarms')
      // It names the newest block that was read so.
      return rows.some(({ detail }) => Number(/^block (\d+) 0x/.exec(detail.detail)?.[1]) >= height) && rows
    })
    expect(alarms).toMatchObject([{ subject: 'traces:eth', alarm: 'a block was read without traces' }])
    const text = await (await fetch(`${workerUrl}/metrics`)).text()
    expect(text).toMatch(/^swapyard_node_notes_total\{network="eth",note="traces-missing"\} [1-9]/m)
    expect(worker.output()).toContain('"a block was read without traces"')
    for (const endpoint of endpoints) endpoint.set(() => undefined)
  })

  test('credits a deposit whose state every node has pruned: a log line, a metric and an alarm', async () => {
    const { anvil, endpoints } = setup.chains.eth
    for (const endpoint of endpoints)
      endpoint.set(({ method, params }) =>
        method === 'eth_getBalance' && params[1] !== 'latest'
          ? { error: { code: -32000, message: 'missing trie node' } }
          : undefined,
      )
    const recipient = privateKeyToAccount(generatePrivateKey()).address
    const order = { ...pair, fromAmount: '0.1', flow: 'standard', address: recipient }
    const created = await call('POST', '/v1/cross-chain/exchange', order)
    expect(created.status, JSON.stringify(created.body)).toBe(201)
    const { id, request } = created.body
    await anvil.sendAndMine({ to: request.depositAddress, value: parseEther('0.1') })
    await until('the alarm is raised', async () => {
      await anvil.mine(2)
      return (await setup.run('alarms')).some(({ subject }) => subject === 'pruned:eth')
    })
    await waitForStatus(id, 'finished')
    const text = await (await fetch(`${workerUrl}/metrics`)).text()
    expect(text).toMatch(/^swapyard_node_notes_total\{network="eth",note="state-pruned"\} [1-9]/m)
    expect(worker.output()).toContain('"a node has pruned a state that was needed"')
    for (const endpoint of endpoints) endpoint.set(() => undefined)
  })

  test('credits a deposit above a tier of Base when the finality tag has reached its block', async () => {
    // The order is of $320, so that the limits of the example permit it. What a deposit is worth decides how long it waits.
    const above50000 = await depositOnBase('16', '0.1')
    const above1000 = await depositOnBase('0.5')
    await mineBaseTo(above1000.height + 79)
    const small = await depositOnBase('0.2')
    // The small one needs 20 confirmations, the others 40 and 80. They have more, but `safe` is one block before the second.
    await mineBaseTo(small.height + 19)
    await waitForStatus(small.id, 'finished')
    expect(await statusOf(above1000.id)).toBe('confirming')
    expect(await statusOf(above50000.id)).toBe('confirming')

    await mineBaseTo(above1000.height + 100)
    await waitForStatus(above1000.id, 'finished')
    expect(await statusOf(above50000.id)).toBe('confirming')

    await mineBaseTo(above50000.height + 200)
    // It is above the maximum of an exchange, and its refund is above the limit of one transaction: `refunding` is brief.
    await waitForStatus(above50000.id, 'refunding', 'verifying')
  })

  test('ends both processes on SIGTERM', async () => {
    for (const program of [api, worker]) program.kill('SIGTERM')
    for (const program of [api, worker]) expect(await program.ended).toEqual({ code: 0, signal: null })
  })
})
