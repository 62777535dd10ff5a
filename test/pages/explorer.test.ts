import { freePort } from '@swapyard/lib/free-port.ts'
import type { Browser } from 'playwright-core'
import { erc20Abi, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createExplorer } from '../../server/src/adapters/explorer/explorer.ts'
import { mountPages } from '../../server/src/app/pages.ts'
import { apiDefaults } from '../../server/src/core/http/settings.ts'
import { present } from '../../server/src/lib/assert.ts'
import { mountExplorer } from '../../server/src/pages/explorer.ts'
import { createTestApp } from '../../server/test/core/http/app-for-tests.ts'
import { fundBitcoinWallet, replaceBlocks } from '../support/bitcoin-wallet.ts'
import { describeWith } from '../support/describe-with.ts'
import { fundEvmWallet } from '../support/evm-wallet.ts'
import { whileMiningPaused } from '../support/mining.ts'
import { callNode, findNode } from '../support/nodes.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { findViolations } from './axe.ts'
import { appearances, openPage, readBrightness, startBrowser } from './browser.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['btc', 'ltc', 'eth'] })
})
afterAll(() => scenario?.stop())

async function fetchText(path: string): Promise<{ status: number; body: string; headers: Headers }> {
  const answer = await fetch(scenario.url + path)
  return { status: answer.status, body: await answer.text(), headers: answer.headers }
}

/** Returns the path of a page from the currency's URL template. */
async function readPagePath(
  currency: string,
  kind: 'addressExplorer' | 'txExplorer',
  subject: string,
): Promise<string> {
  const { body } = await scenario.call('GET', '/v1/cross-chain/available-currencies')
  const entry = body.find((item: Record<string, string>) => `${item['ticker']}@${item['network']}` === currency)
  return new URL(entry[kind].replace('{}', subject)).pathname
}

async function pay(currency: string, address: string, amount: string): Promise<string> {
  const [ticker, network] = currency.split('@')
  const { hash } = await scenario.control('/deposits', { network, currency: ticker, address, amount })
  return hash
}

describe('an address page', () => {
  test.each([
    ['btc@btc', '0.125'],
    ['ltc@ltc', '2.5'],
    ['eth@eth', '1.75'],
    ['usdt@eth', '310.5'],
  ])('shows the %s balance and the transaction that paid it', async (currency, amount) => {
    const [ticker = '', network = ''] = currency.split('@')
    const { address } = await scenario.wallet(network)
    const hash = await pay(currency, address, amount)
    await scenario.mine(network, 1)
    expect(await scenario.balance(currency, address)).toBe(amount)
    const { status, body } = await fetchText(await readPagePath(currency, 'addressExplorer', address))
    expect(status).toBe(200)
    expect(body).toContain(`${amount} ${ticker.toUpperCase()}</dd>`)
    expect(body).toContain(`+${amount} ${ticker.toUpperCase()}`)
    expect(body).toContain(`/sandbox/explorer/${network}/tx/${hash}`)
  })

  test('shows an unused address as empty', async () => {
    for (const network of ['btc', 'eth']) {
      const { address } = await scenario.wallet(network)
      const { status, body } = await fetchText(`/sandbox/explorer/${network}/address/${address}`)
      expect(status).toBe(200)
      expect(body).toContain(`>0 ${network.toUpperCase()}</dd>`)
      expect(body).toContain('None.')
    }
  })
})

describe('a transaction page', () => {
  test('shows a UTXO transaction as unconfirmed, then with confirmations, inputs, outputs and fee', async () => {
    const { address } = await scenario.wallet('btc')
    const { hash, path } = await whileMiningPaused(scenario, 'btc', async () => {
      const hash = await pay('btc@btc', address, '0.03')
      const path = await readPagePath('btc@btc', 'txExplorer', hash)
      expect((await fetchText(path)).body).toContain('unconfirmed')
      return { hash, path }
    })
    await scenario.mine('btc', 2)
    const { status, body } = await fetchText(path)
    expect(status).toBe(200)
    // Other tests mine on this chain, so the count may rise between the two reads.
    const [, confirmations] = /<dt>Confirmations<\/dt><dd>(\d+) /.exec(body) ?? []
    const { confirmations: nodeConfirmations } = await callNode('btc', 'getrawtransaction', [hash, true])
    expect(Number(confirmations)).toBeGreaterThanOrEqual(2)
    expect(Number(confirmations)).toBeLessThanOrEqual(nodeConfirmations)
    expect(body).toContain('0.03 BTC')
    expect(body).toContain(`/sandbox/explorer/btc/address/${address}`)
    expect(body).toMatch(/<dt>Fee<\/dt><dd>0\.0\d+ BTC/)
    // The page links to the transaction of a spent output.
    const [, parentHash = ''] = /tx\/([0-9a-f]{64})"><code>[0-9a-f]{64}<\/code><\/a>:\d/.exec(body) ?? []
    expect((await fetchText(`/sandbox/explorer/btc/tx/${parentHash}`)).status).toBe(200)
  })

  test('shows token transfers with amount and addresses', async () => {
    const { address } = await scenario.wallet('eth')
    const hash = await pay('usdc@eth', address, '42.5')
    await scenario.mine('eth', 1)
    const { body } = await fetchText(await readPagePath('usdc@eth', 'txExplorer', hash))
    expect(body).toContain('Token transfers')
    expect(body).toContain('42.5 USDC')
    expect(body).toContain(`/sandbox/explorer/eth/address/${address}`)
    expect(body).toContain('in a block')
  })

  test('shows a transaction that left the chain as dropped if the node still has it', async () => {
    const wallet = await fundBitcoinWallet(scenario, 'ltc', '3')
    const payment = wallet.sign([{ address: wallet.address, amount: '2' }])
    await whileMiningPaused(scenario, 'ltc', async () => {
      await wallet.send(payment)
      await scenario.mine('ltc', 1)
      const doubleSpend = wallet.sign([{ address: wallet.address, amount: '2' }], 2n)
      await replaceBlocks(scenario, 'ltc', payment.txid, doubleSpend)
    })
    expect((await fetchText(`/sandbox/explorer/ltc/tx/${payment.txid}`)).body).toContain(
      'dropped: neither in a block nor in the mempool',
    )
  })

  test('shows a failed transaction as failed', async () => {
    const wallet = await fundEvmWallet(scenario, 'eth', '1')
    const { usdc = '' } = findNode('eth').tokens
    // The wallet has no USDC, so OpenZeppelin's ERC-20 reverts.
    const hash = await wallet.call(usdc as Hex, erc20Abi, 'transfer', [wallet.address, 1n])
    expect((await fetchText(`/sandbox/explorer/eth/tx/${hash}`)).body).toContain(
      '<span class="badge failed">failed</span>',
    )
  })
})

describe('the explorer', () => {
  test.each([
    ['/sandbox/explorer/nowhere/tx/1', 'This sandbox does not run this network'],
    ['/sandbox/explorer/xmr/tx/1', 'This sandbox does not run this network'],
    ['/sandbox/explorer/btc/address/1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2', 'Not an address on Bitcoin'],
    ['/sandbox/explorer/eth/address/0x12', 'Not an address on Ethereum'],
    [`/sandbox/explorer/btc/tx/${'ab'.repeat(32)}`, 'No such transaction on Bitcoin'],
    [`/sandbox/explorer/eth/tx/0x${'ab'.repeat(32)}`, 'No such transaction on Ethereum'],
    ['/sandbox/explorer/eth/tx/%3Cscript%3Ealert(1)%3C%2Fscript%3E', 'No such transaction on Ethereum'],
    ['/sandbox/explorer/%3Cb%3E/tx/%22%3E', 'This sandbox does not run this network'],
  ])('returns 404 for %s: %s', async (path, heading) => {
    const { status, body, headers } = await fetchText(path)
    expect(status).toBe(404)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(body).toContain(`<h1>${heading}</h1>`)
    expect(body).not.toMatch(/<script|<b>/)
  })

  test('returns 503 with a message if the node does not respond', async () => {
    const { app } = createTestApp()
    const { network, addresses } = present(scenario.app.chains.get('eth'), 'the chain')
    const unreachable = present(
      createExplorer({ network, parse: addresses.parse }, [`http://127.0.0.1:${await freePort()}`], []),
      'an explorer',
    )
    mountExplorer(app, new Map([['eth', unreachable]]))
    const answer = await app.inject({ url: `/sandbox/explorer/eth/tx/0x${'ab'.repeat(32)}` })
    expect(answer.statusCode).toBe(503)
    expect(answer.body).toContain('The node does not answer')
    expect((await app.inject({ url: '/sandbox/explorer' })).body).toContain('no response')
    await app.close()
    await unreachable.close()
  })

  test('is absent outside the sandbox', async () => {
    const { app, services } = createTestApp()
    const { catalogue, chains } = scenario.app
    const settings = { ...apiDefaults, publicUrl: 'https://api.example.com' }
    const tracking = { services, settings }
    mountPages(app, { environment: 'production', settings, nodes: [], catalogue, chains, tracking })
    expect((await app.inject({ url: '/sandbox/explorer' })).statusCode).toBe(404)
    expect((await app.inject({ url: '/docs/errors' })).statusCode).toBe(200)
    await app.close()
  })
})

describeWith('chromium', 'in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())

  test.each(appearances)(
    '%s: an address, its transaction and the networks are linked, fit, and have no violation',
    async (_, options) => {
      const { address } = await scenario.wallet('eth')
      await pay('usdt@eth', address, '12.5')
      // Before it has the confirmations of a deposit, the page of a transaction reloads.
      await scenario.mine('eth', 12)
      const url = `${scenario.url}/sandbox/explorer/eth/address/${address}`
      const { page, problems } = await openPage(browser, url, options)
      const check = async () => {
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(options.viewport?.width)
        expect(await findViolations(page)).toEqual([])
      }
      await check()
      expect((await readBrightness(page, 'h1')) > 170).toBe(options.colorScheme === 'dark')
      await page.locator('tbody a').first().click()
      await page.getByText('Token transfers').waitFor()
      await check()
      await page.getByRole('link', { name: address }).click()
      await page.getByText('Address on Ethereum').waitFor()
      await page.getByRole('link', { name: 'Sandbox explorer' }).click()
      await page.getByRole('heading', { name: 'Networks' }).waitFor()
      await check()
      expect(problems).toEqual([])
      await page.close()
    },
  )
})
