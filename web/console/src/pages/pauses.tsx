import { Anchor, Text } from '@mantine/core'
import type { AdminRow } from '@swapyard/schema'
import { Link } from 'react-router'
import { ActionButton } from '../actions/action-button.tsx'
import { PauseButton } from '../actions/pause-button.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Time } from '../format/values.tsx'
import { WholeList } from '../lists/whole-list.tsx'

export const Page = () => (
  <>
    <PageHeader title="Pauses" description="What is paused now, by whom and why.">
      <ActionButton action="pauses-begin" label="Pause a scope" />
    </PageHeader>
    <WholeList
      read="pauses"
      label="Pauses"
      everyMs={15_000}
      rowKey={({ scope }) => scope}
      textOf={({ scope, partner, reason, actor }) => `${scope} ${partner ?? ''} ${reason} ${actor}`}
      empty="Nothing is paused."
      columns={[
        { title: 'Scope', cell: ({ scope, partner }) => <Scope scope={scope} partner={partner} /> },
        { title: 'Since', cell: ({ at }) => <Time at={at} /> },
        { title: 'By', cell: ({ actor }) => actor },
        { title: 'Reason', cell: ({ reason }) => <Text size="sm">{reason}</Text> },
        { title: 'Actions', cell: ({ scope }) => <PauseButton scope={scope} isPaused /> },
      ]}
    />
  </>
)

/** A partner is named; its page ends the pause, too. */
const Scope = ({ scope, partner }: Pick<AdminRow<'pauses'>, 'scope' | 'partner'>) =>
  partner === null ? (
    scope
  ) : (
    <Anchor component={Link} to={`/partners/${scope.replace('partner:', '')}`} underline="always" inherit>
      partner:{partner}
    </Anchor>
  )
