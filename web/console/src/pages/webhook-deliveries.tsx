import type { AdminRow } from '@swapyard/schema'
import { useParams } from 'react-router'
import { ActionButton } from '../actions/action-button.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { EventType, FreeText, Hash, NONE, Status, Time } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'

/** The error of the last attempt, which contains the status of an answer; else the status. */
const resultOf = ({ lastError, lastStatus }: AdminRow<'webhookDeliveries'>): string =>
  lastError ?? (lastStatus === null ? NONE : `status ${lastStatus}`)

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
          { title: 'Event', cell: ({ type }) => <EventType type={type} /> },
          { title: 'Of', cell: ({ subject }) => <Hash text={subject} /> },
          { title: 'State', cell: ({ state }) => <Status value={state} /> },
          { title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
          { title: 'Last result', cell: (row) => <FreeText text={resultOf(row)} /> },
          { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} mayWrap /> },
          {
            // The state says which of the two it is.
            title: 'Delivered, or next attempt',
            cell: ({ deliveredAt, nextAttemptAt }) => <Time at={deliveredAt ?? nextAttemptAt} mayWrap />,
          },
          {
            title: 'Actions',
            cell: (row) => (
              <ActionButton
                action="webhooks-redeliver"
                label="Deliver again"
                given={{ webhookId: id, deliveryId: row.id }}
              />
            ),
          },
        ]}
      />
    </>
  )
}
