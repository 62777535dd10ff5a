import { Anchor, Group } from '@mantine/core'
import type { AdminRow } from '@swapyard/schema'
import { Link } from 'react-router'
import { ActionButton } from '../actions/action-button.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { NONE, Status, Time } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'

type Webhook = AdminRow<'webhooks'>

function WebhookActions({ id, disabledBy }: Webhook) {
  return (
    <Group gap={6}>
      {disabledBy === null ? (
        <ActionButton action="webhooks-disable" label="Stop" given={{ webhookId: id }} />
      ) : (
        <ActionButton action="webhooks-enable" label="Enable" given={{ webhookId: id }} />
      )}
    </Group>
  )
}

export const Page = () => (
  <>
    <PageHeader title="Webhooks" description="Where partners receive events, the newest first." />
    <DataList
      read="webhooks"
      label="Webhooks"
      isPaged
      rowKey={({ id }) => id}
      empty="No partner has a webhook."
      filters={[{ name: 'partner', label: 'Partner', width: 200 }]}
      columns={[
        { title: 'Partner', cell: ({ partner }) => partner },
        {
          title: 'Receiver',
          cell: ({ id, url }) => (
            <Anchor component={Link} to={`/webhooks/${id}`} underline="always" inherit>
              {url}
            </Anchor>
          ),
        },
        { title: 'Events', cell: ({ events }) => (events.length === 0 ? 'all' : events.join(', ')) },
        { title: 'State', cell: ({ disabledBy }) => <Status value={disabledBy === null ? 'active' : 'disabled'} /> },
        { title: 'Disabled by', cell: ({ disabledBy }) => disabledBy ?? NONE },
        { title: 'Waiting', isNumber: true, cell: ({ waiting }) => waiting },
        { title: 'Last error', cell: ({ lastError }) => lastError ?? NONE },
        { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
        { title: 'Actions', cell: (row) => <WebhookActions {...row} /> },
      ]}
    />
  </>
)
