import type { Currency, DefiCurrency } from '@swapyard/sdk'
import { sleep, swapyard } from '../client.ts'
import type { Step } from '../step-list.tsx'
import { faucetTicker, isAtLeast, isNative } from './tokens.ts'

export type SwapTerms = Readonly<{
  network: string
  from: DefiCurrency
  to: DefiCurrency
  amount: string
  slippage: string
}>

/** Changes one step; the step begins with the first change. */
type Report = (title: StepTitle, step: Omit<Step, 'title'>) => void
type Run = Readonly<{
  terms: SwapTerms
  currencies: readonly Currency[]
  signal: AbortSignal
  report: Report
}>

export const stepTitles = ['Wallet', 'Faucet', 'Transactions', 'Approval', 'Swap', 'Confirmed', 'Received'] as const
type StepTitle = (typeof stepTitles)[number]

/** Pays for the transactions of the swap. */
const GAS = '0.1'

export const explorerOf = (network: string, kind: 'address' | 'tx', subject: string): string =>
  `/sandbox/explorer/${network}/${kind}/${subject}`

/** A whole swap with a wallet that exists in this page only. */
export async function runSwap(run: Run): Promise<void> {
  const { terms, report } = run
  const { from, to, network, amount } = terms
  const wallet = (await import('./wallet.ts')).createWallet()
  const walletPage = explorerOf(network, 'address', wallet.address)
  report('Wallet', {
    state: 'done',
    text: 'A new key, which this page forgets when it is closed.',
    hash: wallet.address,
    href: walletPage,
  })
  await fund(run, wallet.address)

  const pair = { network, fromTokenAddress: from.address, toTokenAddress: to.address }
  const order = { ...pair, amount, slippage: terms.slippage, referrerFee: '0' }
  report('Transactions', { state: 'current', text: 'The server builds and simulates them.' })
  const { toAmount } = await swapyard.quoteSwap(order)
  const [first = '', second] = await swapyard.buildSwap({ ...order, account: wallet.address })
  report('Transactions', { state: 'done', text: second === undefined ? 'The swap.' : 'The approval, and the swap.' })
  await approve(run, second === undefined ? null : await wallet.sign(first))

  report('Swap', { state: 'current', text: 'The wallet signs, and the server broadcasts.' })
  const hash = await swapyard.sendSwap({
    ...pair,
    account: wallet.address,
    amountFrom: amount,
    amountTo: toAmount,
    commissionPercentage: '0',
    rawTx: await wallet.sign(second ?? first),
  })
  report('Swap', { state: 'done', text: 'Signed and broadcast.', hash, href: explorerOf(network, 'tx', hash) })
  await track(run, hash, wallet.address)
}

async function fund({ terms, currencies, signal, report }: Run, address: string): Promise<void> {
  const { from, network, amount } = terms
  const payments = isNative(from)
    ? [{ currency: 'native', amount: addGas(amount), decimals: from.decimals }]
    : [
        { currency: 'native', amount: GAS, decimals: 18 },
        { currency: faucetTicker(from, currencies) ?? from.symbol, amount, decimals: from.decimals },
      ]
  for (const { currency, amount: paid, decimals } of payments) {
    report('Faucet', { state: 'current', text: `The faucet sends ${paid} ${nameOf(currency)}.` })
    await swapyard.createSandboxDeposit({ network, currency, address, amount: paid })
    const read = async () => (await swapyard.getSandboxBalance({ network, currency, address }, { signal })).amount
    while (!isAtLeast(await read(), paid, decimals)) await sleep(400, signal)
  }
  const sums = payments.map(({ currency, amount: paid }) => `${paid} ${nameOf(currency)}`)
  report('Faucet', { state: 'done', text: `The wallet has ${sums.join(' and ')}.` })
}

const nameOf = (currency: string) => (currency === 'native' ? 'of the native coin' : currency.toUpperCase())
const addGas = (amount: string): string => {
  const [whole = '0', fraction] = amount.split('.')
  const more = `${BigInt(whole) + 1n}`
  return fraction === undefined ? more : `${more}.${fraction}`
}

async function approve({ terms: { network }, report }: Run, rawApproveTx: string | null): Promise<void> {
  if (rawApproveTx === null) {
    report('Approval', { state: 'done', text: 'A native coin needs none.' })
    return
  }
  report('Approval', { state: 'current', text: 'The wallet signs, and the server broadcasts.' })
  const hash = await swapyard.sendApproval({ network, rawApproveTx })
  const text = 'Of exactly this amount, for our router alone.'
  report('Approval', { state: 'done', text, hash, href: explorerOf(network, 'tx', hash) })
}

async function track({ terms, currencies, signal, report }: Run, hash: string, address: string): Promise<void> {
  const { network, to } = terms
  const final = await swapyard.waitForSwap(
    { hash },
    {
      signal,
      minIntervalMs: 600,
      maxIntervalMs: 1_500,
      onChange: ({ status }) => report('Confirmed', { state: 'current', text: `The status is ${status}.` }),
    },
  )
  if (final.status === 'failed') {
    report('Confirmed', { state: 'problem', text: `The swap failed: ${final.statusReason}.` })
    return
  }
  report('Confirmed', { state: 'done', text: 'The status is finished.' })
  const currency = faucetTicker(to, currencies)
  const balance =
    currency === null ? null : await swapyard.getSandboxBalance({ network, currency, address }, { signal })
  const has = balance === null ? '' : ` The wallet has ${balance.amount} ${to.symbol}.`
  report('Received', { state: 'done', text: `${final.amountTo} ${to.symbol}.${has}` })
}
