import type { Currency, Execution } from '@swapyard/sdk'
import { findCurrency, labelOf, linkOf } from '../currencies.ts'
import { HashLink } from '../hash-link.tsx'
import type { Order } from './order.ts'

/** What an observer of each chain sees of a private exchange, and what the chains do not show. */
export function Observer({ order, currencies }: { order: Order; currencies: readonly Currency[] }) {
  const { terms, quote, record } = order
  if (!('intermediary' in quote)) return null
  const [first, second] = record?.exchanges ?? []
  const { currency, network, isTransparent } = quote.intermediary
  const middle = findCurrency(currencies, currency, network)
  const middleLabel = labelOf({ ticker: currency, network })
  return (
    <section className="observer" aria-labelledby="observer">
      <h3 id="observer">What an observer sees</h3>
      <Chain name={terms.from.network} hash={first?.payinHash} href={linkOf(terms.from, first?.payinHash ?? null)}>
        A payment of {first?.amountFromReceived ?? terms.amount} {labelOf(terms.from)} to the new address{' '}
        <code>{order.created.request.depositAddress}</code>.
      </Chain>
      <Chain name={network} hash={first?.payoutHash} href={linkOf(middle, first?.payoutHash ?? null)}>
        {isTransparent ? (
          <Transparent first={first} second={second} label={middleLabel} />
        ) : (
          <>A transaction. Each of its inputs has 16 possible origins, and its recipients and amounts are hidden.</>
        )}
      </Chain>
      <Chain name={terms.to.network} hash={second?.payoutHash} href={linkOf(terms.to, second?.payoutHash ?? null)}>
        A payment of {second?.amountToReceived ?? 'some'} {labelOf(terms.to)} from our wallet on this network to the
        address <code>{order.recipient}</code>.
      </Chain>
      <Limits isTransparent={isTransparent} />
    </section>
  )
}

function Transparent(props: { first: Execution | undefined; second: Execution | undefined; label: string }) {
  const amount = props.second?.amountFromReceived ?? props.first?.amountToReceived
  return (
    <>
      A payment of {amount ?? 'some'} {props.label} from our wallet to a new address, which is ours. The amount is not
      the plain conversion of the deposit: up to 1 % of it is withheld, and converted with the rest.
    </>
  )
}

function Chain(props: {
  name: string
  hash: string | null | undefined
  href: string | undefined
  children: React.ReactNode
}) {
  return (
    <div className="chain">
      <h4>On {props.name}</h4>
      {props.hash ? (
        <>
          <p>{props.children}</p>
          {props.href === undefined ? <code>{props.hash}</code> : <HashLink hash={props.hash} href={props.href} />}
        </>
      ) : (
        <p className="quiet">Nothing yet.</p>
      )}
    </div>
  )
}

function Limits({ isTransparent }: { isTransparent: boolean }) {
  return (
    <>
      <h4>What the chains do not show</h4>
      <ul>
        <li>No transaction, address or wallet leads from the payment to the payout: the three wallets share no key.</li>
        <li>The times are apart by random delays of up to 2 seconds here, and of up to 10 minutes in production.</li>
        <li>The inner address is used once and is not disclosed.</li>
      </ul>
      <h4>What remains</h4>
      <p>
        An observer who knows our rates and fees can match the amounts of both ends if no other customer exchanges this
        amount at the same time.
        {isTransparent ? ' The public payment between the legs helps to do so.' : ''} The server and the partner know
        both ends. In this sandbox one bank pays every deposit and funds every wallet, which links them; in production
        payers and operators are different people. <a href="/docs/privacy">What a private exchange hides</a>
      </p>
    </>
  )
}
