import { Decisions } from '../acts/decisions.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Age, Amount, Dimmed, ExchangeLink, Hash, Status } from '../format/values.tsx'
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
          title: 'Decide',
          cell: ({ exchangeId, depositId, reason }) => (
            <Decisions exchangeId={exchangeId} deposit={depositId} reason={reason} />
          ),
        },
      ]}
    />
  </>
)
