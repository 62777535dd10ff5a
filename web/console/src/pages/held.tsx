import { Decisions } from '../acts/decisions.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Age, Amount, Dimmed, ExchangeLink, Hash, NONE, Status } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'

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
        { title: 'Exchange', cell: ({ exchangeId }) => <ExchangeLink id={exchangeId} /> },
        { title: 'Waits', cell: ({ since }) => <Age at={since} /> },
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
          isNumber: true,
          cell: ({ amount, currency, units }) =>
            amount === null ? `${units} base units, not listed` : <Amount value={amount} currency={currency} />,
        },
        { title: 'Transaction', cell: ({ txHash, txUrl }) => <Hash text={txHash} url={txUrl} /> },
        { title: 'Partner', cell: ({ partner }) => partner ?? NONE },
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
