import { Group, Text } from '@mantine/core'
import type { AdminActionName } from '@swapyard/schema'
import { ActButton } from './act-button.tsx'
import { WillOfDecision } from './will.tsx'

const decisions: readonly (readonly [act: AdminActionName, label: string])[] = [
  ['exchanges-release', 'Release'],
  ['exchanges-refund', 'Refund'],
  ['exchanges-convert', 'Convert'],
  ['exchanges-fail', 'Close as failed'],
]

type Props = Readonly<{ exchangeId: string; deposit: string; reason: string | null }>

/** What an operator can decide about a held deposit. */
export const Decisions = ({ exchangeId, deposit, reason }: Props) => (
  <Group gap={6}>
    {decisions.map(([act, label]) => (
      <ActButton key={act} act={act} label={label} given={{ exchangeId, deposit }}>
        {reason !== null && <Text size="sm">It is held with the reason {reason}.</Text>}
        <WillOfDecision act={act} exchangeId={exchangeId} deposit={deposit} />
      </ActButton>
    ))}
    <ActButton act="exchanges-set-refund" label="Set refund address" given={{ exchangeId }} />
  </Group>
)
