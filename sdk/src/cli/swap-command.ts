import type { DexExchange, SwapQuote } from '../generated/types.ts'
import { readPositionals, UsageError } from './arguments.ts'
import { type Context, exitCodes, timeOfDay } from './context.ts'

type Terms = Readonly<{
  network: string
  fromTokenAddress: string
  toTokenAddress: string
  amount: string
  slippage: string
  referrerFee: string
}>

export async function swap(context: Context): Promise<number> {
  const { positionals, values } = context.args
  if (positionals.length === 0 && values.hash !== undefined) return track(context, values.hash)
  const terms = readTerms(context)
  if (values.account === undefined) throw new UsageError('swap needs --account')
  const quote = await context.swapyard.quoteSwap(terms)
  return values.hash === undefined
    ? build(context, terms, values.account, quote)
    : record(context, terms, values.account, quote, values.hash)
}

function readTerms({ args }: Context): Terms {
  const names = ['NETWORK', 'FROM_TOKEN', 'TO_TOKEN', 'AMOUNT']
  const [network = '', fromTokenAddress = '', toTokenAddress = '', amount = ''] = readPositionals(args, names)
  const { slippage = '0.5', 'referrer-fee': referrerFee = '0' } = args.values
  return { network, fromTokenAddress, toTokenAddress, amount, slippage, referrerFee }
}

async function build(context: Context, terms: Terms, account: string, quote: SwapQuote): Promise<number> {
  const transactions = await context.swapyard.buildSwap({ ...terms, account })
  context.progress(
    `${quote.fromAmount} pays ${quote.receivedAmount}, at least ${quote.minReceived}; price impact ${quote.priceImpact || 'unknown'} %`,
  )
  context.progress(
    transactions.length === 2
      ? 'sign and send the approval and then the swap, one transaction per line'
      : 'sign and send this transaction',
  )
  context.result({ quote, transactions }, transactions)
  return exitCodes.done
}

async function record(
  context: Context,
  { network, fromTokenAddress, toTokenAddress, amount, referrerFee }: Terms,
  account: string,
  quote: SwapQuote,
  hash: string,
): Promise<number> {
  await context.swapyard.sendSwap({
    ...{ network, fromTokenAddress, toTokenAddress, account, hash },
    amountFrom: amount,
    amountTo: quote.toAmount,
    commissionPercentage: referrerFee,
  })
  return track(context, hash)
}

async function track({ swapyard, progress, result, timeoutMs }: Context, hash: string): Promise<number> {
  const final = await swapyard.waitForSwap(
    { hash },
    {
      timeoutMs,
      onChange: (one) => progress(`${timeOfDay()} ${describe(one)}`),
      onError: ({ message }) => progress(`${timeOfDay()} ${message}; trying again`),
    },
  )
  result(final, [`${final.hash} ${describe(final)}: ${final.amountFrom} sent, ${final.amountTo} received`])
  return final.status === 'finished' ? exitCodes.done : exitCodes.failed
}

const describe = ({ status, statusReason }: DexExchange) =>
  statusReason === null ? status : `${status} (${statusReason})`
