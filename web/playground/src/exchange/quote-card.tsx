import { numberToAmount } from '@swapyard/sdk'
import { labelOf, truncate } from '../currencies.ts'
import { Sparkline } from '../sparkline.tsx'
import type { Quote, Terms } from './order.ts'
import type { QuoteFeed } from './use-quote.ts'

/** The current quote, and how it moved. */
export function QuoteCard({ terms, feed: { quote, problem, history } }: { terms: Terms; feed: QuoteFeed }) {
  if (quote === null)
    return (
      <div className="quote">
        <p className={problem === null ? 'quiet' : 'problem'}>{problem ?? 'Asking for a quote…'}</p>
      </div>
    )
  const amount = numberToAmount(quote.toAmount)
  return (
    <div className="quote">
      <p className="quote-name">
        The recipient gets <Move history={history} />
      </p>
      <p className="quote-amount" data-testid="quote">
        {truncate(amount, 8)} <span>{labelOf(terms.to)}</span>
      </p>
      <Sparkline values={history} label={`The quote over its last ${history.length} readings`} />
      <Facts quote={quote} terms={terms} />
    </div>
  )
}

const PERCENT = 100

function Move({ history }: { history: readonly number[] }) {
  const [first = 0, last = 0] = [history[0], history.at(-1)]
  const percent = first === 0 ? 0 : (last / first - 1) * PERCENT
  const text = `${percent > 0 ? '+' : ''}${percent.toFixed(2)} %`
  if (Math.abs(percent) < 0.005) return null
  return <span className={percent > 0 ? 'good' : 'bad'}>{text}</span>
}

function Facts({ quote, terms }: { quote: Quote; terms: Terms }) {
  const bounds = `${quote.min} to ${quote.max ?? 'no limit'} ${labelOf(terms.from)}`
  const { service, network } = quote.fees
  return (
    <dl className="facts">
      <dt>Value</dt>
      <dd>
        ${quote.amountFromUsd} → ${quote.amountToUsd}
      </dd>
      <dt>Fees</dt>
      <dd>
        {truncate(service, 8)} service, {truncate(network, 8)} network
      </dd>
      <dt>Bounds</dt>
      <dd>{bounds}</dd>
      {'intermediary' in quote ? (
        <>
          <dt>Through</dt>
          <dd>
            {labelOf({ ticker: quote.intermediary.currency, network: quote.intermediary.network })}
            {quote.intermediary.isTransparent ? ', where the payment is public' : ', where the payment is hidden'}
          </dd>
        </>
      ) : null}
    </dl>
  )
}
