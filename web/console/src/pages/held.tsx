import type { AdminRow } from '@swapyard/schema'
import { Decisions } from '../actions/decisions.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Age, Amount, Dimmed, ExchangeLink, Hash, Status } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'

/** Recipient and refund address. */
const Payees = ({ recipient, recipientMemo, refundAddress, refundMemo }: AdminRow<'held'>) => (
  <>
    <div>
      <Dimmed>to</Dimmed> {recipient === null ? 'the balance of the partner' : <Hash text={recipient} />}{' '}
      {recipientMemo && <Dimmed>memo {recipientMemo}</Dimmed>}
    </div>
    <div>
      <Dimmed>refund to</Dimmed> {refundAddress === null ? 'no address named' : <Hash text={refundAddress} />}{' '}
      {refundMemo && <Dimmed>memo {refundMemo}</Dimmed>}
    </div>
  </>
)

export const Page = () => (
  <>
    <PageHeader title="Held deposits" description="They wait for a decision, the longest waiting first." />
    <DataList
      read="held"
      label="Held deposits"
      isPaged
      everyMs={15_000}
      rowKey={({ executionId }) => executionId}
      empty="No deposit waits for a decision."
      columns={[
        {
          title: 'Exchange',
          cell: ({ exchangeId, partner }) => (
            <>
              <ExchangeLink id={exchangeId} /> <Dimmed>{partner}</Dimmed>
            </>
          ),
        },
        { title: 'Since', cell: ({ since }) => <Age at={since} /> },
        {
          title: 'Reason',
          cell: ({ reason, decision }) => (
            <>
              {reason && <Status value={reason} />} {decision && <Dimmed>decided: {decision}</Dimmed>}
            </>
          ),
        },
        {
          title: 'Deposit',
          cell: ({ amount, currency, units, txHash, txUrl }) => (
            <>
              {amount === null ? `${units} base units, not listed` : <Amount value={amount} currency={currency} />}{' '}
              <Hash text={txHash} url={txUrl} />
            </>
          ),
        },
        {
          title: 'Owed for it',
          cell: ({ due, dueCurrency, quoted, quotedCurrency }) =>
            due === null ? (
              <>
                <Amount value={quoted} currency={quotedCurrency} /> <Dimmed>quoted</Dimmed>
              </>
            ) : (
              <Amount value={due} currency={dueCurrency} />
            ),
        },
        { title: 'Payees', cell: (row) => <Payees {...row} /> },
        {
          title: 'Decide',
          cell: ({ exchangeId, depositId, reason }) => (
            <Decisions exchangeId={exchangeId} deposit={depositId} reason={reason} />
          ),
        },
      ]}
    />
  </>
)
