import type { DefiCurrency, SwapQuote } from '@swapyard/sdk'
import type { FormEvent, ReactNode } from 'react'
import { ActButton } from '../act-button.tsx'
import { AmountInput } from '../amount-input.tsx'
import { truncate } from '../currencies.ts'
import { Sparkline } from '../sparkline.tsx'
import type { SwapTerms } from './run-swap.ts'
import type { SwapQuoteFeed } from './use-swap-quote.ts'

type Props = Readonly<{
  network: string
  networks: readonly string[]
  /** Null if the faucet has no token of the network. */
  terms: SwapTerms | null
  onNetwork(network: string): void
  onSwap(): void
  children: ReactNode
}>

/** The network stays while its tokens are read, so that it keeps the focus. */
export function SwapForm({ network, networks, terms, onNetwork, onSwap, children }: Props) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onSwap()
  }
  return (
    <form className="panel form" aria-labelledby="terms" onSubmit={submit}>
      <h2 id="terms">Swap</h2>
      <label>
        Network
        <select value={network} onChange={(event) => onNetwork(event.target.value)}>
          {networks.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      {terms === null ? <p className="quiet">The faucet has no token of this network.</p> : children}
    </form>
  )
}

type TermsProps = Readonly<{
  /** Tokens that the faucet has. */
  sources: readonly DefiCurrency[]
  tokens: readonly DefiCurrency[]
  terms: SwapTerms
  feed: SwapQuoteFeed
  isBusy: boolean
  onTerms(terms: SwapTerms): void
}>

/** What is swapped, its quote, and the button of the form. */
export function SwapTermsFields({ sources, tokens, terms, feed, isBusy, onTerms }: TermsProps) {
  const change = (changes: Partial<SwapTerms>) => onTerms({ ...terms, ...changes })
  const swapEnds = (from: DefiCurrency) => change({ from, ...(from === terms.to ? { to: terms.from } : {}) })
  return (
    <>
      <div className="pair">
        <AmountInput label="You swap" value={terms.amount} onChange={(amount) => change({ amount })} />
        <TokenSelect name="From" tokens={sources} value={terms.from} onChange={swapEnds} />
        <TokenSelect
          name="To"
          tokens={tokens.filter((one) => one !== terms.from)}
          value={terms.to}
          onChange={(to) => change({ to })}
        />
      </div>
      <SwapQuoteCard terms={terms} tokens={tokens} feed={feed} />
      <ActButton type="submit" className="main-button" isDisabled={isBusy || feed.quote === null}>
        Swap with a throw-away wallet
      </ActButton>
    </>
  )
}

function TokenSelect(props: {
  name: string
  tokens: readonly DefiCurrency[]
  value: DefiCurrency
  onChange(token: DefiCurrency): void
}) {
  const { tokens, value } = props
  const select = (address: string) => {
    const token = tokens.find((one) => one.address === address)
    if (token !== undefined) props.onChange(token)
  }
  return (
    <label>
      {props.name}
      <span className="with-icon">
        <img src={new URL(value.image, location.href).pathname} alt="" width="22" height="22" />
        <select value={value.address} onChange={(event) => select(event.target.value)}>
          {tokens.map((one) => (
            <option key={one.address} value={one.address}>
              {one.symbol} – {one.name}
            </option>
          ))}
        </select>
      </span>
    </label>
  )
}

type CardProps = Readonly<{ terms: SwapTerms; tokens: readonly DefiCurrency[]; feed: SwapQuoteFeed }>

function SwapQuoteCard({ terms, tokens, feed: { quote, problem, history } }: CardProps) {
  if (quote === null)
    return (
      <div className="quote">
        <p className={problem === null ? 'quiet' : 'problem'}>{problem ?? 'Asking for a quote…'}</p>
      </div>
    )
  return (
    <div className="quote">
      <p className="quote-name">You receive</p>
      <p className="quote-amount" data-testid="quote">
        {truncate(quote.receivedAmount, 8)} <span>{terms.to.symbol}</span>
      </p>
      <Sparkline values={history} label={`The quote over its last ${history.length} readings`} />
      <dl className="facts">
        <dt>At least</dt>
        <dd>
          {truncate(quote.minReceived, 8)} {terms.to.symbol}
        </dd>
        <dt>Price impact</dt>
        <dd>{quote.priceImpact === '' ? 'unknown' : `${quote.priceImpact} %`}</dd>
        <dt>Fee</dt>
        <dd>
          {truncate(quote.fee, 8)} {terms.to.symbol}
        </dd>
      </dl>
      <Routes quote={quote} tokens={tokens} />
    </div>
  )
}

/** How the amount is split, for example `60 % USDC → WETH (uniswap-v3)`. */
function Routes({ quote, tokens }: { quote: SwapQuote; tokens: readonly DefiCurrency[] }) {
  const symbolOf = (address: string) =>
    tokens.find((one) => one.address.toLowerCase() === address.toLowerCase())?.symbol ?? `${address.slice(0, 8)}…`
  return (
    <ul className="routes">
      {quote.routes.map(({ percentage, subRoutes }) => {
        const hops = subRoutes.map(
          ({ from, to, dexes }) =>
            `${symbolOf(from)} → ${symbolOf(to)} (${[...new Set(dexes.map(({ name }) => name))].join(', ')})`,
        )
        return <li key={`${percentage} ${hops.join()}`}>{`${percentage} % ${hops.join(', ')}`}</li>
      })}
    </ul>
  )
}
