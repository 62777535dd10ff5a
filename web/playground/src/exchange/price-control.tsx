import { useState } from 'react'
import { ActButton } from '../act-button.tsx'
import { explain } from '../client.ts'
import { releasePrice, setPrice, useFixedPrices } from '../prices.ts'
import { useFocusOnRemoval } from '../use-focus-on-removal.ts'
import type { Quote, Terms } from './order.ts'
import { jumpingCurrency } from './scenarios.ts'

const PRICES = 'prices'

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
    <fieldset id={PRICES} className="prices" tabIndex={-1}>
      <legend>Reference price{currency === null ? '' : ` of ${currency.symbol}`}</legend>
      {Object.entries(fixed).map(([ticker, usd]) => (
        <FixedPrice key={ticker} ticker={ticker} usd={usd} onRelease={() => act(releasePrice(ticker))} />
      ))}
      {currency === null ? (
        <p className="quiet">Prices of stablecoins stay: a stablecoin off its peg is not exchanged.</p>
      ) : (
        <div className="row">
          {[5, -5].map((percent) => (
            <ActButton key={percent} type="button" isDisabled={quote === null} onPress={() => jump(percent)}>
              {percent > 0 ? `Raise by ${percent} %` : `Lower by ${-percent} %`}
            </ActButton>
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

function FixedPrice({ ticker, usd, onRelease }: { ticker: string; usd: string; onRelease(): void }) {
  const row = useFocusOnRemoval<HTMLParagraphElement>(PRICES)
  return (
    <p ref={row} className="fixed-price">
      {ticker.toUpperCase()} is fixed at ${usd}.{' '}
      <button type="button" className="quiet-button" onClick={onRelease}>
        Let {ticker.toUpperCase()} move again
      </button>
    </p>
  )
}
