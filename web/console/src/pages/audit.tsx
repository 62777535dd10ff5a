import { Stack, Text } from '@mantine/core'
import type { AdminRow } from '@swapyard/schema'
import { listChanges, nameOf } from '../actions/outcome.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Panel } from '../app/panel.tsx'
import { Verdict } from '../app/verdict.tsx'
import { Dimmed, Hash, Json, NONE, Time } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'
import { OnDemand } from '../lists/on-demand.tsx'

type Row = AdminRow<'audit'>

/** Reads the whole log. */
const Verification = () => (
  <Panel title="Verification">
    <Text size="sm">
      Computes the hashes of all rows. Keep the hash of the last row, and compare it with the next one: a log whose last
      rows were deleted is whole too.
    </Text>
    <OnDemand read="auditVerification" label="Verify the audit log">
      {({ kind, acts, head, row, why }) =>
        kind === 'whole' ? (
          <Verdict isGood title={`The log is whole: ${acts} rows`}>
            The last row has the hash <Hash text={head} isWhole />
          </Verdict>
        ) : (
          <Verdict isGood={false} title={`Row ${row} is wrong`}>
            {why}
          </Verdict>
        )
      }
    </OnDemand>
  </Panel>
)

/** Closed at first: the change of a key or a partner names all its members. */
function Changes({ before, after, detail, id }: Row) {
  const changes = listChanges(before ?? {}, after ?? {})
  const hasDetail = Object.keys(detail).length > 0
  if (changes.length === 0 && !hasDetail) return NONE
  return (
    <details>
      <summary>Show</summary>
      {changes.map(({ name, before: old, after: changed }) => (
        <div key={name} style={{ overflowWrap: 'anywhere' }}>
          {nameOf(name)}: {old} → <strong>{changed}</strong>
        </div>
      ))}
      {hasDetail && <Json value={detail} label={`Facts of row ${id}`} />}
    </details>
  )
}

export const Page = () => (
  <>
    <PageHeader title="Audit log" description="What operators did, the newest first." />
    <Stack>
      <Verification />
      <DataList
        read="audit"
        label="Audit log"
        isPaged
        rowKey={({ id }) => id}
        empty="No action matches."
        filters={[
          { name: 'subject', label: 'Subject', width: 320 },
          { name: 'actor', label: 'Actor', placeholder: 'operator:ada@example.com', width: 240 },
        ]}
        columns={[
          {
            title: 'Row',
            cell: ({ id, hash }) => (
              <>
                {id}{' '}
                <Dimmed>
                  <Hash text={hash} />
                </Dimmed>
              </>
            ),
          },
          { title: 'Time', cell: ({ at }) => <Time at={at} /> },
          { title: 'Actor', cell: ({ actor }) => actor },
          { title: 'Action', cell: ({ act }) => act },
          { title: 'Subject', cell: ({ subject }) => <Hash text={subject} /> },
          { title: 'Reason', cell: ({ reason }) => <Text size="sm">{reason}</Text> },
          { title: 'Changes', cell: (row) => <Changes {...row} /> },
        ]}
      />
    </Stack>
  </>
)
