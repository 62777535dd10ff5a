import { Group, Text } from '@mantine/core'
import { ActionButton } from '../actions/action-button.tsx'
import { Dimmed, Hash, NONE, Status, Time } from '../format/values.tsx'
import { type Column, RowList } from '../lists/rows.tsx'
import type { Key } from './partner-row.ts'

function stateOf({ revoked, expiresAt }: Key): string {
  if (revoked) return 'revoked'
  return expiresAt !== null && Date.parse(expiresAt) < Date.now() ? 'expired' : 'valid'
}

function KeyActions({ keyId, scopes, ipAllowList, revoked }: Key) {
  if (revoked) return NONE
  return (
    <Group gap={6}>
      <ActionButton
        action="keys-set"
        label="Change"
        given={{ keyId }}
        initial={{ scopes: scopes.join('\n'), ipAllowList: ipAllowList.join('\n') }}
      />
      <ActionButton action="keys-rotate" label="New secret" given={{ keyId }} />
      <ActionButton action="keys-revoke" label="Revoke" given={{ keyId }} />
    </Group>
  )
}

const columns: readonly Column<Key>[] = [
  {
    title: 'Key',
    cell: (key) => (
      <>
        <Hash text={key.keyId} /> <Status value={stateOf(key)} />
        <div>
          <Dimmed>created by {key.createdBy}</Dimmed>
        </div>
      </>
    ),
  },
  { title: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
  {
    title: 'Used from',
    cell: ({ origins, ipAllowList }) => (
      <>
        {origins === null ? 'servers' : `pages of ${origins.join(', ')}`}
        <div>
          <Dimmed>{ipAllowList.length === 0 ? 'any address' : ipAllowList.join(', ')}</Dimmed>
        </div>
      </>
    ),
  },
  {
    title: 'Last used',
    cell: ({ lastUsedAt, expiresAt }) => (
      <>
        <Time at={lastUsedAt} />
        <div>
          <Dimmed>expires {expiresAt === null ? 'never' : <Time at={expiresAt} />}</Dimmed>
        </div>
      </>
    ),
  },
  { title: 'Actions', cell: (key) => <KeyActions {...key} /> },
]

/** Keys of a partner; never a secret. Valid ones first. */
export const Keys = ({ partner, keys }: Readonly<{ partner: string; keys: readonly Key[] }>) => (
  <>
    {keys.length === 0 ? (
      <Text size="sm">It has no key.</Text>
    ) : (
      <RowList
        rows={keys.toSorted((a, b) => Number(a.revoked) - Number(b.revoked))}
        label="API keys"
        rowKey={({ keyId }) => keyId}
        columns={columns}
      />
    )}
    <Group gap={6}>
      <ActionButton action="keys-add" label="Create a key" given={{ name: partner }} />
    </Group>
  </>
)
