import { ActButton } from '../act-button.tsx'
import { labelOf } from '../currencies.ts'
import { useFocusOnRemoval } from '../use-focus-on-removal.ts'
import type { Order } from './order.ts'
import { jumpingCurrency, type Scenario, scenarios } from './scenarios.ts'
import type { OrderState } from './use-order.ts'

/** Where to pay, the faucet, and what can go wrong. */
export function PayPanel({ state, order }: { state: OrderState; order: Order }) {
  const { notes, isBusy } = state
  const { request } = order.created
  const status = order.record?.status ?? 'pending'
  const isPayable = status === 'pending' || status === 'failed'
  return (
    <div className="pay">
      <dl className="facts">
        <dt>Deposit address</dt>
        <dd>
          <code>{request.depositAddress}</code>
        </dd>
        <dt>To send</dt>
        <dd>
          {order.terms.amount} {labelOf(order.terms.from)}
        </dd>
        <dt>For the payer</dt>
        <dd>
          <a href={new URL(order.created.trackingUrl).pathname} target="_blank" rel="noreferrer">
            Tracking page
          </a>
        </dd>
      </dl>
      {isPayable ? <Payments state={state} order={order} canPay={!isBusy && order.record !== null} /> : null}
      {notes.length > 0 ? (
        <ol className="notes" aria-live="polite">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ol>
      ) : null}
    </div>
  )
}

function Payments({ state, order, canPay }: { state: OrderState; order: Order; canPay: boolean }) {
  const [faucet, ...failures] = scenarios
  const payments = useFocusOnRemoval<HTMLDivElement>('status')
  return (
    <div ref={payments} className="payments">
      {faucet === undefined ? null : (
        <ActButton type="button" className="main-button" isDisabled={!canPay} onPress={() => state.run(faucet)}>
          {faucet.label}
        </ActButton>
      )}
      <details className="failures">
        <summary>Let something go wrong</summary>
        <ul>
          {failures.map((scenario) => (
            <Failure key={scenario.id} scenario={scenario} order={order} isEnabled={canPay} run={state.run} />
          ))}
        </ul>
      </details>
    </div>
  )
}

function Failure(props: { scenario: Scenario; order: Order; isEnabled: boolean; run(scenario: Scenario): void }) {
  const { scenario, order } = props
  const isImpossible =
    (scenario.id === 'jump' && jumpingCurrency(order.terms) === null) ||
    (scenario.id === 'late' && order.record?.status === 'failed')
  return (
    <li>
      <ActButton type="button" isDisabled={!props.isEnabled || isImpossible} onPress={() => props.run(scenario)}>
        {scenario.label}
      </ActButton>
      <p className="quiet">{scenario.forecast(order)}</p>
    </li>
  )
}
