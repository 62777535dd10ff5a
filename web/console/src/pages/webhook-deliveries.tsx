import { useParams } from 'react-router'
import { ActButton } from '../acts/act-button.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Hash, NONE, Status, Time } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'

export function Page() {
  const { id = '' } = useParams()
  return (
    <>
      <PageHeader title="Deliveries of a webhook" description="Of the last 30 days, the newest first." />
      <DataList
        read="webhookDeliveries"
        label="Deliveries"
        isPaged
        query={{ webhook: id }}
        rowKey={(row) => row.id}
        empty="Nothing was sent to this webhook."
        columns={[
          { title: 'Event', cell: ({ type }) => type },
          { title: 'Of', cell: ({ subject }) => <Hash text={subject} /> },
          { title: 'State', cell: ({ state }) => <Status value={state} /> },
          { title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
          { title: 'Last answer', isNumber: true, cell: ({ lastStatus }) => lastStatus ?? NONE },
          { title: 'Last error', cell: ({ lastError }) => lastError ?? NONE },
          { title: 'Next attempt', cell: ({ nextAttemptAt }) => <Time at={nextAttemptAt} /> },
          { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
          { title: 'Delivered', cell: ({ deliveredAt }) => <Time at={deliveredAt} /> },
          {
            title: 'Acts',
            cell: (row) => (
              <ActButton act="webhooks-redeliver" label="Deliver again" given={{ webhookId: id, deliveryId: row.id }} />
            ),
          },
        ]}
      />
    </>
  )
}
