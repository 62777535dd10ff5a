import { Anchor, Group, Stack, Text } from '@mantine/core'
import { Link, useParams } from 'react-router'
import { ActionButton } from '../actions/action-button.tsx'
import { PauseButton } from '../actions/pause-button.tsx'
import { useList } from '../api/reads.ts'
import { ErrorAlert } from '../app/error-alert.tsx'
import { Loading } from '../app/loading.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Panel } from '../app/panel.tsx'
import { Amount, Facts, Hash, NONE, Status, Time } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'
import { RowList } from '../lists/rows.tsx'
import { Keys } from './partner-keys.tsx'
import { type MonthlyPayout, type Partner, readPartner } from './partner-row.ts'

export function Page() {
  const { id = '' } = useParams()
  const { data: found, error, refetch, isPlaceholderData } = useList('partners', { find: id })
  // Not the partner of the page before.
  const data = isPlaceholderData ? undefined : found
  const { data: pauses } = useList('pauses')
  const row = data?.data.find((one) => one.id === id)
  const scope = `partner:${id}`
  return (
    <>
      <PageHeader title={row?.name ?? 'Partner'} description={row ? 'Partner' : ''}>
        {row && (
          <>
            <Status value={row.suspended ? 'suspended' : 'active'} />
            {row.suspended ? (
              <ActionButton action="partners-resume" label="End the suspension" given={{ name: row.name }} />
            ) : (
              <ActionButton action="partners-suspend" label="Suspend" given={{ name: row.name }} />
            )}
            <PauseButton
              scope={scope}
              isPaused={pauses?.data.some((pause) => pause.scope === scope) ?? false}
              what="payouts to customers of this partner"
            />
          </>
        )}
      </PageHeader>
      {error && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {row && <Content partner={readPartner(row)} />}
      {data && !row && <Text>There is no partner with this id.</Text>}
      {!data && !error && <Loading />}
    </>
  )
}

function Content({ partner }: Readonly<{ partner: Partner }>) {
  const { id, name, keys } = partner
  const search = new URLSearchParams({ partner: name })
  return (
    <Stack>
      <Hash text={id} isWhole />
      <Group gap="md">
        <Anchor component={Link} to={`/exchanges?${search}`} size="sm" underline="always">
          Exchanges
        </Anchor>
        <Anchor component={Link} to={`/swaps?${search}`} size="sm" underline="always">
          Swaps
        </Anchor>
        <Anchor component={Link} to={`/webhooks?${search}`} size="sm" underline="always">
          Webhooks
        </Anchor>
        <Anchor component={Link} to={`/audit?${new URLSearchParams({ subject: name })}`} size="sm" underline="always">
          Actions of operators about it
        </Anchor>
      </Group>
      <Terms partner={partner} />
      <Panel title="API keys">
        <Keys partner={name} keys={keys} />
      </Panel>
      <Balances name={name} />
      <Addresses partner={partner} />
      <MonthlyPayouts partner={partner} />
    </Stack>
  )
}

const yesNo = (value: boolean): string => (value ? 'yes' : 'no')

function Terms({ partner }: Readonly<{ partner: Partner }>) {
  const { name, feeBps, openExchangesMax, rateLimitPerMinute, strict, refundToSender, refundByLink, email } = partner
  return (
    <Panel title="Terms">
      <Facts
        items={[
          ['Fee', `${feeBps / 100} % of the amount out`],
          ['Open exchanges at most', openExchangesMax],
          ['Weighted requests per minute', rateLimitPerMinute],
          ['Refuses unknown members', yesNo(strict)],
          ['Refunds without an address go to the sender', yesNo(refundToSender)],
          ['Payers may name a missing refund address', yesNo(refundByLink)],
          ['E-mail', email ?? 'none'],
        ]}
      />
      <Group gap={6}>
        <ActionButton action="partners-set" label="Change terms" given={{ name }} />
      </Group>
    </Panel>
  )
}

const Balances = ({ name }: Readonly<{ name: string }>) => (
  <Panel title="Balances">
    <DataList
      read="balances"
      label="Balances"
      isPaged
      query={{ name }}
      rowKey={({ currency }) => currency}
      empty="Nothing is owed to this partner."
      columns={[
        { title: 'Currency', cell: ({ currency }) => currency },
        { title: 'Owed', isNumber: true, cell: ({ amount }) => <Amount value={amount} /> },
        {
          title: 'Actions',
          cell: ({ currency, amount }) => <PayOut name={name} currency={currency} amount={amount} />,
        },
      ]}
    />
  </Panel>
)

type PayOutProps = Readonly<{ name: string; currency: string; amount: string }>

/** Swap fees are owed in tokens of contracts, which you pay with your own key and book afterwards. */
function PayOut({ name, currency, amount }: PayOutProps) {
  const [token = '', network = ''] = currency.split('@')
  if (token.startsWith('0x'))
    return <ActionButton action="partners-fees-paid" label="Book fees that you sent" given={{ name, network, token }} />
  return (
    <ActionButton action="partners-pay-out" label="Pay out" given={{ name, currency }} initial={{ amount }}>
      <Text size="sm">
        <Amount value={amount} currency={currency} /> is owed to it.
      </Text>
    </ActionButton>
  )
}

const Addresses = ({ partner: { name, recipients, feeAddresses } }: Readonly<{ partner: Partner }>) => (
  <>
    <Panel title="Default recipients">
      {recipients.length === 0 ? (
        <Text size="sm">An exchange without an address pays into the balance of the partner.</Text>
      ) : (
        <RowList
          rows={recipients}
          label="Default recipients"
          rowKey={({ currency }) => currency}
          columns={[
            { title: 'Currency', cell: ({ currency }) => currency },
            { title: 'Address', cell: ({ address }) => <Hash text={address} /> },
            { title: 'Memo', cell: ({ memo }) => memo ?? NONE },
            {
              title: 'Actions',
              cell: ({ currency }) => (
                <ActionButton action="partners-recipient" label="Change" given={{ name, currency }} />
              ),
            },
          ]}
        />
      )}
      <Group gap={6}>
        <ActionButton action="partners-recipient" label="Set a default recipient" given={{ name }} />
      </Group>
    </Panel>
    <Panel title="Addresses for swap fees">
      {feeAddresses.length === 0 ? (
        <Text size="sm">You collect its swap fees and owe them.</Text>
      ) : (
        <RowList
          rows={feeAddresses}
          label="Addresses for swap fees"
          rowKey={({ network }) => network}
          columns={[
            { title: 'Network', cell: ({ network }) => network },
            { title: 'Address', cell: ({ address }) => <Hash text={address} /> },
            { title: 'New address', cell: ({ next }) => <Hash text={next?.address ?? null} /> },
            { title: 'Waits until', cell: ({ next }) => <Time at={next?.from ?? null} /> },
            {
              title: 'Actions',
              cell: ({ network }) => (
                <ActionButton action="partners-fee-address" label="Change" given={{ name, network }} />
              ),
            },
          ]}
        />
      )}
      <Group gap={6}>
        <ActionButton action="partners-fee-address" label="Set an address for swap fees" given={{ name }} />
      </Group>
    </Panel>
  </>
)

const MonthlyPayouts = ({ partner: { name, monthlyPayouts } }: Readonly<{ partner: Partner }>) => (
  <Panel title="Monthly payouts">
    {monthlyPayouts.length === 0 ? (
      <Text size="sm">Nothing is paid to it every month.</Text>
    ) : (
      <RowList
        rows={monthlyPayouts}
        label="Monthly payouts"
        rowKey={({ currency }) => currency}
        columns={[
          { title: 'Currency', cell: ({ currency }) => currency },
          { title: 'Minimum', isNumber: true, cell: ({ minimum }) => <Amount value={minimum} /> },
          { title: 'Address', cell: ({ address }) => <Hash text={address} /> },
          { title: 'Memo', cell: ({ memo }) => memo ?? NONE },
          { title: 'Converts other balances', cell: ({ convertsOthers }) => yesNo(convertsOthers) },
          { title: 'Actions', cell: (row) => <ChangeMonthly name={name} {...row} /> },
        ]}
      />
    )}
    <Group gap={6}>
      <ActionButton action="partners-monthly-payout" label="Set a monthly payout" given={{ name }} />
    </Group>
  </Panel>
)

const ChangeMonthly = ({ name, currency, minimum, convertsOthers }: MonthlyPayout & Readonly<{ name: string }>) => (
  <Group gap={6}>
    <ActionButton
      action="partners-monthly-payout"
      label={`Change ${currency}`}
      given={{ name, currency }}
      initial={{ minimum, convertOthers: String(convertsOthers) }}
    />
    <ActionButton
      action="partners-monthly-payout"
      label={`End ${currency}`}
      given={{ name, currency, minimum: 'none' }}
    />
  </Group>
)
