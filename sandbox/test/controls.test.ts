import { Address, NETWORK, OutScript, p2wpkh, Transaction, WIF } from '@scure/btc-signer'
import { pubECDSA } from '@scure/btc-signer/utils.js'
import { createWalletClient, http, parseEther } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasProgram } from '../../test/support/describe-with.ts'
import { until } from '../../test/support/until.ts'
import { bitcoinFamily, type RunningSandbox, runSandbox, temporaryFolder, testedNetworks } from './running-sandbox.ts'

const folder = temporaryFolder()
let sandbox: RunningSandbox

beforeAll(async () => {
  sandbox = await runSandbox(folder.path, 'btc,ltc,eth')
  console.log(`first start of btc, ltc, eth: ${sandbox.startMs} ms`)
})
afterAll(async () => {
  await sandbox?.stop()
  folder.remove()
})

const createWallet = async (network: string) => {
  const { status, body } = await sandbox.post('/wallets', { network })
  expect(status).toBe(201)
  return body as { network: string; address: string; memo: null; privateKey: string }
}
const balance = async (network: string, currency: string, address: string) =>
  (await sandbox.get(`/balance?network=${network}&currency=${currency}&address=${address}`)).body['amount']
const deposit = async (network: string, currency: string, address: string, amount: string) => {
  const { status, body } = await sandbox.post('/deposits', { network, currency, address, amount })
  expect(body).toEqual({ hash: expect.any(String) })
  expect(status).toBe(201)
  return body['hash'] as string
}

test('lists the running chains', async () => {
  const { status, body } = await sandbox.get('/networks')
  expect(status).toBe(200)
  expect(body).toMatchObject([
    { network: 'btc', client: 'bcoin 1.0.2' },
    ...(hasProgram('litecoind') ? [{ network: 'ltc', client: expect.stringMatching(/^litecoind 0\.21/) }] : []),
    { network: 'eth', client: expect.stringMatching(/^anvil /), chainId: 3133700001 },
  ])
  expect(sandbox.chains.pid).toBe(sandbox.process.pid)
  expect(Object.keys(sandbox.chains.networks.find((one) => one.network === 'eth')?.tokens ?? {})).toContain('usdt')
})

test.each(bitcoinFamily)('pays an external wallet of %s, whose key can spend the payment', async (network) => {
  const wallet = await createWallet(network)
  expect(wallet.address).toMatch(network === 'btc' ? /^bcrt1q/ : /^rltc1q/)
  const hash = await deposit(network, 'native', wallet.address, '0.75')
  // Unconfirmed payments count.
  expect(await balance(network, 'native', wallet.address)).toBe('0.75')
  const rpc = sandbox.rpc(network)
  await until('a block with the payment', async () => {
    const tx = (await rpc.call('getrawtransaction', [hash, true])) as { confirmations?: number }
    return (tx.confirmations ?? 0) > 0
  })
  const mined = (await rpc.call('getrawtransaction', [hash, true])) as {
    vout: { value: string; n: number; scriptPubKey: { hex: string } }[]
  }
  const parameters = {
    ...NETWORK,
    bech32: network === 'btc' ? 'bcrt' : 'rltc',
    pubKeyHash: 0x6f,
    scriptHash: 0xc4,
    wif: 0xef,
  }
  const key = WIF(parameters).decode(wallet.privateKey)
  const payment = p2wpkh(pubECDSA(key), parameters)
  expect(payment.address).toBe(wallet.address)
  const output = mined.vout.find((one) => one.scriptPubKey.hex === Buffer.from(payment.script).toString('hex'))
  expect(output?.value).toMatch(/^0\.750*$/)
  const other = await createWallet(network)
  const tx = new Transaction()
  tx.addInput({ txid: hash, index: output?.n ?? 0, witnessUtxo: { script: payment.script, amount: 75_000_000n } })
  tx.addOutput({ script: OutScript.encode(Address(parameters).decode(other.address)), amount: 74_990_000n })
  tx.sign(key)
  tx.finalize()
  expect(await rpc.call('sendrawtransaction', [tx.hex])).toBe(tx.id)
  expect(await balance(network, 'native', wallet.address)).toBe('0')
  expect(await balance(network, 'native', other.address)).toBe('0.7499')
})

test('pays an external wallet of eth, whose key can spend the payment', async () => {
  const wallet = await createWallet('eth')
  await deposit('eth', 'native', wallet.address, '1.5')
  await until('the payment', async () => (await balance('eth', 'eth', wallet.address)) === '1.5')
  const url = sandbox.chains.networks.find((one) => one.network === 'eth')?.rpcUrls[0] ?? ''
  const account = privateKeyToAccount(wallet.privateKey as `0x${string}`)
  const client = createWalletClient({ account, transport: http(url) })
  const other = await createWallet('eth')
  const hash = await client.sendTransaction({ to: other.address as `0x${string}`, value: parseEther('1'), chain: null })
  await until('the receipt', async () => (await sandbox.rpc('eth').call('eth_getTransactionReceipt', [hash])) !== null)
  expect(await balance('eth', 'native', other.address)).toBe('1')
})

test.each(['usdt', 'usdc', 'wbtc', 'dai'])('pays %s on eth', async (currency) => {
  const wallet = await createWallet('eth')
  await deposit('eth', currency, wallet.address, '25.5')
  await until('the tokens', async () => (await balance('eth', currency, wallet.address)) === '25.5')
})

describe('makes fifty concurrent payments', () => {
  test.each(testedNetworks)('on %s', async (network) => {
    const wallet = await createWallet(network)
    const startedAt = performance.now()
    const hashes = await Promise.all(
      Array.from({ length: 50 }, () => deposit(network, 'native', wallet.address, '0.01')),
    )
    console.log(`50 payments on ${network}: ${Math.round(performance.now() - startedAt)} ms`)
    expect(new Set(hashes).size).toBe(50)
    await until('all payments', async () => (await balance(network, 'native', wallet.address)) === '0.5')
  })
})

test.each(testedNetworks)('mines blocks of %s at an interval and on demand, but not while paused', async (network) => {
  const height = async () => (await sandbox.post('/blocks', { network, count: 1 })).body['height'] as number
  expect((await sandbox.post('/mining', { network, paused: true })).status).toBe(201)
  const start = await height()
  const { status, body } = await sandbox.post('/blocks', { network, count: 7 })
  expect(status).toBe(201)
  expect(body).toEqual({ height: start + 7, hash: expect.any(String) })
  expect(await height()).toBe(start + 8)
  await sandbox.post('/mining', { network, paused: false })
  const read = async () =>
    Number(await sandbox.rpc(network).call(network === 'eth' ? 'eth_blockNumber' : 'getblockcount'))
  const before = await read()
  await until('two interval blocks', async () => (await read()) >= before + 2, 5000)
})

test('keeps fixed prices until they may move again', async () => {
  const set = (currency: string, usd: string | null) => sandbox.post('/prices', { currency, usd })
  expect(await set('BTC', '50000.5')).toEqual({ status: 201, body: { currency: 'btc', usd: '50000.5' } })
  await set('eth', '3000')
  expect(await set('btc', null)).toEqual({ status: 201, body: { currency: 'btc', usd: null } })
  expect((await sandbox.get('/prices')).body).toEqual({ usd: { eth: '3000' } })
  await set('eth', null)
  for (const usd of ['0', '0.0', '-1', '1e3', '01', '1.0000000000001'])
    expect((await set('btc', usd)).body).toMatchObject({ code: 'AMOUNT_MALFORMED' })
  expect(await set('levy', '1')).toMatchObject({ status: 404, body: { code: 'CURRENCY_NOT_FOUND' } })
})

describe('rejects invalid requests', () => {
  const cases: [string, Record<string, unknown>, number, string][] = [
    ['/wallets', { network: 'nope' }, 404, 'NETWORK_NOT_FOUND'],
    ['/wallets', {}, 400, 'VALIDATION_ERROR'],
    ['/wallets', { network: 'btc', unknown: 1 }, 400, 'VALIDATION_ERROR'],
    ['/blocks', { network: 'btc', count: 0 }, 400, 'VALIDATION_ERROR'],
    ['/blocks', { network: 'btc', count: 1001 }, 400, 'VALIDATION_ERROR'],
    ['/blocks', { network: 'btc', count: '5' }, 400, 'VALIDATION_ERROR'],
    ['/reorgs', { network: 'eth', depth: 51 }, 400, 'VALIDATION_ERROR'],
    ['/reorgs', { network: 'btc', depth: 50 }, 409, 'REORG_TOO_DEEP'],
    ['/nothing', {}, 404, 'ROUTE_NOT_FOUND'],
  ]
  test.each(cases)('answers %s %j with %i %s', async (path, body, status, code) => {
    expect(await sandbox.post(path, body)).toEqual({ status, body: { message: expect.any(String), code } })
  })

  const address = '0x00000000000000000000000000000000000000aa'
  const deposits: [Record<string, unknown>, number, string][] = [
    [{ amount: '1e3' }, 400, 'AMOUNT_MALFORMED'],
    [{ amount: '-1' }, 400, 'AMOUNT_MALFORMED'],
    [{ amount: '01' }, 400, 'AMOUNT_MALFORMED'],
    [{ amount: '0' }, 400, 'AMOUNT_TOO_SMALL'],
    [{ amount: '0.0000001', currency: 'usdt' }, 400, 'AMOUNT_PRECISION'],
    [{ amount: 1 }, 400, 'VALIDATION_ERROR'],
    [{ currency: 'nope' }, 404, 'CURRENCY_NOT_FOUND'],
    [{ address: '0x12' }, 400, 'INVALID_ADDRESS'],
    [{ memo: '7' }, 400, 'MEMO_NOT_SUPPORTED'],
    [{ amount: '99999999999999' }, 409, 'BANK_IS_SHORT'],
    [{ network: 'btc' }, 400, 'INVALID_ADDRESS'],
  ]
  test.each(deposits)('answers a deposit with %j with %i %s', async (part, status, code) => {
    const body = { network: 'eth', currency: 'native', address, amount: '1', ...part }
    expect(await sandbox.post('/deposits', body)).toEqual({ status, body: { message: expect.any(String), code } })
  })

  test('rejects a payment below the dust limit', async () => {
    const wallet = await createWallet('btc')
    const body = { network: 'btc', currency: 'btc', address: wallet.address, amount: '0.00000001' }
    expect(await sandbox.post('/deposits', body)).toMatchObject({ status: 400, body: { code: 'AMOUNT_TOO_SMALL' } })
  })
})
