import { Group, Text } from '@mantine/core'
import type { AdminActionName } from '@swapyard/schema'
import { ActionButton } from './action-button.tsx'
import { DecisionForecast } from './forecast.tsx'

const decisions: readonly (readonly [action: AdminActionName, label: string])[] = [
  ['exchanges-release', 'Release'],
  ['exchanges-refund', 'Refund'],
  ['exchanges-convert', 'Convert'],
  ['exchanges-fail', 'Close as failed'],
]

type Props = Readonly<{ exchangeId: string; deposit: string; reason: string | null }>

/** What an operator can decide about a held deposit. */
export const Decisions = ({ exchangeId, deposit, reason }: Props) => (
  <Group gap={6}>
    {decisions.map(([action, label]) => (
      <ActionButton key={action} action={action} label={label} given={{ exchangeId, deposit }}>
        {reason !== null && <Text size="sm">It is held with the reason {reason}.</Text>}
        <DecisionForecast action={action} exchangeId={exchangeId} deposit={deposit} />
      </ActionButton>
    ))}
    <ActionButton action="exchanges-set-refund" label="Set refund address" given={{ exchangeId }} />
  </Group>
)
