import { freePort } from '@swapyard/lib/free-port.ts'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createExplorer } from '../../server/src/adapters/explorer/explorer.ts'
import { present } from '../../server/src/lib/assert.ts'
import { call, post } from '../../server/test/adapters/chains/monero/payer.ts'
import { describeWith } from '../support/describe-with.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { brightness, openPage, phone, startBrowser } from './browser.ts'

describeWith('monerod', 'Monero in the explorer', () => {
  let scenario: Scenario
  beforeAll(async () => {
    scenario = await startScenario({ networks: ['xmr'] })
  })
  afterAll(() => scenario?.stop())

  const text = async (path: string) => {
    const answer = await fetch(scenario.url + path)
    return { status: answer.status, body: await answer.text() }
  }
  /** The page that the currency's own template names. */
  const pathOf = async (kind: 'addressExplorer' | 'txExplorer', subject: string) => {
    const { body } = await scenario.call('GET', '/v1/cross-chain/available-currencies')
    const found = body.find((one: Record<string, string>) => one['network'] === 'xmr')
    return new URL(found[kind].replace('{}', subject)).pathname
  }
  const pay = async (address: string): Promise<string> =>
    (await scenario.control('/deposits', { network: 'xmr', currency: 'xmr', address, amount: '0.5' })).hash

  test('an address page says that only the owner sees its balance', async () => {
    const { address } = await scenario.wallet('xmr')
    const { status, body } = await text(await pathOf('addressExplorer', address))
    expect(status).toBe(200)
    expect(body).toContain(address)
    expect(body).toContain('Monero hides addresses and amounts')
    expect(body).not.toContain('None.')
    expect(body).not.toMatch(/\d XMR/)
  })

  test('a transaction waits, then has confirmations, a fee, rings and keys, and neither addresses nor amounts', async () => {
    const { address } = await scenario.wallet('xmr')
    // Others mine on this chain, and replace its blocks.
    const { hash, path } = await scenario.until('a payment is shown before its block', async () => {
      const paid = await pay(address)
      const shown = await pathOf('txExplorer', paid)
      return (await text(shown)).body.includes('unconfirmed') ? { hash: paid, path: shown } : null
    })
    const body = await scenario.until('it is shown in its block', async () => {
      await scenario.mine('xmr', 2)
      const shown = await text(path)
      return shown.status === 200 && shown.body.includes('in a block') ? shown.body : null
    })
    // As the node itself says it.
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

  test('new coins of a block show what they are', async () => {
    const { block_header: header } = (await call('get_last_block_header', {})) as {
      block_header: { miner_tx_hash: string; reward: number }
    }
    const { body } = await text(`/sandbox/explorer/xmr/tx/${header.miner_tx_hash}`)
    expect(body).toContain('newly mined')
    const [, shown] = /(\d+\.\d+) XMR<\/td>/.exec(body) ?? []
    expect(Math.round(Number(shown) * 1e12)).toBe(header.reward)
    expect(body).toMatch(/locked until block \d+/)
  })

  test('what is not there is 404, and a node that is away 503', async () => {
    for (const [path, sentence] of [
      ['/sandbox/explorer/xmr/address/4abc', 'Not an address on Monero'],
      [`/sandbox/explorer/xmr/tx/${'ab'.repeat(32)}`, 'No such transaction on Monero'],
      ['/sandbox/explorer/xmr/tx/1', 'No such transaction on Monero'],
    ] as const) {
      const { status, body } = await text(path)
      expect([status, body.includes(`<h1>${sentence}</h1>`)]).toEqual([404, true])
    }
    const chain = present(scenario.app.chains.get('xmr'), 'the chain')
    const assets = scenario.app.catalogue.list().flatMap(({ asset }) => (asset.network === 'xmr' ? [asset] : []))
    const away = present(createExplorer(chain, [`http://127.0.0.1:${await freePort()}`], assets), 'an explorer')
    await expect(away.transaction('ab'.repeat(32))).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
    await away.close()
  })

  describeWith('chromium', 'in a browser', () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await startBrowser()
    })
    afterAll(() => browser.close())

    test('nothing complains, by day and by night, and it fits a phone', async () => {
      const { address } = await scenario.wallet('xmr')
      const paths = [await pathOf('addressExplorer', address), await pathOf('txExplorer', await pay(address))]
      await scenario.mine('xmr', 12)
      for (const path of paths)
        for (const colorScheme of ['light', 'dark'] as const) {
          const { page, problems } = await openPage(browser, scenario.url + path, { ...phone, colorScheme })
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
          expect((await brightness(page, 'h1')) > 170).toBe(colorScheme === 'dark')
          const shots = process.env['PAGE_SHOTS']
          if (shots !== undefined)
            await page.screenshot({ path: `${shots}/xmr-${paths.indexOf(path)}-${colorScheme}.png`, fullPage: true })
          await page.getByRole('link', { name: 'Sandbox explorer' }).click()
          await page.getByRole('heading', { name: 'Networks' }).waitFor()
          await page.getByText('Monero').first().waitFor()
          expect(problems).toEqual([])
          await page.close()
        }
    })
  })
})
