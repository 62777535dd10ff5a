import type { Currency } from '@swapyard/sdk'
import { StepList } from '../step-list.tsx'
import type { Order } from './order.ts'
import { listSteps } from './steps.ts'

const sentences: Readonly<Record<string, string>> = {
  pending: 'waits for a payment',
  confirming: 'the payment needs confirmations',
  exchanging: 'the payment is converted',
  sending: 'the payout is on its way',
  finished: 'the coins have arrived',
  verifying: 'held',
  refunding: 'the payment goes back',
  refunded: 'the payment is back',
  failed: 'ended without a payout',
}

/** The status of the exchange, and its steps. */
export function Progress({ order, currencies }: { order: Order; currencies: readonly Currency[] }) {
  const status = order.record?.status ?? order.created.status
  return (
    <div className="progress">
      <p id="status" className={`status ${status}`} role="status" tabIndex={-1}>
        <strong>{status}</strong>
        <span>{sentences[status]}</span>
      </p>
      <StepList steps={listSteps(order, currencies)} />
    </div>
  )
}
