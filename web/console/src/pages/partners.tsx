import { Anchor } from '@mantine/core'
import { Link } from 'react-router'
import { ActionButton } from '../actions/action-button.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Status } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'
import { readPartner } from './partner-row.ts'

export const Page = () => (
  <>
    <PageHeader title="Partners">
      <ActionButton action="partners-add" label="Add a partner" />
    </PageHeader>
    <DataList
      read="partners"
      label="Partners"
      isPaged
      rowKey={({ id }) => id}
      empty="No partner is found."
      filters={[{ name: 'find', label: 'Name or id', width: 300 }]}
      columns={[
        {
          title: 'Partner',
          cell: ({ id, name }) => (
            <Anchor component={Link} to={`/partners/${id}`} underline="always" inherit>
              {name}
            </Anchor>
          ),
        },
        { title: 'State', cell: ({ suspended }) => <Status value={suspended ? 'suspended' : 'active'} /> },
        { title: 'Fee', isNumber: true, cell: ({ feeBps }) => `${feeBps / 100} %` },
        { title: 'Open exchanges at most', isNumber: true, cell: ({ openExchangesMax }) => openExchangesMax },
        { title: 'Requests per minute', isNumber: true, cell: ({ rateLimitPerMinute }) => rateLimitPerMinute },
        {
          title: 'Valid keys',
          isNumber: true,
          cell: (row) => readPartner(row).keys.filter(({ revoked }) => !revoked).length,
        },
      ]}
    />
  </>
)
