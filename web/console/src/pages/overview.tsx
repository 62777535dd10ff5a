import { Alert, Anchor, List, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import type { AdminRow } from '@swapyard/schema'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { ActionButton } from '../actions/action-button.tsx'
import { useOne } from '../api/reads.ts'
import { ErrorAlert } from '../app/error-alert.tsx'
import { hasPage } from '../app/has-page.ts'
import { Loading } from '../app/loading.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Panel } from '../app/panel.tsx'
import { HoursChart } from '../charts/hours-chart.tsx'
import { exchangeStatuses } from '../format/statuses.ts'
import { Age, Amount, duration, Status } from '../format/values.tsx'
import classes from './overview.module.css'

type Overview = AdminRow<'overview'>
export type Hour = Readonly<{ at: string; created: number; finished: number }>

const LIVE_MS = 5_000
/** A network that was not at its head for so long is late. */
const LATE_SECONDS = 120

const countOf = (record: Overview['alarms'], name: string): number => Number(record[name] ?? 0)

export function Page() {
  const { data, error, refetch } = useOne('overview', {}, { everyMs: LIVE_MS })
  return (
    <>
      <PageHeader title="Overview" description="Read again every five seconds. Sums are at most a minute old.">
        <ActionButton action="pauses-begin" label="Pause a scope" />
      </PageHeader>
      <Stack>
        {error && <ErrorAlert error={error} onRetry={() => void refetch()} />}
        {data ? <Content overview={data} /> : !error && <Loading />}
      </Stack>
    </>
  )
}

function Content({ overview }: Readonly<{ overview: Overview }>) {
  const { readiness, hours } = overview
  return (
    <>
      {readiness.length > 0 && (
        <Alert color="red" title="This server is not ready">
          <List size="sm">
            {readiness.map((reason) => (
              <List.Item key={String(reason)}>{String(reason)}</List.Item>
            ))}
          </List>
        </Alert>
      )}
      <Attention overview={overview} />
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Panel title="Open exchanges">
          <OpenByStatus overview={overview} />
        </Panel>
        <Panel title="Last 24 hours">
          <Text size="sm">
            {overview.created24h} created, {overview.finished24h} of them finished.
          </Text>
          <HoursChart hours={hours as readonly Hour[]} />
        </Panel>
        <Panel title="Volume of the last 24 hours">
          <Amounts amounts={overview.volume24h} empty="No deposit was credited." />
        </Panel>
        <Panel title="Spread earned today (UTC)">
          <Amounts amounts={overview.revenueToday} empty="Nothing was earned yet." />
        </Panel>
      </SimpleGrid>
      <Panel title="Networks">
        <Lags networks={overview.networks} />
      </Panel>
    </>
  )
}

/** What waits for an operator. Zero is shown too: its absence could be a failure. */
function Attention({ overview }: Readonly<{ overview: Overview }>) {
  const { alarms, heldExecutions, heldPayouts, openRequests, pauses, oldestStepAt } = overview
  const [critical, warning] = [countOf(alarms, 'critical'), countOf(alarms, 'warning')]
  const cards: readonly CardProps[] = [
    { name: 'Critical alarms', value: critical, to: '/alarms', isUrgent: critical > 0 },
    { name: 'Warnings', value: warning, to: '/alarms' },
    { name: 'Held deposits', value: heldExecutions, to: '/held', isUrgent: heldExecutions > 0 },
    { name: 'Held payouts', value: heldPayouts, to: '/payouts?attention=held', isUrgent: heldPayouts > 0 },
    { name: 'Wait for approval', value: openRequests, to: '/requests?state=asked', isUrgent: openRequests > 0 },
    { name: 'Pauses', value: pauses, to: '/pauses', isUrgent: pauses > 0 },
    { name: 'Oldest due step', value: oldestStepAt === null ? 'none' : <Age at={oldestStepAt} />, to: '/exchanges' },
  ]
  return (
    <ul className={classes['cards']} aria-label="What needs attention">
      {cards.map((card) => (
        <Card key={card.name} {...card} />
      ))}
    </ul>
  )
}

type CardProps = Readonly<{ name: string; value: ReactNode; to: string; isUrgent?: boolean }>

function Card({ name, value, to, isUrgent = false }: CardProps) {
  const common = { className: classes['card'], 'data-urgent': isUrgent || undefined }
  const content = (
    <>
      <span className={classes['value']}>{value}</span>
      <span>{name}</span>
    </>
  )
  return (
    <li>
      {hasPage(to) ? (
        <Link to={to} {...common}>
          {content}
        </Link>
      ) : (
        <div {...common}>{content}</div>
      )}
    </li>
  )
}

function OpenByStatus({ overview: { openByStatus } }: Readonly<{ overview: Overview }>) {
  const open = exchangeStatuses.filter((status) => status in openByStatus)
  if (open.length === 0) return <Text size="sm">None is open.</Text>
  return (
    <Table aria-label="Open exchanges by status">
      <Table.Tbody>
        {open.map((status) => (
          <Table.Tr key={status}>
            <Table.Th scope="row" fw={400}>
              <Anchor component={Link} to={`/exchanges?status=${status}`} size="sm" underline="always">
                <Status value={status} />
              </Anchor>
            </Table.Th>
            <Table.Td ta="right">{Number(openByStatus[status])}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

function Amounts({ amounts, empty }: Readonly<{ amounts: Readonly<Record<string, unknown>>; empty: string }>) {
  const rows = Object.entries(amounts)
  if (rows.length === 0) return <Text size="sm">{empty}</Text>
  return (
    <Table>
      <Table.Tbody>
        {rows.map(([currency, amount]) => (
          <Table.Tr key={currency}>
            <Table.Th scope="row" fw={400}>
              {currency}
            </Table.Th>
            <Table.Td ta="right">
              <Amount value={String(amount)} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

/** Since when each network was last at its head. */
const Lags = ({ networks }: Readonly<{ networks: Overview['networks'] }>) => (
  <ul className={classes['networks']} aria-label="Lag per network">
    {Object.entries(networks).map(([network, lag]) => {
      const isLate = lag === null || Number(lag) > LATE_SECONDS
      return (
        <li key={network} data-late={isLate || undefined}>
          <strong>{network}</strong> {lag === null ? 'never at its head' : duration(Number(lag))}
          {isLate && ' (late)'}
        </li>
      )
    })}
  </ul>
)
