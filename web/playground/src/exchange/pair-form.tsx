import type { Currency } from '@swapyard/sdk'
import { type FormEvent, useState } from 'react'
import { ActButton } from '../act-button.tsx'
import { AmountInput } from '../amount-input.tsx'
import { findCurrency, keyOf, labelOf } from '../currencies.ts'
import type { Terms } from './order.ts'
import { PriceControl } from './price-control.tsx'
import { QuoteCard } from './quote-card.tsx'
import type { QuoteFeed } from './use-quote.ts'

type Props = Readonly<{
  currencies: readonly Currency[]
  terms: Terms
  feed: QuoteFeed
  isBusy: boolean
  onTerms(terms: Terms): void
  onCreate(terms: Terms, recipient: string): void
}>

export function PairForm({ currencies, terms, feed, isBusy, onTerms, onCreate }: Props) {
  const [recipient, setRecipient] = useState('')
  const change = (changes: Partial<Terms>) => onTerms({ ...terms, ...changes })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onCreate(terms, recipient.trim())
  }
  return (
    <form className="panel form" aria-labelledby="terms" onSubmit={submit}>
      <h2 id="terms">{terms.isPrivate ? 'Private exchange' : 'Exchange'}</h2>
      <div className="pair">
        <AmountInput label="You send" value={terms.amount} onChange={(amount) => change({ amount })} />
        <CurrencySelect
          name="From"
          currencies={currencies}
          value={terms.from}
          onChange={(from) => change({ from, ...(keyOf(from) === keyOf(terms.to) ? { to: terms.from } : {}) })}
        />
        <CurrencySelect
          name="To"
          currencies={currencies.filter((one) => isTarget(one, terms))}
          value={terms.to}
          onChange={(to) => change({ to })}
        />
      </div>
      {terms.isPrivate ? <PrivateTypes terms={terms} onChange={change} /> : <Flows terms={terms} onChange={change} />}
      <QuoteCard terms={terms} feed={feed} />
      <label>
        Recipient <span className="quiet">(empty: a new wallet)</span>
        <input
          autoComplete="off"
          spellCheck={false}
          value={recipient}
          onChange={(event) => setRecipient(event.target.value)}
        />
      </label>
      <ActButton type="submit" className="main-button" isDisabled={isBusy || feed.quote === null}>
        Create the exchange
      </ActButton>
      <PriceControl terms={terms} quote={feed.quote} />
    </form>
  )
}

/** Both legs of a private exchange need a wallet of their own, so its networks differ. */
const isTarget = (one: Currency, { from, isPrivate }: Terms): boolean =>
  isPrivate ? one.network !== from.network : keyOf(one) !== keyOf(from)

function CurrencySelect(props: {
  name: string
  currencies: readonly Currency[]
  value: Currency
  onChange(currency: Currency): void
}) {
  const { currencies, value } = props
  const select = (key: string) => {
    const [ticker = '', network = ''] = key.split('@')
    const found = findCurrency(currencies, ticker, network)
    if (found !== undefined) props.onChange(found)
  }
  return (
    <label>
      {props.name}
      <span className="with-icon">
        <img src={new URL(value.image, location.href).pathname} alt="" width="22" height="22" />
        <select value={keyOf(value)} onChange={(event) => select(event.target.value)}>
          {currencies.map((one) => (
            <option key={keyOf(one)} value={keyOf(one)}>
              {labelOf(one)} – {one.name}
            </option>
          ))}
        </select>
      </span>
    </label>
  )
}

type ChoiceProps = Readonly<{ terms: Terms; onChange(changes: Partial<Terms>): void }>

function Flows({ terms, onChange }: ChoiceProps) {
  const choices = [
    { value: 'standard', label: 'Floating rate' },
    { value: 'fixed-rate', label: 'Fixed rate' },
  ] as const
  return (
    <fieldset className="choices">
      <legend>Rate</legend>
      {choices.map(({ value, label }) => (
        <label key={value}>
          <input type="radio" name="flow" checked={terms.flow === value} onChange={() => onChange({ flow: value })} />
          {label}
        </label>
      ))}
    </fieldset>
  )
}

function PrivateTypes({ terms, onChange }: ChoiceProps) {
  const choices = [
    { value: 'efficient', label: 'Cheapest and fastest' },
    { value: 'privatePlus', label: 'Through Monero' },
  ] as const
  return (
    <fieldset className="choices">
      <legend>Intermediary</legend>
      {choices.map(({ value, label }) => (
        <label key={value}>
          <input
            type="radio"
            name="private-type"
            checked={terms.privateType === value}
            onChange={() => onChange({ privateType: value })}
          />
          {label}
        </label>
      ))}
    </fieldset>
  )
}
