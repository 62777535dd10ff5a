import { Group, Text } from '@mantine/core'
import type { AdminActionName, AdminRow } from '@swapyard/schema'
import { ActButton } from '../acts/act-button.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Age, Amount, Dimmed, ExchangeLink, Hash, NONE, Status } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'

type Held = AdminRow<'held'>

const decisions: readonly (readonly [act: AdminActionName, label: string])[] = [
  ['exchanges-release', 'Release'],
  ['exchanges-refund', 'Refund'],
  ['exchanges-convert', 'Convert'],
  ['exchanges-fail', 'Close'],
]

/** The acts that the API permits here, each with its meaning. */
function Decisions({ exchangeId, depositId, actions, reason }: Held) {
  return (
    <Group gap={6}>
      {decisions
        .filter(([act]) => act in actions)
        .map(([act, label]) => (
          <ActButton key={act} act={act} label={label} given={{ exchangeId, deposit: depositId }}>
            <Text size="sm">
              Held for {reason ?? 'no reason'}: this {String(actions[act])}.
            </Text>
          </ActButton>
        ))}
      <ActButton act="exchanges-set-refund" label="Set refund address" given={{ exchangeId }} />
    </Group>
  )
}

export const Page = () => (
  <>
    <PageHeader title="Held deposits" description="They wait for a decision, the longest waiting first." />
    <DataList
      read="held"
      label="Held deposits"
      isPaged
      everyMs={15_000}
      rowKey={({ executionId }) => executionId}
      empty="No deposit waits for a decision."
      columns={[
        { title: 'Exchange', cell: ({ exchangeId }) => <ExchangeLink id={exchangeId} /> },
        { title: 'Waits', cell: ({ since }) => <Age at={since} /> },
        {
          title: 'Reason',
          cell: ({ reason, decision }) => (
            <>
              {reason && <Status value={reason} />} {decision && <Dimmed>decided: {decision}</Dimmed>}
            </>
          ),
        },
        {
          title: 'Deposit',
          isNumber: true,
          cell: ({ amount, currency, units }) =>
            amount === null ? `${units} base units, not listed` : <Amount value={amount} currency={currency} />,
        },
        { title: 'Transaction', cell: ({ txHash }) => <Hash text={txHash} /> },
        { title: 'Partner', cell: ({ partner }) => partner ?? NONE },
        { title: 'Decide', cell: (row) => <Decisions {...row} /> },
      ]}
    />
  </>
)
