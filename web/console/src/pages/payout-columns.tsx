import { Anchor, Group } from '@mantine/core'
import type { AdminRow } from '@swapyard/schema'
import { Link } from 'react-router'
import { ActionButton } from '../actions/action-button.tsx'
import { Amount, Dimmed, ExchangeLink, Hash, NONE, Status, Time } from '../format/values.tsx'
import type { Column } from '../lists/rows.tsx'

type Payout = AdminRow<'payouts'>
type PayoutLink = Readonly<{ hash: string; url: string | null }>

const labels = { 'payouts-release': 'Release', 'payouts-drop': 'Drop' } as const
type Decision = keyof typeof labels

/** The server names what can be decided; a held payout of an exchange is decided with its deposit. Hints are about what is signed. */
function PayoutActions({ id: payoutId, state, attention, acts, exchangeId, transactionId, network }: Payout) {
  return (
    <Group gap={6}>
      {(acts as readonly Decision[]).map((act) => (
        <ActionButton key={act} action={act} label={labels[act]} given={{ payoutId }} />
      ))}
      {attention !== null && acts.length === 0 && exchangeId !== null && (
        <Anchor component={Link} to={`/exchanges/${exchangeId}`} size="sm" underline="always">
          Decide about its deposit
        </Anchor>
      )}
      {state === 'signed' && transactionId !== null && (
        <>
          <ActionButton action="payouts-conflict" label="Name a conflict" given={{ transactionId }} />
          <ActionButton action="payouts-add-funding" label="Add funding" given={{ transactionId }} />
          <ActionButton action="payouts-release-input" label="Release an input" given={{ network }} />
        </>
      )}
    </Group>
  )
}

export const payoutColumns: readonly Column<Payout>[] = [
  { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { title: 'Purpose', cell: ({ purpose }) => purpose },
  {
    title: 'State',
    cell: ({ state, attention, reversed, waitsFor, heldUntil }) => (
      <>
        <Status value={state} /> {attention && <Status value={attention} />} {reversed && <Dimmed>reversed</Dimmed>}
        {waitsFor && <Dimmed>waits for {waitsFor}</Dimmed>}
        {heldUntil && (
          <Dimmed>
            not before <Time at={heldUntil} />
          </Dimmed>
        )}
      </>
    ),
  },
  { title: 'Amount', isNumber: true, cell: (row) => <Amount value={row.amount} currency={row.currency} /> },
  {
    title: 'Recipient',
    cell: ({ address, addressUrl, memo }) => (
      <>
        <Hash text={address} url={addressUrl} /> {memo && <Dimmed>memo {memo}</Dimmed>}
      </>
    ),
  },
  {
    title: 'Transactions',
    cell: ({ links }) =>
      links.length === 0
        ? NONE
        : (links as readonly PayoutLink[]).map(({ hash, url }) => <Hash key={hash} text={hash} url={url} />),
  },
  { title: 'Exchange', cell: ({ exchangeId }) => <ExchangeLink id={exchangeId} /> },
  { title: 'Actions', cell: (row) => <PayoutActions {...row} /> },
]
