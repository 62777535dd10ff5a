import { freePort } from '@swapyard/lib/free-port.ts'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createExplorer } from '../../server/src/adapters/explorer/explorer.ts'
import { present } from '../../server/src/lib/assert.ts'
import { call, post } from '../../server/test/adapters/chains/monero/payer.ts'
import { describeWith } from '../support/describe-with.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { findViolations } from './axe.ts'
import { appearances, openPage, readBrightness, startBrowser } from './browser.ts'

describeWith('monerod', 'Monero in the explorer', () => {
  let scenario: Scenario
  beforeAll(async () => {
    scenario = await startScenario({ networks: ['xmr'] })
  })
  afterAll(() => scenario?.stop())

  const fetchText = async (path: string) => {
    const answer = await fetch(scenario.url + path)
    return { status: answer.status, body: await answer.text() }
  }
  /** Returns the path of a page from the currency's URL template. */
  const readPagePath = async (kind: 'addressExplorer' | 'txExplorer', subject: string) => {
    const { body } = await scenario.call('GET', '/v1/cross-chain/available-currencies')
    const entry = body.find((item: Record<string, string>) => item['network'] === 'xmr')
    return new URL(entry[kind].replace('{}', subject)).pathname
  }
  const pay = async (address: string): Promise<string> =>
    (await scenario.control('/deposits', { network: 'xmr', currency: 'xmr', address, amount: '0.5' })).hash

  test('shows on an address page that Monero hides its balance', async () => {
    const { address } = await scenario.wallet('xmr')
    const { status, body } = await fetchText(await readPagePath('addressExplorer', address))
    expect(status).toBe(200)
    expect(body).toContain(address)
    expect(body).toContain('Monero hides addresses and amounts')
    expect(body).not.toContain('None.')
    expect(body).not.toMatch(/\d XMR/)
  })

  test('shows a transaction as unconfirmed, then with confirmations, fee, rings and keys, without addresses and amounts', async () => {
    const { address } = await scenario.wallet('xmr')
    // Other tests mine on this chain and replace its blocks, so repeat until the payment is shown unconfirmed.
    const payUnconfirmed = () =>
      scenario.until('the payment is shown unconfirmed', async () => {
        const hash = await pay(address)
        const path = await readPagePath('txExplorer', hash)
        return (await fetchText(path)).body.includes('unconfirmed') ? { hash, path } : null
      })
    let payment = await payUnconfirmed()
    const body = await scenario.until('the payment is shown in its block', async () => {
      await scenario.mine('xmr', 2)
      const page = await fetchText(payment.path)
      if (page.status === 200 && page.body.includes('in a block')) return page.body
      const { txs, missed_tx: missed } = (await post('/get_transactions', { txs_hashes: [payment.hash] })) as {
        txs?: object[]
        missed_tx?: string[]
      }
      console.info('monero-explorer:', page.status, payment.hash, JSON.stringify(missed ?? txs).slice(0, 300))
      // A deeper reorganisation can make a payment invalid.
      if (missed !== undefined) payment = await payUnconfirmed()
      return null
    })
    const { hash } = payment
    // Compare with the node's own data.
    const { txs } = (await post('/get_transactions', { txs_hashes: [hash], decode_as_json: true })) as {
      txs: [{ as_json: string; block_height: number; confirmations: number }]
    }
    const [, confirmations] = /<dt>Confirmations<\/dt><dd>(\d+) /.exec(body) ?? []
    expect(Number(confirmations)).toBeGreaterThanOrEqual(2)
    expect(Number(confirmations)).toBeLessThanOrEqual(txs[0].confirmations)
    expect(body).toContain(`<dt>Block</dt><dd>${txs[0].block_height} `)
    const { vin, vout, rct_signatures: signatures } = JSON.parse(txs[0].as_json)
    for (const { key } of vin) expect(body).toContain(key.k_image)
    for (const { target } of vout) expect(body).toContain(target.tagged_key.key)
    const [, fee] = /<dt>Fee<\/dt><dd>(0\.\d+) XMR/.exec(body) ?? []
    expect(Math.round(Number(fee) * 1e12)).toBe(signatures.txnFee)
    expect(body).toContain('>16</td>')
    expect(body).toContain('>hidden</td>')
    expect(body).not.toContain(address)
  })

  test('shows a coinbase transaction with its reward and unlock block', async () => {
    const { block_header: header } = (await call('get_last_block_header', {})) as {
      block_header: { miner_tx_hash: string; reward: number }
    }
    const { body } = await fetchText(`/sandbox/explorer/xmr/tx/${header.miner_tx_hash}`)
    expect(body).toContain('newly mined')
    const [, amount] = /(\d+\.\d+) XMR<\/td>/.exec(body) ?? []
    expect(Math.round(Number(amount) * 1e12)).toBe(header.reward)
    expect(body).toMatch(/locked until block \d+/)
  })

  test('returns 404 for a missing page and fails with NETWORK_UNAVAILABLE if the node does not respond', async () => {
    for (const [path, heading] of [
      ['/sandbox/explorer/xmr/address/4abc', 'Not an address on Monero'],
      [`/sandbox/explorer/xmr/tx/${'ab'.repeat(32)}`, 'No such transaction on Monero'],
      ['/sandbox/explorer/xmr/tx/1', 'No such transaction on Monero'],
    ] as const) {
      const { status, body } = await fetchText(path)
      expect([status, body.includes(`<h1>${heading}</h1>`)]).toEqual([404, true])
    }
    const { network, addresses } = present(scenario.app.chains.get('xmr'), 'the chain')
    const assets = scenario.app.catalogue.list().flatMap(({ asset }) => (asset.network === 'xmr' ? [asset] : []))
    const unreachable = present(
      createExplorer({ network, parse: addresses.parse }, [`http://127.0.0.1:${await freePort()}`], assets),
      'an explorer',
    )
    await expect(unreachable.transaction('ab'.repeat(32))).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
    await unreachable.close()
  })

  describeWith('chromium', 'in a browser', () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await startBrowser()
    })
    afterAll(() => browser.close())

    test.each(appearances)('%s: the pages fit, and have no problem and no violation', async (name, options) => {
      const { address } = await scenario.wallet('xmr')
      const { block_header: header } = (await call('get_last_block_header', {})) as {
        block_header: { miner_tx_hash: string }
      }
      const paths = {
        address: await readPagePath('addressExplorer', address),
        payment: await readPagePath('txExplorer', await pay(address)),
        coinbase: await readPagePath('txExplorer', header.miner_tx_hash),
        missing: `/sandbox/explorer/xmr/tx/${'ab'.repeat(32)}`,
      }
      // Before it has the confirmations of a deposit, the page of a transaction reloads.
      await scenario.mine('xmr', 12)
      for (const [kind, path] of Object.entries(paths)) {
        const { page, problems } = await openPage(browser, scenario.url + path, options)
        const check = async (shown: string) => {
          expect([shown, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([
            shown,
            options.viewport?.width,
          ])
          expect([shown, await findViolations(page)]).toEqual([shown, []])
          const shots = process.env['PAGE_SHOTS']
          if (shots !== undefined) await page.screenshot({ path: `${shots}/xmr-${shown}-${name}.png`, fullPage: true })
        }
        await check(kind)
        expect((await readBrightness(page, 'h1')) > 170).toBe(options.colorScheme === 'dark')
        await page.getByRole('link', { name: 'Sandbox explorer' }).click()
        await page.getByRole('heading', { name: 'Networks' }).waitFor()
        await page.getByText('Monero').first().waitFor()
        await check('networks')
        // The browser itself notes the status of a page that is missing.
        expect(problems.filter((text) => kind !== 'missing' || !text.includes('404'))).toEqual([])
        await page.close()
      }
    })
  })
})
