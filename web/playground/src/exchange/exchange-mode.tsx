import type { Currency } from '@swapyard/sdk'
import { useState } from 'react'
import { labelOf } from '../currencies.ts'
import { Observer } from './observer.tsx'
import type { Terms } from './order.ts'
import { PairForm } from './pair-form.tsx'
import { PayPanel } from './pay-panel.tsx'
import { Progress } from './progress.tsx'
import { useOrder } from './use-order.ts'
import { useQuote } from './use-quote.ts'

/** Exchanges and private exchanges: the form, and what happens to the exchange. */
export function ExchangeMode({ currencies, isPrivate }: { currencies: readonly Currency[]; isPrivate: boolean }) {
  const [terms, setTerms] = useState(() => firstTerms(currencies, isPrivate))
  const feed = useQuote(terms)
  const state = useOrder()
  const { order, problem } = state
  return (
    <>
      <PairForm
        currencies={currencies}
        terms={terms}
        feed={feed}
        isBusy={state.isBusy}
        onTerms={setTerms}
        onCreate={state.create}
      />
      <section className="panel" aria-labelledby="progress">
        <h2 id="progress" tabIndex={-1}>
          {order === null ? 'What happens' : `Exchange of ${order.terms.amount} ${labelOf(order.terms.from)}`}
        </h2>
        {problem === null ? null : (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        {order === null ? (
          <Forecast isPrivate={isPrivate} />
        ) : (
          <>
            <PayPanel state={state} order={order} />
            <Progress order={order} currencies={currencies} />
            {isPrivate ? <Observer order={order} currencies={currencies} /> : null}
          </>
        )}
      </section>
    </>
  )
}

function firstTerms(currencies: readonly Currency[], isPrivate: boolean): Terms {
  const find = (ticker: string) => currencies.find((one) => one.ticker === ticker && one.network === ticker)
  const from = find('btc') ?? currencies[0]
  const to = find('eth') ?? currencies.find((one) => one.network !== from?.network)
  if (from === undefined || to === undefined) throw new Error('the sandbox has fewer than two currencies')
  return { from, to, amount: '0.01', flow: 'standard', privateType: 'efficient', isPrivate }
}

function Forecast({ isPrivate }: { isPrivate: boolean }) {
  return (
    <ol className="forecast">
      <li>“Create the exchange” makes a wallet for the recipient and returns a deposit address.</li>
      <li>The faucet pays that address, or you let something go wrong.</li>
      <li>
        The server waits for confirmations
        {isPrivate ? ', pays an intermediary to itself, and converts twice' : ' and converts'}.
      </li>
      <li>The coins arrive in the wallet of the recipient.</li>
    </ol>
  )
}
