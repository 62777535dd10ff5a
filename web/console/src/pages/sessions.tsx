import { Text } from '@mantine/core'
import type { AdminRow } from '@swapyard/schema'
import { PageHeader } from '../app/page-header.tsx'
import { Age, NONE, Status, Time } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'
import { ChangePassword, EndSession } from '../session/account-actions.tsx'

type Session = AdminRow<'sessions'>

function stateOf({ revoked, current, expiresAt }: Session): string {
  if (current) return 'this session'
  if (revoked) return 'ended'
  return Date.parse(expiresAt) < Date.now() ? 'expired' : 'open'
}

export const Page = () => (
  <>
    <PageHeader title="Sessions" description="Your own, and as an admin those of all operators. The newest first.">
      <ChangePassword />
    </PageHeader>
    <DataList
      read="sessions"
      label="Sessions"
      isPaged
      rowKey={({ id }) => id}
      columns={[
        { title: 'Operator', cell: ({ login }) => login },
        { title: 'State', cell: (row) => <Status value={stateOf(row)} /> },
        {
          title: 'From',
          cell: ({ kind, ip, userAgent }) => (
            <>
              {kind === 'cookie' ? 'browser' : 'command line'} at {ip}
              <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                {userAgent}
              </Text>
            </>
          ),
        },
        { title: 'Login', cell: ({ createdAt }) => <Time at={createdAt} /> },
        { title: 'Last used', cell: ({ lastUsedAt }) => <Age at={lastUsedAt} /> },
        { title: 'Ends', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
        { title: 'Actions', cell: (row) => (stateOf(row) === 'open' ? <EndSession session={row} /> : NONE) },
      ]}
    />
  </>
)
