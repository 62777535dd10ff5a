import { useState } from 'react'
import { explain } from '../client.ts'
import { releasePrice, setPrice, useFixedPrices } from '../prices.ts'
import type { Quote, Terms } from './order.ts'
import { jumpingCurrency } from './scenarios.ts'

/** Moves the reference price by hand. It stays until it is released. */
export function PriceControl({ terms, quote }: { terms: Terms; quote: Quote | null }) {
  const fixed = useFixedPrices()
  const [problem, setProblem] = useState<string | null>(null)
  const currency = jumpingCurrency(terms)
  const act = (call: Promise<unknown>) => {
    setProblem(null)
    call.catch((error) => setProblem(explain(error)))
  }
  const jump = (percent: number) => {
    if (currency !== null && quote !== null) act(setPrice(currency, quote, terms, percent))
  }
  return (
    <fieldset className="prices">
      <legend>Reference price{currency === null ? '' : ` of ${currency.symbol}`}</legend>
      {Object.entries(fixed).map(([ticker, usd]) => (
        <p key={ticker} className="fixed-price">
          {ticker.toUpperCase()} is fixed at ${usd}.{' '}
          <button type="button" className="quiet-button" onClick={() => act(releasePrice(ticker))}>
            Let {ticker.toUpperCase()} move again
          </button>
        </p>
      ))}
      {currency === null ? (
        <p className="quiet">Prices of stablecoins stay: a stablecoin off its peg is not exchanged.</p>
      ) : (
        <div className="row">
          {[5, -5].map((percent) => (
            <button key={percent} type="button" disabled={quote === null} onClick={() => jump(percent)}>
              {percent > 0 ? `Raise by ${percent} %` : `Lower by ${-percent} %`}
            </button>
          ))}
        </div>
      )}
      {problem === null ? null : (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </fieldset>
  )
}
