import { callOnce } from '@swapyard/lib/json-rpc.ts'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSolanaUser } from '../../sandbox/src/solana/solana-user.fixture.ts'
import { createSuiReads, createSuiUser } from '../../sandbox/src/sui/sui-user.fixture.ts'
import { describeWith } from '../support/describe-with.ts'
import { startScenarioOnOwnChains } from '../support/own-chains.ts'
import type { Json, Scenario } from '../support/scenario.ts'
import { findViolations } from './axe.ts'
import { openPage, phone, readBrightness, startBrowser, wide } from './browser.ts'

const SOL = 'So11111111111111111111111111111111111111112'
const SUI = '0x2::sui::SUI'
type Swapped = Readonly<{ network: string; address: string; hash: string; amountTo: string; token: string }>

let scenario: Scenario
let onSolana: Swapped
let onSui: Swapped

beforeAll(async () => {
  scenario = await startScenarioOnOwnChains({ networks: ['sol', 'sui'], swaps: {} })
  onSolana = await swapOnSolana()
  onSui = await swapOnSui()
})
afterAll(() => scenario?.stop())

const rpcUrl = (network: string): string =>
  scenario.chains.networks.find((one) => one.network === network)?.rpcUrls[0] ?? ''

/** Asks the node itself. */
const askSolana = (method: string, params: readonly unknown[]): Promise<Json> => callOnce(rpcUrl('sol'), method, params)

async function fetchText(path: string): Promise<{ status: number; body: string }> {
  const answer = await fetch(scenario.url + path)
  return { status: answer.status, body: await answer.text() }
}

/** The path of a page, by the URL template in the list of currencies. */
async function readPagePath(network: string, kind: 'addressExplorer' | 'txExplorer', subject: string): Promise<string> {
  const { body } = await scenario.call('GET', '/v1/cross-chain/available-currencies')
  const entry = body.find((item: Record<string, string>) => item['network'] === network)
  return new URL(entry[kind].replace('{}', subject)).pathname
}

const readPage = async (network: string, kind: 'addressExplorer' | 'txExplorer', subject: string) =>
  fetchText(await readPagePath(network, kind, subject))

/** Swaps one native coin for USDC and waits until the swap is final. */
async function swap(
  network: string,
  coin: string,
  address: string,
  sign: (unsigned: string) => Promise<string>,
): Promise<Swapped> {
  await scenario.control('/deposits', { network, currency: 'native', address, amount: '3' })
  await scenario.mine(network, 3)
  const token = scenario.chains.networks
    .find((one) => one.network === network)
    ?.defiTokens?.find(({ symbol }) => symbol === 'USDC')?.address
  const pair = { network, fromTokenAddress: coin, toTokenAddress: token ?? '' }
  const order = { ...pair, amount: '1', slippage: '1', referrerFee: '0' }
  await scenario.until('the pools are read', async () => {
    const { status } = await scenario.call('GET', `/v1/defi/quote?${new URLSearchParams(order)}`)
    return status === 200
  })
  const built = await scenario.call('POST', '/v1/defi/transaction/swap', { ...order, account: address })
  expect(built.status, JSON.stringify(built.body)).toBe(201)
  const sent = await scenario.call('POST', '/v1/defi/send/swap', {
    ...{ ...pair, account: address, amountFrom: '1', amountTo: '1', commissionPercentage: '0' },
    rawTx: await sign(built.body[0]),
  })
  expect(sent.status, JSON.stringify(sent.body)).toBe(201)
  const hash = JSON.parse(sent.body) as string
  const finished = await scenario.until('the swap is finished', async () => {
    await scenario.mine(network, 10)
    const { body } = await scenario.call('GET', `/v1/defi/exchange/status?hash=${hash}`)
    return body.status === 'finished' && body
  })
  return { network, address, hash, amountTo: finished.amountTo, token: token ?? '' }
}

async function swapOnSolana(): Promise<Swapped> {
  const { address, sign } = await createSolanaUser()
  return swap('sol', SOL, address, sign)
}

function swapOnSui(): Promise<Swapped> {
  const { address, sign } = createSuiUser()
  return swap('sui', SUI, address, sign)
}

/** Base units of a coin with nine decimals, as people write them. */
const toCoins = (units: bigint): string => {
  const [whole, fraction] = [units / 10n ** 9n, (units % 10n ** 9n).toString().padStart(9, '0').replace(/0+$/, '')]
  return fraction === '' ? `${whole}` : `${whole}.${fraction}`
}

describe('a transaction page of Solana', () => {
  test('shows slot, commitment, signer, fee, changes of balances and instructions as the node has them', async () => {
    const { hash, address, amountTo, token } = onSolana
    const options = { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: 0 }
    const { slot, meta, transaction } = await askSolana('getTransaction', [hash, options])
    const { status, body } = await readPage('sol', 'txExplorer', hash)
    expect(status).toBe(200)
    expect(body).toContain('<span class="badge confirmed">')
    expect(body).toContain('<dt>Commitment</dt><dd>finalized')
    expect(body).toContain(`<dt>Slot</dt><dd>${slot} `)
    expect(body).toContain(`<dt>Fee</dt><dd>${toCoins(BigInt(meta.fee))} SOL</dd>`)
    expect(body).toMatch(new RegExp(`<dt>Signer</dt><dd><a href="/sandbox/explorer/sol/address/${address}">`))
    // The user paid one SOL, the fee and the rent of the account of USDC.
    const spent = BigInt(meta.preBalances[0]) - BigInt(meta.postBalances[0])
    expect(body).toContain(`<td class="amount out">−${toCoins(spent)} SOL</td>`)
    expect(body).toContain(`<td class="amount in">+${amountTo} USDC</td>`)
    const programs = transaction.message.instructions.map(
      ({ programIdIndex }: Json) => transaction.message.accountKeys[programIdIndex],
    )
    const [, section = ''] = body.split('<h2>Instructions</h2>')
    const shown = [...section.matchAll(/<td data-name="Program">.*?<code>(\w+)<\/code>/g)].map(([, one]) => one)
    expect(shown).toEqual(programs)
    expect(section).toContain('>Memo<')
    expect(body).toContain(`/sandbox/explorer/sol/address/${token}`)
  })

  test('shows a transaction as confirmed before it is final', async () => {
    const { address } = await scenario.wallet('sol')
    const hash: string = (
      await scenario.control('/deposits', { network: 'sol', currency: 'native', address, amount: '0.25' })
    ).hash
    const body = await scenario.until('the deposit has a page', async () => {
      await scenario.mine('sol', 1)
      const page = await readPage('sol', 'txExplorer', hash)
      return page.status === 200 && page.body.includes('<dt>Commitment</dt>') ? page.body : null
    })
    expect(body).toContain('<dt>Commitment</dt><dd>confirmed ')
    expect(body).toContain('http-equiv="refresh"')
    expect(body).toContain('+0.25 SOL')
  })

  test('shows a failed transaction as failed, with the error of the node', async () => {
    const hash = await failOnSolana()
    const { body } = await readPage('sol', 'txExplorer', hash)
    expect(body).toContain('<span class="badge failed">failed</span>')
    expect(body).toContain('InstructionError')
  })
})

/** Sends a swap whose user has nothing left when it is executed. */
async function failOnSolana(): Promise<string> {
  const user = await createSolanaUser()
  await scenario.control('/deposits', { network: 'sol', currency: 'native', address: user.address, amount: '1.5' })
  await scenario.mine('sol', 3)
  const order = {
    ...{ network: 'sol', fromTokenAddress: SOL, toTokenAddress: onSolana.token, slippage: '1', referrerFee: '0' },
    ...{ amount: '1', account: user.address },
  }
  const sign = async () => {
    const built = await scenario.call('POST', '/v1/defi/transaction/swap', order)
    expect(built.status, JSON.stringify(built.body)).toBe(201)
    return user.sign(built.body[0])
  }
  const [first, second] = [await sign(), await sign()]
  const options = { encoding: 'base64', skipPreflight: true }
  await askSolana('sendTransaction', [first, options])
  const hash = await askSolana('sendTransaction', [second, options])
  await scenario.mine('sol', 4)
  return hash
}

describe('an address page of Solana', () => {
  test('shows the balances of SOL and of tokens, and the swap', async () => {
    const { address, hash, amountTo } = onSolana
    const { status, body } = await readPage('sol', 'addressExplorer', address)
    expect(status).toBe(200)
    const { value } = await askSolana('getBalance', [address, { commitment: 'confirmed' }])
    expect(body).toContain(`<dd>${toCoins(BigInt(value))} SOL</dd>`)
    expect(body).toContain(`<dd>${amountTo} USDC</dd>`)
    expect(body).toContain(`/sandbox/explorer/sol/tx/${hash}`)
    expect(body).toContain(`+${amountTo} USDC`)
    expect(body).toContain('+3 SOL')
  })

  test('shows the tokens of a token account', async () => {
    const { address, amountTo, token, hash } = onSolana
    const { value } = await askSolana('getTokenAccountsByOwner', [address, { mint: token }, { encoding: 'jsonParsed' }])
    const { body } = await readPage('sol', 'addressExplorer', value[0].pubkey)
    expect(body).toContain(`<dd>${amountTo} USDC</dd>`)
    expect(body).toContain(`/sandbox/explorer/sol/tx/${hash}`)
  })

  test('shows an unused address as empty', async () => {
    const { address } = await scenario.wallet('sol')
    const { status, body } = await readPage('sol', 'addressExplorer', address)
    expect(status).toBe(200)
    expect(body).toContain('>0 SOL</dd>')
    expect(body).toContain('None.')
  })
})

describe('a transaction page of Sui', () => {
  test('shows checkpoint, sender, fee, changes of balances and commands as the node has them', async () => {
    const { hash, address, amountTo } = onSui
    const { checkpoint, fee, balanceChanges, commands } = await createSuiReads(rpcUrl('sui')).readTransaction(hash)
    const { status, body } = await readPage('sui', 'txExplorer', hash)
    expect(status).toBe(200)
    expect(body).toContain('<span class="badge confirmed">in a checkpoint</span>')
    expect(body).toContain(`<dt>Checkpoint</dt><dd>${checkpoint} `)
    expect(body).toMatch(/<dt>Confirmations<\/dt><dd>\d+ <span class="quiet">\(a swap needs 2\)/)
    expect(body).toContain(`<dt>Sender</dt><dd><a href="/sandbox/explorer/sui/address/${address}">`)
    expect(body).toContain(`<dt>Fee</dt><dd>${toCoins(fee)} SUI</dd>`)
    const paid = balanceChanges.find((one) => one.address === address && one.coinType?.endsWith('::sui::SUI'))
    expect(body).toContain(`<td class="amount out">−${toCoins(-BigInt(paid?.amount ?? 0))} SUI</td>`)
    expect(body).toContain(`<td class="amount in">+${amountTo} USDC</td>`)
    expect(commands.length).toBeGreaterThan(2)
    const [, section = ''] = body.split('<h2>Commands</h2>')
    expect(section.split('<tr>').length - 1).toBe(commands.length + 1)
    for (const { command } of commands)
      if (command.oneofKind === 'moveCall') {
        expect(section).toContain(`${command.moveCall.module}::${command.moveCall.function}`)
        expect(section).toContain(command.moveCall.package ?? 'no package')
      }
  })
})

async function depositOnSui() {
  const { address, fail } = createSuiUser()
  const paid = { network: 'sui', currency: 'native', address, amount: '3' }
  const { hash }: { hash: string } = await scenario.control('/deposits', paid)
  await scenario.mine('sui', 1)
  return { fail, address, hash }
}

/** A transaction that cannot split its coin. */
async function createFailedOnSui() {
  const { address, fail } = await depositOnSui()
  const hash = await fail(rpcUrl('sui'))
  await scenario.mine('sui', 1)
  return { address, hash }
}

describe('a transaction page of Sui without a swap', () => {
  test("shows a deposit of the sandbox, which the recipient's page links to", async () => {
    const { address, hash } = await depositOnSui()
    const { status, body } = await readPage('sui', 'txExplorer', hash)
    expect(status).toBe(200)
    expect(body).toContain('<span class="badge confirmed">in a checkpoint</span>')
    expect(body).toMatch(new RegExp(`${address}">[^]*?<td class="amount in">\\+3 SUI</td>`))
    expect((await readPage('sui', 'addressExplorer', address)).body).toContain(`/sandbox/explorer/sui/tx/${hash}`)
  })

  test('shows a failed transaction with its error, its fee and its commands, and no other change than the fee', async () => {
    const { address, hash } = await createFailedOnSui()
    const { fee, commands } = await createSuiReads(rpcUrl('sui')).readTransaction(hash)
    const { status, body } = await readPage('sui', 'txExplorer', hash)
    expect(status).toBe(200)
    expect(body).toContain('<span class="badge failed">failed</span>')
    // As Sui names it: the first command could not split the coin.
    expect(body).toMatch(/<dt>Error<\/dt><dd><code>InsufficientCoinBalance in command 0<\/code><\/dd>/)
    expect(body).toContain(`<dt>Sender</dt><dd><a href="/sandbox/explorer/sui/address/${address}">`)
    expect(fee).toBeGreaterThan(0n)
    expect(body).toContain(`<dt>Fee</dt><dd>${toCoins(fee)} SUI</dd>`)
    expect([...body.matchAll(/<td class="amount (in|out)">([^<]+)</g)].map(([, way, text]) => [way, text])).toEqual([
      ['out', `−${toCoins(fee)} SUI`],
    ])
    expect(commands).toHaveLength(2)
    expect(body).toContain('Split coins')
    expect(body).toContain('Transfer objects')
  })
})

describe('an address page of Sui', () => {
  test('shows the balances of SUI and of tokens, and the swap', async () => {
    const { address, hash, amountTo } = onSui
    const balance = await createSuiReads(rpcUrl('sui')).readBalance(address, SUI)
    const { status, body } = await readPage('sui', 'addressExplorer', address)
    expect(status).toBe(200)
    expect(body).toContain(`<dd>${toCoins(balance)} SUI</dd>`)
    expect(body).toContain(`<dd>${amountTo} USDC</dd>`)
    expect(body).toContain(`/sandbox/explorer/sui/tx/${hash}`)
    expect(body).toContain(`+${amountTo} USDC`)
  })

  test('shows an unused address as empty', async () => {
    const { status, body } = await readPage('sui', 'addressExplorer', createSuiUser().address)
    expect(status).toBe(200)
    expect(body).toContain('>0 SUI</dd>')
    expect(body).toContain('None.')
  })
})

describe('the explorer', () => {
  test.each([
    ['/sandbox/explorer/sol/address/3n', 'Not an address on Solana'],
    [`/sandbox/explorer/sol/tx/${'1'.repeat(64)}`, 'No such transaction on Solana'],
    ['/sandbox/explorer/sol/tx/%3Cscript%3E', 'No such transaction on Solana'],
    ['/sandbox/explorer/sui/address/0x2', 'Not an address on Sui'],
    [`/sandbox/explorer/sui/tx/${'1'.repeat(32)}`, 'No such transaction on Sui'],
    ['/sandbox/explorer/sui/tx/%3Cscript%3E', 'No such transaction on Sui'],
  ])('returns 404 for %s: %s', async (path, heading) => {
    const { status, body } = await fetchText(path)
    expect([status, body.includes(`<h1>${heading}</h1>`)]).toEqual([404, true])
  })

  test('lists both networks with their latest blocks', async () => {
    const { body } = await fetchText('/sandbox/explorer')
    for (const name of ['Solana', 'Sui']) expect(body).toMatch(new RegExp(`<td>${name}</td>[^]*?Latest block">\\d+<`))
  })
})

describeWith('chromium', 'in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())

  /** Two of the four appearances have all colors and all layouts. */
  const isChecked = (size: 'phone' | 'desktop', colorScheme: 'light' | 'dark') =>
    (size === 'phone') === (colorScheme === 'dark')

  test('the pages have no problems in either color scheme, fit a phone, and link to each other', async () => {
    for (const { network, address, hash } of [onSolana, onSui])
      for (const colorScheme of ['light', 'dark'] as const)
        for (const size of ['phone', 'desktop'] as const) {
          const url = `${scenario.url}/sandbox/explorer/${network}/address/${address}`
          const { page, problems } = await openPage(browser, url, { ...(size === 'phone' ? phone : wide), colorScheme })
          const check = async (name: string) => {
            if (isChecked(size, colorScheme))
              expect([network, name, await findViolations(page)]).toEqual([network, name, []])
            const width = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
            expect(width, `${network} ${name} ${size}`).toBeLessThanOrEqual(0)
            expect((await readBrightness(page, 'h1')) > 170).toBe(colorScheme === 'dark')
            const shots = process.env['PAGE_SHOTS']
            if (shots !== undefined)
              await page.screenshot({ path: `${shots}/${network}-${name}-${colorScheme}-${size}.png`, fullPage: true })
          }
          await check('address')
          await page.locator(`a[href$="${hash}"]`).first().click()
          await page.getByText('Changes of balances').waitFor()
          await check('transaction')
          await page.locator(`a[href$="${address}"]`).first().click()
          await page.getByRole('heading', { name: 'Address on' }).waitFor()
          await page.getByRole('link', { name: 'Sandbox explorer' }).click()
          await page.getByRole('heading', { name: 'Networks' }).waitFor()
          await check('networks')
          expect(problems).toEqual([])
          await page.close()
        }
  })

  test('the pages of a deposit and of a failed transaction of Sui have no problems and fit a phone', async () => {
    const pages = { deposit: await depositOnSui(), failed: await createFailedOnSui() }
    // Before it has the confirmations of a swap, the page of a transaction reloads.
    await scenario.mine('sui', 2)
    for (const [name, { hash }] of Object.entries(pages))
      for (const colorScheme of ['light', 'dark'] as const)
        for (const size of ['phone', 'desktop'] as const) {
          const url = `${scenario.url}/sandbox/explorer/sui/tx/${hash}`
          const { page, problems } = await openPage(browser, url, { ...(size === 'phone' ? phone : wide), colorScheme })
          const width = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
          expect(width, `${name} ${size}`).toBeLessThanOrEqual(0)
          if (isChecked(size, colorScheme)) expect([name, await findViolations(page)]).toEqual([name, []])
          const shots = process.env['PAGE_SHOTS']
          if (shots !== undefined)
            await page.screenshot({ path: `${shots}/sui-${name}-${colorScheme}-${size}.png`, fullPage: true })
          expect(problems).toEqual([])
          await page.close()
        }
  })
})
