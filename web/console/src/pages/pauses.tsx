import { Text } from '@mantine/core'
import { ActButton } from '../acts/act-button.tsx'
import { PauseButton } from '../acts/pause-button.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Time } from '../format/values.tsx'
import { WholeList } from '../lists/whole-list.tsx'

export const Page = () => (
  <>
    <PageHeader title="Pauses" description="What is paused now, by whom and why.">
      <ActButton act="pauses-begin" label="Pause a scope" />
    </PageHeader>
    <WholeList
      read="pauses"
      label="Pauses"
      everyMs={15_000}
      rowKey={({ scope }) => scope}
      textOf={({ scope, reason, actor }) => `${scope} ${reason} ${actor}`}
      empty="Nothing is paused."
      columns={[
        { title: 'Scope', cell: ({ scope }) => scope },
        { title: 'Since', cell: ({ at }) => <Time at={at} /> },
        { title: 'By', cell: ({ actor }) => actor },
        { title: 'Reason', cell: ({ reason }) => <Text size="sm">{reason}</Text> },
        { title: 'Acts', cell: ({ scope }) => <PauseButton scope={scope} isPaused /> },
      ]}
    />
  </>
)
