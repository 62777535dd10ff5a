import {
  type CreatedExchange,
  type Currency,
  type ExchangeRecord,
  type Flow,
  numberToAmount,
  type PrivateRateQuote,
  type PrivateType,
  type RateQuote,
} from '@swapyard/sdk'
import { sleep, swapyard } from '../client.ts'

export type Quote = RateQuote | PrivateRateQuote

export type Terms = Readonly<{
  from: Currency
  to: Currency
  amount: string
  flow: Flow
  privateType: PrivateType
  isPrivate: boolean
}>

/** An exchange that the page has created. */
export type Order = Readonly<{
  terms: Terms
  quote: Quote
  created: CreatedExchange
  /** As the status shows it; null until it was read. */
  record: ExchangeRecord | null
  recipient: string
  refundAddress: string
  /** Of the address that was paid; null before. */
  balance: string | null
}>

const pairOf = ({ from, to }: Terms) => ({
  fromCurrency: from.ticker,
  fromNetwork: from.network,
  toCurrency: to.ticker,
  toNetwork: to.network,
})

export function requestQuote(terms: Terms, signal?: AbortSignal): Promise<Quote> {
  const request = { ...pairOf(terms), amount: terms.amount }
  return terms.isPrivate
    ? swapyard.quotePrivateRate({ ...request, privateType: terms.privateType }, { signal })
    : swapyard.quoteRate({ ...request, flow: terms.flow }, { signal })
}

/** Creates wallets for the payout and for a refund, and the exchange. An address that was typed in is used as it is. */
export async function createOrder(terms: Terms, recipient: string): Promise<Order> {
  const walletOn = async (network: string) => (await swapyard.createSandboxWallet({ network })).address
  const address = recipient === '' ? await walletOn(terms.to.network) : recipient
  const refundAddress = await walletOn(terms.from.network)
  // A new quote: its rateId is good for a minute.
  const quote = await requestQuote(terms)
  const body = { ...pairOf(terms), fromAmount: terms.amount, address, refundAddress }
  const created = terms.isPrivate
    ? await swapyard.createPrivateExchange({ ...body, privateType: terms.privateType })
    : await swapyard.createExchange({
        ...body,
        flow: terms.flow,
        ...('rateId' in quote && quote.rateId !== null ? { rateId: quote.rateId } : {}),
      })
  return { terms, quote, created, record: null, recipient: address, refundAddress, balance: null }
}

/** Polls until the coins have arrived. A failed exchange is read on, because a late deposit is refunded. */
export async function followOrder(
  id: string,
  signal: AbortSignal,
  onRecord: (record: ExchangeRecord) => void,
  onProblem: (error: unknown) => void,
): Promise<ExchangeRecord> {
  for (;;) {
    try {
      const { exchange } = await swapyard.getExchangeStatus({ id }, { signal })
      onRecord(exchange)
      if (exchange.status === 'finished' || exchange.status === 'refunded') return exchange
      await sleep(exchange.status === 'failed' ? 2_000 : 800, signal)
    } catch (error) {
      if (signal.aborted) throw error
      onProblem(error)
      await sleep(2_000, signal)
    }
  }
}

/** What the address that was paid holds now. */
export async function readPaidBalance({ terms, recipient, refundAddress }: Order, record: ExchangeRecord) {
  const [currency, address] =
    record.status === 'finished' ? ([terms.to, recipient] as const) : ([terms.from, refundAddress] as const)
  const { amount } = await swapyard.getSandboxBalance({ network: currency.network, currency: currency.ticker, address })
  return amount
}

/** The quoted minimum as decimal text. */
export const minOf = ({ min }: Quote): string => numberToAmount(min)
