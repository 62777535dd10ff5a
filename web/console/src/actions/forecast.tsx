import { Text } from '@mantine/core'
import type { AdminActionName } from '@swapyard/schema'
import { useList } from '../api/reads.ts'
import { ErrorAlert } from '../app/error-alert.tsx'
import { Loading } from '../app/loading.tsx'
import { Amount, Facts, Hash } from '../format/values.tsx'

type Texts = string | null

/** What an action pays: server/src/admin/actions/forecast-payment.ts writes it. */
export type PaymentForecast = Readonly<{
  pays: Texts
  currency: Texts
  to: Texts
  memo: Texts
  fee: Texts
  note: Texts
}>

type FactsProps = Readonly<{ forecast: PaymentForecast; of?: Parameters<typeof Facts>[0]['items'] }>

export const ForecastFacts = ({ forecast: { pays, currency, to, memo, fee, note }, of = [] }: FactsProps) => (
  <section aria-label="What it pays">
    <Facts
      items={[
        ...of,
        ['It pays', pays && <Amount value={pays} currency={currency} />],
        ['To', to && <Hash text={to} isWhole />],
        ['Memo', memo],
        ['Network fee, deducted', fee && <Amount value={fee} currency={currency} />],
      ]}
    />
    {note && <Text size="sm">{note}</Text>}
  </section>
)

/** A refund that continues with its address. */
export type Refund = PaymentForecast & Readonly<{ deposit: string; txHash: string }>

export const RefundFacts = ({ refund }: Readonly<{ refund: Refund }>) => (
  <ForecastFacts
    forecast={refund}
    of={[
      ['Deposit', refund.deposit],
      ['Transaction of the deposit', <Hash key="hash" text={refund.txHash} isWhole />],
    ]}
  />
)

type Props = Readonly<{ action: AdminActionName; exchangeId: string; deposit: string }>

/** Shown before a decision about a held deposit is asked for. */
export function DecisionForecast({ action, exchangeId, deposit }: Props) {
  const { data, error, refetch } = useList('decisions', { exchangeId, deposit })
  if (error) return <ErrorAlert error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading />
  const forecast = data.data.find((one) => one.action === action)
  return forecast === undefined ? (
    <Text size="sm">The deposit is held no more.</Text>
  ) : (
    <ForecastFacts forecast={forecast} />
  )
}
