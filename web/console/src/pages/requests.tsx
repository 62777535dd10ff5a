import { Group, Text } from '@mantine/core'
import type { AdminActionName, AdminRow } from '@swapyard/schema'
import { RoleButton } from '../actions/action-button.tsx'
import { ApproveSteps } from '../actions/approve-steps.tsx'
import { listMembers } from '../actions/outcome.tsx'
import { RejectForm } from '../actions/reject-form.tsx'
import { useAction } from '../api/actions.ts'
import { useMissingRole } from '../api/roles.ts'
import { useSession } from '../api/session.ts'
import { useDialog } from '../app/dialog-host.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Dimmed, Facts, NONE, Status, Time } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'

type Request = AdminRow<'requests'>

/** The operator who asked withdraws; another one approves or rejects. */
function Decide(request: Request) {
  const { login } = useSession()
  const isOwn = request.askedBy === login
  const approver = useAction(request.action as AdminActionName)?.approver ?? 'treasurer'
  const reason = useMissingRole(isOwn ? 'viewer' : approver)
  const openDialog = useDialog()
  if (request.state !== 'asked') return NONE
  const end = isOwn ? 'Withdraw' : 'Reject'
  const approve = () =>
    openDialog(`Approve ${request.action}`, (close) => <ApproveSteps request={request} onClose={close} />)
  const reject = () =>
    openDialog(`${end} ${request.action}`, (close) => <RejectForm request={request} isOwn={isOwn} onClose={close} />)
  return (
    <Group gap={6}>
      {!isOwn && <RoleButton label="Approve" reason={reason} onClick={approve} />}
      <RoleButton label={end} reason={reason} onClick={reject} />
    </Group>
  )
}

const Decided = ({ decidedBy, decidedAt }: Request) =>
  decidedBy === null ? (
    NONE
  ) : (
    <>
      {decidedBy}{' '}
      <Dimmed>
        <Time at={decidedAt} />
      </Dimmed>
    </>
  )

export const Page = () => (
  <>
    <PageHeader
      title="Approvals"
      description="Actions that wait for a second person, and what became of them. The newest first."
    />
    <DataList
      read="requests"
      label="Requests"
      isPaged
      everyMs={15_000}
      rowKey={({ id }) => id}
      empty="No action was asked for."
      filters={[{ name: 'state', label: 'State', options: ['asked'] }]}
      columns={[
        { title: 'Asked', cell: ({ askedAt }) => <Time at={askedAt} /> },
        { title: 'Action', cell: ({ action }) => action },
        { title: 'Arguments', cell: (row) => <Facts items={listMembers(row.arguments)} /> },
        { title: 'Reason', cell: ({ reason }) => <Text size="sm">{reason}</Text> },
        { title: 'By', cell: ({ askedBy }) => askedBy },
        { title: 'State', cell: ({ state }) => <Status value={state} /> },
        { title: 'Decided', cell: (row) => <Decided {...row} /> },
        { title: 'Decide', cell: (row) => <Decide {...row} /> },
      ]}
    />
  </>
)
