import { Anchor, Group, Stack, Text } from '@mantine/core'
import { Link, useParams } from 'react-router'
import { useOne } from '../api/reads.ts'
import { ErrorAlert } from '../app/error-alert.tsx'
import { hasPage } from '../app/has-page.ts'
import { Loading } from '../app/loading.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Panel } from '../app/panel.tsx'
import { Amount, duration, Facts, Hash, Json, NONE, Status, Time } from '../format/values.tsx'
import { RowList } from '../lists/rows.tsx'
import {
  type Address,
  type Entry,
  type Exchange,
  type ExchangeDetails,
  type Order,
  readExchangeDetails,
} from './exchange-details.ts'
import { Guards } from './exchange-guards.tsx'
import { Timeline } from './exchange-timeline.tsx'
import { Transfers } from './exchange-transfers.tsx'

const LIVE_MS = 5_000

/** One exchange in full: what was agreed, what happened, where the money is. */
export function Page() {
  const { id = '' } = useParams()
  const { data, error, refetch } = useOne('exchange', { id }, { everyMs: LIVE_MS })
  const details = data && readExchangeDetails(data)
  return (
    <>
      <PageHeader title="Exchange">{details && <Status value={details.exchange.status} />}</PageHeader>
      <Stack>
        <Hash text={id} isWhole />
        {error && <ErrorAlert error={error} onRetry={() => void refetch()} />}
        {details ? <Content details={details} /> : !error && <Loading />}
      </Stack>
    </>
  )
}

function Content({ details }: Readonly<{ details: ExchangeDetails }>) {
  const { exchange, addresses, guards, timeline, transfers, orders, ledger, facts, plan } = details
  return (
    <>
      <Panel title="Terms">
        <Terms exchange={exchange} />
        <Addresses addresses={addresses} />
      </Panel>
      <Panel title="Guards">
        <Guards guards={guards} currency={exchange.from} />
      </Panel>
      <Panel title="Deposits and payouts">
        <Transfers exchangeId={exchange.id} transfers={transfers} />
      </Panel>
      <Panel title="Timeline">
        <Timeline events={timeline} />
      </Panel>
      <Panel title="Conversions">
        <Orders orders={orders} />
      </Panel>
      <Panel title="Ledger entries">
        <Ledger entries={ledger} />
      </Panel>
      <Panel title="Everything that is stored">
        <details>
          <summary>Show {facts.length} parts</summary>
          <Json value={{ exchange, plan, facts }} label="Stored facts" />
        </details>
        {hasPage('/audit') && (
          <Anchor component={Link} to={`/audit?subject=${exchange.id}`} size="sm" underline="always">
            Actions of operators about it
          </Anchor>
        )}
      </Panel>
    </>
  )
}

/** The quote and its clocks; the guards stand in their own panel. */
function Terms({ exchange }: Readonly<{ exchange: Exchange }>) {
  const { partner, external_id: externalId, type, flow, status, reason, partner_fee_bps: feeBps } = exchange
  return (
    <Facts
      items={[
        ['Ordered', <Amount key="from" value={exchange.fromAmount} currency={exchange.from} />],
        ['Quoted', <Amount key="to" value={exchange.toAmount} currency={exchange.to} />],
        ['Rate quoted', <Rate key="rate" exchange={exchange} />],
        ['Fees quoted', exchange.quotedFees && <Fees key="fees" fees={exchange.quotedFees} currency={exchange.to} />],
        ['Intermediary', exchange.via],
        ['Kind', flow === 'standard' ? `${type}, floating rate` : `${type}, fixed rate`],
        ['Status', reason === null ? status : `${status}: ${reason}`],
        ['Partner', partner],
        ['External id', externalId],
        ['Fee of the partner', `${feeBps / 100} %`],
        ['Created', <Time key="created" at={exchange.created_at} />],
        ['Expires', <Time key="expires" at={exchange.expires_at} />],
        ['Confirmations stated', exchange.estimate?.confirmations],
        ['Time stated', exchange.estimate?.seconds && duration(exchange.estimate.seconds)],
      ]}
    />
  )
}

const Rate = ({ exchange: { rate, from, to } }: Readonly<{ exchange: Exchange }>) => (
  <>
    1 {from} = <Amount value={rate} currency={to} />
  </>
)

type FeesProps = Readonly<{ fees: NonNullable<Exchange['quotedFees']>; currency: string }>

const Fees = ({ fees: { service, partner, network }, currency }: FeesProps) => (
  <>
    <Amount value={service} /> service, <Amount value={partner} /> partner, <Amount value={network} /> network, in{' '}
    {currency}
  </>
)

const Addresses = ({ addresses }: Readonly<{ addresses: readonly Address[] }>) => (
  <Facts
    items={addresses.map(({ kind, leg, network, address, memo, url }) => [
      `${kind === 'deposit' && leg ? `Deposit of leg ${leg + 1}` : addressNames[kind]}, ${network}`,
      <Group key={address} gap="xs">
        <Hash text={address} url={url} />
        {memo && <Text size="sm">memo {memo}</Text>}
      </Group>,
    ])}
  />
)

const addressNames: Readonly<Record<Address['kind'], string>> = {
  deposit: 'Deposit address',
  recipient: 'Recipient',
  refund: 'Refund address',
}

const Orders = ({ orders }: Readonly<{ orders: readonly Order[] }>) =>
  orders.length === 0 ? (
    <Text size="sm">Nothing was converted.</Text>
  ) : (
    <RowList
      rows={orders}
      label="Conversions"
      rowKey={({ id }) => id}
      columns={[
        { title: 'Time', cell: ({ created_at: at }) => <Time at={at} /> },
        { title: 'Venue', cell: ({ venue }) => venue },
        { title: 'State', cell: ({ state }) => <Status value={state} /> },
        { title: 'Gave', isNumber: true, cell: (row) => <Amount value={row.giveAmount} currency={row.give_asset} /> },
        { title: 'Took', isNumber: true, cell: (row) => <Amount value={row.takeAmount} currency={row.take_asset} /> },
      ]}
    />
  )

type Posting = Entry['postings'][number] & Readonly<{ key: string; event: string; at: string }>

/** A row per posting; the first of an entry names it. */
const toPostings = (entries: readonly Entry[]): readonly Posting[] =>
  entries.flatMap(({ id, event, at, postings }) =>
    postings.map((posting, n) => ({ ...posting, key: `${id} ${n}`, event: n === 0 ? event : '', at })),
  )

/** The liability of this exchange is named by its id, which stands at the top of the page. */
const shortAccount = (account: string): string => account.replace(/:[0-9a-f-]{36}$/, '')

const Ledger = ({ entries }: Readonly<{ entries: readonly Entry[] }>) =>
  entries.length === 0 ? (
    <Text size="sm">Nothing was booked.</Text>
  ) : (
    <RowList
      rows={toPostings(entries)}
      label="Ledger entries"
      rowKey={({ key }) => key}
      columns={[
        { title: 'Time', cell: ({ at, event }) => (event === '' ? NONE : <Time at={at} />) },
        { title: 'Entry', cell: ({ event }) => event || NONE },
        { title: 'Debit', cell: ({ debit }) => shortAccount(debit) },
        { title: 'Credit', cell: ({ credit }) => shortAccount(credit) },
        { title: 'Amount', isNumber: true, cell: (row) => <Amount value={row.amount} currency={row.currency} /> },
      ]}
    />
  )
