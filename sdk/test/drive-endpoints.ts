import type * as Sdk from '../src/index.ts'

export type User = Readonly<{
  /** Address of the account that signs swaps. */
  account: string
  sign(rawTransaction: string): Promise<string>
}>

export type Driven = Readonly<{
  /** Operations that the server has answered as documented. */
  answered: readonly string[]
  statuses: readonly string[]
  toAmount: string
  balance: string
  swapStatuses: readonly string[]
  refusal: string
}>

const pair = { fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'eth', toNetwork: 'eth' }
const network = 'base'
const coin = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'

/** Calls every operation of the API. It runs in Node and in a page of a browser, so it imports nothing. */
export async function driveEndpoints(sdk: typeof Sdk, baseUrl: string, user: User): Promise<Driven> {
  const answered = new Set<string>()
  const client = sdk.createSwapyard({ baseUrl, apiKey: 'sandbox' })
  const swapyard = recordAnswers(client, answered)
  const events = readUntilFinished(client)
  await driveService(swapyard)
  const refusal = await driveSandbox(sdk, swapyard)
  const exchange = await driveExchanges(sdk, swapyard)
  const swapStatuses = await driveSwaps(swapyard, user)
  await driveWebhooks(swapyard)
  await checkEvents(swapyard, await events)
  answered.add('events')
  return { answered: [...answered], swapStatuses, refusal, ...exchange }
}

function recordAnswers(swapyard: Sdk.Swapyard, answered: Set<string>): Sdk.Swapyard {
  return new Proxy(swapyard, {
    get:
      (target, name: keyof Sdk.Swapyard) =>
      async (...input: [never, never]) => {
        // With overloads, the methods have no common signature.
        const answer = await (target[name] as (...all: unknown[]) => Promise<unknown>)(...input)
        answered.add(name)
        return answer
      },
  })
}

/** The events until an exchange and a swap have finished. The stream is open long before a deposit confirms. */
async function readUntilFinished(swapyard: Sdk.Swapyard): Promise<Sdk.PartnerEvent[]> {
  const events: Sdk.PartnerEvent[] = []
  const isRead = (wanted: string) => events.some(({ type }) => type === wanted)
  for await (const event of swapyard.events()) {
    events.push(event)
    if (isRead('exchange.finished') && isRead('swap.finished')) break
  }
  return events
}

/** The event of the end of a swap has what its status answers. Later checks of the swap change only when it was `updated`. */
async function checkEvents(swapyard: Sdk.Swapyard, events: readonly Sdk.PartnerEvent[]): Promise<void> {
  check(
    events.some(({ type }) => type === 'exchange.confirming'),
    'events',
  )
  const toText = ({ updated: _, ...swap }: Sdk.DexExchange) => JSON.stringify(Object.entries(swap).sort())
  for (const event of events)
    if (event.type === 'swap.finished')
      check(toText(event.data) === toText(await swapyard.getSwapStatus({ id: event.data.id })), 'the event of a swap')
}

function check(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`wrong answer: ${what}`)
}

async function driveService(swapyard: Sdk.Swapyard): Promise<void> {
  check((await swapyard.getLive()).status === 'ok', 'getLive')
  check((await swapyard.getReady()).status === 'ready', 'getReady')
  check((await swapyard.getRates()).includes('<from>BTC</from>'), 'getRates')
  check((await swapyard.headRates()).get('etag') !== null, 'headRates')
}

/** Only what does not disturb other users of the chains. */
async function driveSandbox(sdk: typeof Sdk, swapyard: Sdk.Swapyard): Promise<string> {
  const networks = await swapyard.listSandboxNetworks()
  check(
    networks.some((one) => one.network === 'btc'),
    'listSandboxNetworks',
  )
  await swapyard.setSandboxMining({ network: 'btc', paused: false })
  await swapyard.setSandboxPrice({ currency: 'celo', usd: null })
  try {
    await swapyard.createSandboxReorg({ network: 'no-such-network', depth: 1 })
  } catch (error) {
    if (error instanceof sdk.SwapyardError) return `createSandboxReorg ${error.statusCode}`
    throw error
  }
  return 'none'
}

async function driveExchanges(sdk: typeof Sdk, swapyard: Sdk.Swapyard) {
  const amount = '0.01'
  const currencies = await swapyard.listCurrencies()
  check(
    currencies.some(({ ticker, enabled }) => ticker === 'btc' && enabled),
    'listCurrencies',
  )
  const { address } = await swapyard.createSandboxWallet({ network: 'eth' })
  const refund = await swapyard.createSandboxWallet({ network: 'btc' })
  check((await swapyard.validateAddress({ currency: 'eth', network: 'eth', address })).valid, 'validateAddress')

  const quote = await swapyard.quoteRate({ ...pair, amount, flow: 'fixed-rate' })
  const body = { ...pair, fromAmount: amount, address }
  const created = await swapyard.createExchange({ ...body, flow: 'fixed-rate', rateId: quote.rateId })
  const privateQuote = await swapyard.quotePrivateRate({ ...pair, amount, privateType: 'efficient' })
  check(privateQuote.toAmount > 0, 'quotePrivateRate')
  const hidden = await swapyard.createPrivateExchange({ ...body, privateType: 'efficient' })
  const named = await swapyard.nameRefundAddress({ id: hidden.id, refundAddress: refund.address })
  check(named.refundAddress === refund.address, 'nameRefundAddress')
  const { toAmount } = await swapyard.quoteRate({ ...pair, toAmount: '0.1' })
  check(toAmount >= 0.1, 'quoteRate by toAmount')
  const unwanted = await swapyard.createExchange({ ...body, flow: 'standard' })
  check((await swapyard.cancelExchange({ id: unwanted.id })).statusReason === 'CANCELLED', 'cancelExchange')
  const unpaid = await swapyard.createExchange({ ...body, flow: 'standard' })
  const { expiresAt } = await swapyard.expireSandboxExchange({ id: unpaid.id })
  check(expiresAt < unpaid.expiresAt, 'expireSandboxExchange')

  await swapyard.createSandboxDeposit({
    network: 'btc',
    currency: 'native',
    address: created.request.depositAddress,
    amount,
  })
  const statuses: string[] = []
  const { id } = await swapyard.waitForExchange(
    { id: created.id },
    { minIntervalMs: 200, onChange: ({ status }) => void (statuses.at(-1) === status || statuses.push(status)) },
  )
  check((await swapyard.getExchangeStatus({ id })).exchange.status === 'finished', 'getExchangeStatus by id')
  const several = await swapyard.getExchangeStatus({ ids: `${id},${hidden.id}` })
  check(several.data.map(({ type }) => type).join() === 'standard,private', 'getExchangeStatus by ids')
  check((await swapyard.getStandardExchangeStatus({ id })).request.flow === 'fixed-rate', 'getStandardExchangeStatus')
  check((await swapyard.getPrivateExchangeStatus({ id: hidden.id })).id === hidden.id, 'getPrivateExchangeStatus')
  const token = created.trackingUrl.split('/').at(-1) ?? ''
  check((await swapyard.getTrackedExchange({ token })).status === 'finished', 'getTrackedExchange')
  const page = await swapyard.listExchanges({ exchangeType: 'private', page: 1, limit: 500 })
  check(
    page.data.some((one) => one.id === hidden.id),
    'listExchanges',
  )
  await drivePartner(swapyard, id)
  const balance = await swapyard.getSandboxBalance({ network: 'eth', currency: 'native', address })
  return { statuses, toAmount: sdk.numberToAmount(quote.toAmount), balance: balance.amount }
}

async function drivePartner(swapyard: Sdk.Swapyard, id: string): Promise<void> {
  check((await swapyard.listPairs({ fromCurrency: 'btc' })).length > 0, 'listPairs')
  check(Array.isArray((await swapyard.getPartnerBalances()).data), 'getPartnerBalances')
  const balances = await swapyard.getPartnerBalances({ format: 'csv' })
  check(balances.startsWith('currency,network,amount'), 'getPartnerBalances as CSV')
  const today = new Date().toISOString().slice(0, 10)
  check((await swapyard.getPartnerFees({ from: today, to: today })).to === today, 'getPartnerFees')
  const table = await swapyard.getPartnerFees({ from: today, to: today, format: 'csv' })
  check(table.startsWith('date,currency,network'), 'getPartnerFees as CSV')
  check((await swapyard.getPartnerUsage()).scopes.includes('partner:read'), 'getPartnerUsage')
  await driveFeeAddresses(swapyard)
  const { data } = await swapyard.listPartnerExchanges({ limit: 500 })
  check(
    data.some((one) => one.id === id),
    'listPartnerExchanges',
  )
}

/** A network takes one new address an hour, so Node and the page of a browser use two networks. */
async function driveFeeAddresses(swapyard: Sdk.Swapyard): Promise<void> {
  const terms = {
    network: 'document' in globalThis ? 'bsc' : 'base',
    address: '0xc0ffee254729296a45a3885639ac7e10f9d54979',
  }
  const { next } = await swapyard.setFeeAddress(terms)
  check(next?.address.toLowerCase() === terms.address, 'setFeeAddress')
  const { data } = await swapyard.listFeeAddresses()
  check(
    data.some((one) => one.network === terms.network),
    'listFeeAddresses',
  )
  check((await swapyard.setFeeAddress({ ...terms, address: 'none' })).next === null, 'setFeeAddress none')
}

/** Nothing listens at the address: a delivery stays pending. */
async function driveWebhooks(swapyard: Sdk.Swapyard): Promise<void> {
  const url = 'http://127.0.0.1:9/hook'
  const { id, secret } = await swapyard.createWebhook({ url, events: ['exchange.finished'] })
  check(secret.startsWith('whsec_'), 'createWebhook')
  const { data } = await swapyard.listWebhooks()
  check(
    data.some((one) => one.id === id),
    'listWebhooks',
  )
  check((await swapyard.rotateWebhookSecret({ id })).secret !== secret, 'rotateWebhookSecret')
  check(!(await swapyard.disableWebhook({ id })).enabled, 'disableWebhook')
  check((await swapyard.enableWebhook({ id })).enabled, 'enableWebhook')
  check((await swapyard.getWebhook({ id })).url === url, 'getWebhook')
  const { eventId } = await swapyard.testWebhook({ id })
  const findTest = async () =>
    (await swapyard.listDeliveries({ id, limit: 10 })).data.find((one) => one.eventId === eventId)
  let test = await findTest()
  while (test === undefined) test = await findTest()
  check((await swapyard.redeliver({ id, deliveryId: test.id })).type === 'webhook.test', 'redeliver')
  check((await swapyard.deleteWebhook({ id })).deleted, 'deleteWebhook')
}

async function driveSwaps(swapyard: Sdk.Swapyard, { account, sign }: User): Promise<string[]> {
  await swapyard.createSandboxDeposit({ network, currency: 'native', address: account, amount: '2' })
  await swapyard.createSandboxBlocks({ network, count: 1 })
  check((await swapyard.listDefiNetworks()).length === 14, 'listDefiNetworks')
  const tokens = await swapyard.listTokens({ network, limit: 500 })
  const usdc = tokens.find(({ symbol }) => symbol === 'USDC')?.address ?? ''
  check((await swapyard.getToken({ network, address: usdc })).decimals === 6, 'getToken')

  const swap = async (fromTokenAddress: string, toTokenAddress: string, amount: string) => {
    const terms = { network, fromTokenAddress, toTokenAddress, amount, slippage: '1', referrerFee: '0' }
    const quote = await swapyard.quoteSwap(terms)
    const [first = '', second] = await swapyard.buildSwap({ ...terms, account })
    if (second !== undefined) await swapyard.sendApproval({ network, rawApproveTx: await sign(first) })
    const hash = await swapyard.sendSwap({
      ...{ network, fromTokenAddress, toTokenAddress, account },
      amountFrom: amount,
      amountTo: quote.toAmount,
      commissionPercentage: '0',
      rawTx: await sign(second ?? first),
    })
    const final = await swapyard.waitForSwap({ hash }, { minIntervalMs: 200 })
    check((await swapyard.getSwapStatus({ id: final.id })).hash === hash, 'getSwapStatus')
    check(
      (await swapyard.listSwaps({ network, account })).exchanges.some((one) => one.hash === hash),
      'listSwaps',
    )
    return final.status
  }
  return [await swap(coin, usdc, '1'), await swap(usdc, coin, '100')]
}
