import { Group, NativeSelect, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Query } from '../api/client.ts'
import { type Page, readFollowing, useList } from '../api/reads.ts'
import { BusyButton } from '../app/busy-button.tsx'
import { ErrorAlert } from '../app/error-alert.tsx'
import { Loading } from '../app/loading.tsx'
import { Panel } from '../app/panel.tsx'
import { DaysChart } from '../charts/days-chart.tsx'
import { toCsv } from '../format/csv.ts'
import { listDays } from '../format/days.ts'
import { download } from '../format/download.ts'
import { Amount, ExchangeLink, NONE } from '../format/values.tsx'
import { RowList } from '../lists/rows.tsx'

/** Rows that are drawn; the file has all. */
const DRAWN = 100

type Row = Readonly<{ group: string | null; currency: string }> & Readonly<Record<string, string | number | null>>
type Props = Readonly<{
  read: 'revenue' | 'costs'
  title: string
  query: Query
  /** Amounts of a row, with their titles. */
  amounts: Readonly<Record<string, string>>
  /** The count of a row, with its title. */
  count: readonly [name: string, title: string]
}>

/** Sums of a period as a chart of each day, as a table, and as a file. */
export function Report(props: Props) {
  const { read, title, query, amounts, count } = props
  const { data, error, refetch } = useList(read, query)
  const rows = (data?.data ?? []) as readonly Row[]
  const hasMore = data !== undefined && data.next !== null
  const save = useMutation({
    mutationFn: async (first: Page<typeof read>) => {
      const all = [...first.data, ...(await readFollowing(read, query, first))] as readonly Row[]
      const csv = toCsv(['group', 'currency', count[0], ...Object.keys(amounts)], all)
      download(`${read}-${query['by']}-${query['from']}-${query['to']}.csv`, csv, 'text/csv')
    },
  })
  return (
    <Panel title={title}>
      {error && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {save.error && <ErrorAlert error={save.error} />}
      {data === undefined && !error && <Loading />}
      {data !== undefined && rows.length === 0 && <Text size="sm">Nothing was booked in this period.</Text>}
      {rows.length > 0 && (
        <>
          {query['by'] === 'day' && !hasMore && <Chart {...props} rows={rows} />}
          <Table {...props} rows={rows} />
          <Group justify="flex-end">
            {rows.length > DRAWN && (
              <Text size="sm" c="dimmed">
                {DRAWN} of {hasMore && 'more than '}
                {rows.length} rows. The file has all.
              </Text>
            )}
            <BusyButton variant="default" isBusy={save.isPending} onClick={() => data && save.mutate(data)}>
              Save {title.toLowerCase()} as CSV
            </BusyButton>
          </Group>
        </>
      )}
    </Panel>
  )
}

type WithRows = Props & Readonly<{ rows: readonly Row[] }>

/** Amounts of one currency, because those of several have no sum. Without a row nothing was booked on a day. */
function Chart({ title, query, amounts, rows }: WithRows) {
  const currencies = [...new Set(rows.map(({ currency }) => currency))]
  const [chosen, setChosen] = useState('')
  const currency = currencies.includes(chosen) ? chosen : (currencies[0] ?? '')
  const booked = new Map(rows.filter((row) => row.currency === currency).map((row) => [row.group, row]))
  const days = listDays(query['from'] ?? '', query['to'] ?? '').map((day) => ({
    day,
    values: Object.keys(amounts).map((name) => String(booked.get(day)?.[name] ?? 0)),
  }))
  return (
    <>
      <NativeSelect
        label="Currency of the chart"
        data={currencies}
        value={currency}
        onChange={(event) => setChosen(event.currentTarget.value)}
        w={220}
        maw="100%"
      />
      <DaysChart
        days={days}
        names={Object.values(amounts)}
        label={`${title} in ${currency} per day; the table has the amounts.`}
      />
    </>
  )
}

const Table = ({ title, query, amounts, count: [name, countTitle], rows }: WithRows) => (
  <RowList
    rows={rows.slice(0, DRAWN)}
    label={title}
    rowKey={({ group, currency }) => `${group} ${currency}`}
    columns={[
      {
        title: groupTitles[query['by'] ?? 'day'] ?? 'Group',
        cell: ({ group }) => (query['by'] === 'exchange' ? <ExchangeLink id={group} /> : (group ?? NONE)),
      },
      { title: 'Currency', cell: ({ currency }) => currency },
      { title: countTitle, isNumber: true, cell: (row) => row[name] },
      ...Object.entries(amounts).map(([member, amountTitle]) => ({
        title: amountTitle,
        isNumber: true,
        cell: (row: Row) => <Amount value={String(row[member])} />,
      })),
    ]}
  />
)

const groupTitles: Readonly<Record<string, string>> = {
  day: 'Day',
  pair: 'Pair',
  partner: 'Partner',
  exchange: 'Exchange',
}
