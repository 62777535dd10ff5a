import { PageHeader } from '../app/page-header.tsx'
import { Time } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'
import { AddPasskey, RemovePasskey, RenewRecoveryCodes } from '../session/account-actions.tsx'

export const Page = () => (
  <>
    <PageHeader
      title="Your second factors"
      description="Passkeys, and recovery codes for a lost device. After a loss, remove its passkey and end its sessions."
    >
      <AddPasskey />
      <RenewRecoveryCodes />
    </PageHeader>
    <DataList
      read="passkeys"
      label="Passkeys"
      rowKey={({ id }) => id}
      empty="You have no passkey."
      columns={[
        { title: 'Name', cell: ({ name }) => name },
        { title: 'Added', cell: ({ createdAt }) => <Time at={createdAt} /> },
        { title: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
        { title: 'Actions', cell: (row) => <RemovePasskey passkey={row} /> },
      ]}
    />
  </>
)
