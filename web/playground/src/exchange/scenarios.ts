import { amountToUnits, type ExchangeRecord, unitsToAmount } from '@swapyard/sdk'
import { API_KEY, sleep, swapyard } from '../client.ts'
import { labelOf } from '../currencies.ts'
import { setPrice } from '../prices.ts'
import { minOf, type Order, requestQuote, type Terms } from './order.ts'

/** What a run of a scenario needs. */
export type Run = Readonly<{
  order: Order
  signal: AbortSignal
  /** Adds a sentence about what happened. */
  note(sentence: string): void
  /** Waits until the status of the exchange satisfies the condition. */
  waitFor(holds: (record: ExchangeRecord) => boolean): Promise<ExchangeRecord>
}>

export type Scenario = Readonly<{
  id: 'full' | 'little' | 'late' | 'reorg' | 'jump'
  label: string
  /** What will happen. */
  forecast(order: Order): string
  run(run: Run): Promise<void>
}>

async function pay({ order, note }: Run, amount: string): Promise<void> {
  const { from } = order.terms
  const { depositAddress, depositMemo } = order.created.request
  const { hash } = await swapyard.createSandboxDeposit({
    network: from.network,
    currency: from.ticker,
    address: depositAddress,
    amount,
    ...(depositMemo === undefined ? {} : { memo: depositMemo }),
  })
  note(`The faucet sent ${amount} ${labelOf(from)} in transaction ${hash}.`)
}

/** 90 % of the minimum: too little for an exchange, and enough for a refund. */
function belowMin({ terms: { from }, quote }: Order): string {
  const units = amountToUnits(minOf(quote), from.decimals)
  return unitsToAmount((units * 9n) / 10n, from.decimals)
}

const full: Scenario = {
  id: 'full',
  label: 'Pay from the faucet',
  forecast: ({ terms }) => `Sends ${terms.amount} ${labelOf(terms.from)} from the bank of the sandbox.`,
  run: (run) => pay(run, run.order.terms.amount),
}

const little: Scenario = {
  id: 'little',
  label: 'Pay too little',
  forecast: (order) =>
    `Sends ${belowMin(order)} ${labelOf(order.terms.from)}, which is below the minimum of ${minOf(order.quote)}. The server refunds it to the refund address, less one network fee.`,
  run: (run) => pay(run, belowMin(run.order)),
}

const late: Scenario = {
  id: 'late',
  label: 'Pay late',
  forecast: () =>
    'Lets the exchange expire now by a control of the sandbox, in place of waiting 24 hours, and pays then. The server refunds the payment.',
  async run(run) {
    const { expiresAt } = await swapyard.expireSandboxExchange({ id: run.order.created.id })
    run.note(`The time of the exchange ended at ${new Date(expiresAt).toLocaleTimeString()}.`)
    await run.waitFor(({ status }) => status === 'failed')
    run.note('The exchange has expired. The payment follows now.')
    await pay(run, run.order.terms.amount)
  },
}

/** The network whose scheduled blocks are paused; a page that closes resumes them. */
let pausedNetwork: string | null = null
addEventListener('pagehide', () => {
  if (pausedNetwork === null) return
  const headers = { 'x-api-key': API_KEY, 'content-type': 'application/json' }
  const body = JSON.stringify({ network: pausedNetwork, paused: false })
  void fetch('/sandbox/mining', { method: 'POST', keepalive: true, headers, body })
})

const reorg: Scenario = {
  id: 'reorg',
  label: 'Replace the payment’s block',
  forecast: ({ terms: { from } }) =>
    `Pays, and replaces the block of the payment on ${from.network} by a branch without it, before it has its confirmations. The server credits nothing, and the exchange waits for a payment again.`,
  async run(run) {
    const { order, note } = run
    const { network } = order.terms.from
    pausedNetwork = network
    await swapyard.setSandboxMining({ network, paused: true })
    try {
      await pay(run, order.terms.amount)
      await swapyard.createSandboxBlocks({ network, count: 1 })
      const { confirmationsSeen, confirmationsRequired } = await run.waitFor((record) => record.confirmationsSeen > 0)
      note(`The payment has ${confirmationsSeen} of ${confirmationsRequired} confirmations.`)
      await swapyard.createSandboxReorg({ network, depth: confirmationsSeen, drop: true })
      note('Another branch has replaced its block. The payment is on the chain no more.')
      await run.waitFor((record) => record.confirmationsSeen === 0)
      note('The server has noticed it. Nothing was credited and nothing was paid. You can pay again.')
    } finally {
      await swapyard.setSandboxMining({ network, paused: false })
      pausedNetwork = null
    }
  },
}

const JUMP_PERCENT = 20

/** The currency whose price jumps: a stablecoin off its peg is not exchanged at all. */
export const jumpingCurrency = ({ from, to }: Pick<Terms, 'from' | 'to'>) =>
  !from.isStable ? from : !to.isStable ? to : null

const jump: Scenario = {
  id: 'jump',
  label: 'Pay during a price jump',
  forecast: ({ terms }) =>
    terms.flow === 'fixed-rate' && !terms.isPrivate
      ? `Raises the price of ${jumpingCurrency(terms)?.symbol} by ${JUMP_PERCENT} % and pays. The rate is fixed: the recipient gets exactly what was quoted.`
      : `Raises the price of ${jumpingCurrency(terms)?.symbol} by ${JUMP_PERCENT} % and pays. The price guard holds a floating exchange whose price is more than 10 % away from its quote, until the price returns or a person decides.`,
  async run(run) {
    const { terms, quote } = run.order
    const currency = jumpingCurrency(terms)
    if (currency === null) return
    const usd = await setPrice(currency, quote, terms, JUMP_PERCENT)
    run.note(`The price of ${currency.symbol} is fixed at ${usd} US dollars, ${JUMP_PERCENT} % higher.`)
    await waitForQuote(run)
    await pay(run, terms.amount)
    if (terms.isPrivate || terms.flow === 'standard')
      run.note('To continue the exchange, let the price move again (under “Reference price”).')
  },
}

/** Until quotes use the new price. */
async function waitForQuote({ order: { terms, quote }, signal }: Run): Promise<void> {
  const isNear = (toAmount: number) => Math.abs(toAmount / quote.toAmount - 1) < JUMP_PERCENT / 200
  while (isNear((await requestQuote(terms, signal)).toAmount)) await sleep(400, signal)
}

export const scenarios: readonly Scenario[] = [full, little, late, reorg, jump]
