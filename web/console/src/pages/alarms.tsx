import { Group, Text } from '@mantine/core'
import type { AdminRow } from '@swapyard/schema'
import { ActionButton } from '../actions/action-button.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Json, NONE, Status, Time } from '../format/values.tsx'
import { WholeList } from '../lists/whole-list.tsx'

type Alarm = AdminRow<'alarms'>

const Explanation = ({ alarm, detail, subject }: Alarm) => (
  <>
    <Text size="sm">{alarm}</Text>
    {Object.keys(detail).length > 0 && (
      <details>
        <summary>Facts</summary>
        <Json value={detail} label={`Facts of ${subject}`} />
      </details>
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
    <PageHeader title="Alarms" description="Open alarms, the most severe first." />
    <WholeList
      read="alarms"
      label="Alarms"
      everyMs={10_000}
      rowKey={({ subject }) => subject}
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
