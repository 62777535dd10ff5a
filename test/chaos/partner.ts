import { formatUnits, parseUnits } from 'viem'
import { decimalsOf } from '../support/published-prices.ts'
import type { Json } from '../support/until.ts'
import type { Client, Reply } from './client.ts'
import type { Cluster } from './cluster.ts'
import { intermediariesOf, type Published, quotedUnits, type Terms } from './dues.ts'
import { createPublishedTerms } from './published.ts'

export type Pair = Pick<Terms, 'from' | 'to' | 'flow' | 'privateType'>
/** A quote as the API returned it. */
type Quote = Json
/** Without an address, the proceeds are credited to the partner. */
type Addresses = Readonly<{ fromAmount: string; address: string | undefined; refundAddress: string }>

/** The partner's side of an order: quotes, creates, and the records of what both stated. */
export type Partner = Readonly<{
  published: Published
  /** Quotes and creates that state another amount, partner fee or network cost than the customers' own arithmetic. */
  disputes(): readonly string[]
  /** Records the quote, the cost of a refund and of the payment between two legs. */
  requestQuote(pair: Pair, amount: string): Promise<Quote>
  /** Sends the rateId of a fixed-rate quote. */
  create(pair: Pair, addresses: Addresses, quote: Quote): Promise<Reply>
  /** Whether the answer says that the exchange is cancelled. Throws on an answer that is neither this nor that a payment was seen. */
  cancel(id: string): Promise<boolean>
  /** The terms that the customer accepted: those of the quote at a fixed rate, otherwise those of the create. */
  readTerms(pair: Pair, addresses: Addresses, quote: Quote, created: Json): Terms
}>

const RATE = '/v1/cross-chain/rate'
/** Worth more than any network fee. A quote states the fee also where the amount is out of bounds. */
const ANY_AMOUNT = '1000'

export function createPartner(
  client: Client,
  { chains }: Pick<Cluster, 'chains'>,
  /** Networks whose nodes state constant fee rates. */
  fixedFees: readonly string[],
): Partner {
  const published = createPublishedTerms(fixedFees)
  const disputes: string[] = []

  async function getQuote(
    pair: Pick<Pair, 'from' | 'to'>,
    amount: string,
    others: Readonly<Record<string, string>>,
  ): Promise<Quote> {
    const path = others['privateType'] === undefined ? RATE : `${RATE}/private`
    const reply = await client.call('GET', `${path}?${new URLSearchParams({ ...toQuery(pair), amount, ...others })}`)
    if (reply.status !== 200) throw new Error(`no rate: ${reply.status} ${reply.text}`)
    return reply.body
  }

  async function recordNetworkFee(from: string, to: string): Promise<void> {
    published.record(from, to, await getQuote({ from, to }, ANY_AMOUNT, { flow: 'standard' }))
  }

  return {
    published,
    disputes: () => [...published.disputes(), ...disputes],
    async requestQuote({ from, to, flow, privateType }, amount) {
      await recordNetworkFee(to, from)
      if (privateType !== null) {
        const offered = intermediariesOf(privateType).filter((via) =>
          chains.networks.some(({ network }) => via.endsWith(`@${network}`)),
        )
        for (const target of [to, ...offered]) await recordNetworkFee(from, target)
        for (const via of offered) await recordNetworkFee(via, to)
        const quote = await getQuote({ from, to }, amount, { privateType })
        published.recordPrivate(from, to, privateType, quote)
        return quote
      }
      const quote = await getQuote({ from, to }, amount, { flow })
      published.record(from, to, quote)
      const terms = { from, to, flow, fromUnits: parseUnits(amount, decimalsOf(from)) }
      const fee = parseUnits(quote.fees.network, decimalsOf(to))
      const { toUnits, partnerUnits } = quotedUnits(terms, fee, published.partnerBps)
      if (quote.toAmount !== toNumber(toUnits, to))
        disputes.push(
          `${amount} of ${from} is quoted as ${quote.toAmount} of ${to}, and is worth ${toNumber(toUnits, to)}`,
        )
      if (parseUnits(quote.fees.partner, decimalsOf(to)) !== partnerUnits)
        disputes.push(
          `${amount} of ${from} is quoted with a partner fee of ${quote.fees.partner} of ${to}, and ${partnerUnits} units are due`,
        )
      return quote
    },
    create(pair, addresses, { rateId }) {
      const { flow, privateType } = pair
      const requested = { ...toQuery(pair), ...addresses }
      if (privateType !== null)
        return client.call('POST', '/v1/cross-chain/exchange/private', { ...requested, privateType })
      const promise = flow === 'fixed-rate' ? { rateId } : {}
      return client.call('POST', '/v1/cross-chain/exchange', { ...requested, flow, ...promise })
    },
    async cancel(id) {
      const { status, body, text } = await client.call('POST', '/v1/cross-chain/exchange/cancel', { id })
      if (status === 201 && body.status === 'failed' && body.statusReason === 'CANCELLED') return true
      if (status === 409 && body.code === 'EXCHANGE_NOT_PENDING') return false
      throw new Error(`no cancel: ${status} ${text}`)
    },
    readTerms({ from, to, flow, privateType }, { fromAmount, address }, quote, { id, request }) {
      const fromUnits = parseUnits(fromAmount, decimalsOf(from))
      const terms = { from, to, flow, privateType, fromUnits, creditsPartner: address === undefined }
      const created = parseUnits(request.amountToRequested, decimalsOf(to))
      const fee = published.networkFee(from, to)
      const worth = (networkFee: bigint) => quotedUnits(terms, networkFee, published.partnerBps).toUnits
      const isExpected =
        flow === 'fixed-rate'
          ? toNumber(created, to) === quote.toAmount
          : privateType !== null || (created >= worth(fee.most) && created <= worth(fee.least))
      if (!isExpected)
        disputes.push(`exchange ${id} is created for ${created} of ${to}, and was quoted as ${quote.toAmount}`)
      return { ...terms, toUnits: flow === 'fixed-rate' ? parseUnits(String(quote.toAmount), decimalsOf(to)) : created }
    },
  }
}

/** The query parameters of a pair. */
export function toQuery({ from, to }: Pick<Pair, 'from' | 'to'>): Record<string, string> {
  const [fromCurrency = '', fromNetwork = ''] = from.split('@')
  const [toCurrency = '', toNetwork = ''] = to.split('@')
  return { fromCurrency, fromNetwork, toCurrency, toNetwork }
}

/** The JSON number of an amount with at most 15 significant digits. */
const toNumber = (units: bigint, currency: string): number => Number(formatUnits(units, decimalsOf(currency)))
