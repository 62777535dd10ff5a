import { Group } from '@mantine/core'
import type { AdminRow } from '@swapyard/schema'
import { ActionButton } from '../actions/action-button.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Status, Time } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'

type Operator = AdminRow<'operators'>

function stateOf({ disabled, accepted }: Operator): string {
  if (disabled) return 'disabled'
  return accepted ? 'active' : 'invited'
}

function factorsOf({ authenticator, passkeys }: Operator): string {
  const passkeyText = `${passkeys} ${passkeys === 1 ? 'passkey' : 'passkeys'}`
  return authenticator ? `authenticator app, ${passkeyText}` : passkeyText
}

function OperatorActions({ login, role, disabled }: Operator) {
  return (
    <Group gap={6}>
      <ActionButton action="operators-set-role" label="Change role" given={{ login }} initial={{ role }} />
      <ActionButton action="operators-reset" label="Reset" given={{ login }} />
      {disabled ? (
        <ActionButton action="operators-enable" label="Enable" given={{ login }} />
      ) : (
        <ActionButton action="operators-disable" label="Disable" given={{ login }} />
      )}
    </Group>
  )
}

export const Page = () => (
  <>
    <PageHeader
      title="Operators"
      description="Each role may do what the ones before it may: viewer, support, treasurer, admin."
    >
      <ActionButton action="operators-invite" label="Invite an operator" />
    </PageHeader>
    <DataList
      read="operators"
      label="Operators"
      rowKey={({ login }) => login}
      columns={[
        { title: 'Login', cell: ({ login }) => login },
        { title: 'Role', cell: ({ role }) => role },
        { title: 'State', cell: (row) => <Status value={stateOf(row)} /> },
        { title: 'Second factors', cell: (row) => factorsOf(row) },
        { title: 'Last login', cell: ({ lastLoginAt }) => <Time at={lastLoginAt} /> },
        { title: 'Invited by', cell: ({ createdBy }) => createdBy },
        { title: 'Invited', cell: ({ createdAt }) => <Time at={createdAt} /> },
        { title: 'Actions', cell: (row) => <OperatorActions {...row} /> },
      ]}
    />
  </>
)
