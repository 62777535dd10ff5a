import { Anchor } from '@mantine/core'
import { Link } from 'react-router'
import { ActionButton } from '../actions/action-button.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Status } from '../format/values.tsx'
import { WholeList } from '../lists/whole-list.tsx'
import { readPartner } from './partner-row.ts'

export const Page = () => (
  <>
    <PageHeader title="Partners">
      <ActionButton action="partners-add" label="Add a partner" />
    </PageHeader>
    <WholeList
      read="partners"
      label="Partners"
      rowKey={({ id }) => id}
      textOf={({ name, id }) => `${name} ${id}`}
      empty="There are no partners."
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
