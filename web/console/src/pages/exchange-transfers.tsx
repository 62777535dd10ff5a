import { Text } from '@mantine/core'
import { Decisions } from '../actions/decisions.tsx'
import { Amount, Dimmed, Hash, NONE, Status, Time } from '../format/values.tsx'
import { RowList } from '../lists/rows.tsx'
import type { Transfer } from './exchange-details.ts'

type Props = Readonly<{ exchangeId: string; transfers: readonly Transfer[] }>

/** Deposits and what was paid for them, in the order of their time. */
export function Transfers({ exchangeId, transfers }: Props) {
  if (transfers.length === 0) return <Text size="sm">Nothing was received yet.</Text>
  const ordered = transfers.toSorted((a, b) => a.created_at.localeCompare(b.created_at))
  const hasLegs = transfers.some(({ leg }) => leg > 0)
  const held = transfers.filter(({ status }) => status === 'verifying')
  return (
    <>
      <RowList
        rows={ordered}
        label="Deposits and payouts"
        rowKey={({ what, id }) => `${what} ${id}`}
        columns={[
          { title: 'Time', cell: ({ created_at: at }) => <Time at={at} /> },
          {
            title: 'What',
            cell: ({ what, purpose, leg }) =>
              `${what === 'execution' ? 'deposit' : purpose}${hasLegs ? `, leg ${leg + 1}` : ''}`,
          },
          { title: 'State', cell: (row) => <State {...row} /> },
          {
            title: 'Amount',
            isNumber: true,
            cell: ({ amount, currency, units }) =>
              amount === null ? `${units} base units` : <Amount value={amount} currency={currency} />,
          },
          { title: 'Owed for it', isNumber: true, cell: (row) => <Due {...row} /> },
          {
            title: 'Transactions',
            cell: ({ links }) =>
              links.length === 0 ? NONE : links.map(({ hash, url }) => <Hash key={hash} text={hash} url={url} />),
          },
        ]}
      />
      {held.map(({ id, deposit = '', reason = null }) => (
        <section key={id} aria-label={`Decide about deposit ${deposit}`}>
          <Text size="sm" mb={6}>
            Deposit {deposit} waits for a decision: {reason}
          </Text>
          <Decisions exchangeId={exchangeId} deposit={deposit} reason={reason} />
        </section>
      ))}
    </>
  )
}

const State = ({ status, state, reason, attention, decision }: Transfer) => (
  <>
    <Status value={status ?? state ?? ''} /> <Dimmed>{reason ?? attention}</Dimmed>{' '}
    {decision && <Dimmed>decided: {decision}</Dimmed>}
  </>
)

const Due = ({ dueAmount = null, dueCurrency = null, rate_kind: rate }: Transfer) =>
  dueAmount === null ? (
    NONE
  ) : (
    <>
      <Amount value={dueAmount} currency={dueCurrency} /> <Dimmed>{rate}</Dimmed>
    </>
  )
