import { Group, Text } from '@mantine/core'
import type { AdminRow } from '@swapyard/schema'
import { ActionButton } from '../actions/action-button.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Json, NONE, Status, Time } from '../format/values.tsx'
import { WholeList } from '../lists/whole-list.tsx'

type Alarm = AdminRow<'alarms'>

const kindOf = (subject: string): string => subject.replace(/:.*/s, '')

const Explanation = ({ alarm, detail, subject, more }: Alarm) => (
  <>
    <Text size="sm">{alarm}</Text>
    {Object.keys(detail).length > 0 && (
      <details>
        <summary>Facts</summary>
        <Json value={detail} label={`Facts of ${subject}`} />
      </details>
    )}
    {more > 0 && (
      <Text size="sm" fw={600}>
        and {more} more of the kind {kindOf(subject)}, which are older
      </Text>
    )}
  </>
)

function AlarmActions({ subject, acknowledgedBy, alarm }: Alarm) {
  return (
    <Group gap={6}>
      {acknowledgedBy === null && <ActionButton action="alarms-acknowledge" label="Acknowledge" given={{ subject }} />}
      <ActionButton action="alarms-resolve" label="Resolve" given={{ subject }}>
        <Text size="sm">{alarm}</Text>
      </ActionButton>
    </Group>
  )
}

export const Page = () => (
  <>
    <PageHeader
      title="Alarms"
      description="Open alarms, the most severe first: the newest 100 of each kind, or the newest 1000 of one kind."
    />
    <WholeList
      read="alarms"
      label="Alarms"
      everyMs={10_000}
      rowKey={({ subject }) => subject}
      filters={[{ name: 'kind', label: 'Kind', placeholder: 'held', width: 160 }]}
      textOf={({ subject, severity, alarm }) => `${subject} ${severity} ${alarm}`}
      empty="No alarm is open."
      columns={[
        { title: 'Severity', cell: ({ severity }) => <Status value={severity} /> },
        { title: 'Subject', cell: ({ subject }) => subject },
        { title: 'What happened and what to do', cell: (row) => <Explanation {...row} /> },
        { title: 'Raised', cell: ({ raisedAt }) => <Time at={raisedAt} /> },
        { title: 'Works on it', cell: ({ acknowledgedBy }) => acknowledgedBy ?? NONE },
        { title: 'Actions', cell: (row) => <AlarmActions {...row} /> },
      ]}
    />
  </>
)
