import { Button, Group, Paper, Stack, Text, VisuallyHidden } from '@mantine/core'
import type { AdminReadName, AdminRow } from '@swapyard/schema'
import { type ReactNode, useState } from 'react'
import { useSearchParams } from 'react-router'
import type { Query } from '../api/client.ts'
import { useList } from '../api/reads.ts'
import { ErrorAlert } from '../app/error-alert.tsx'
import { Loading } from '../app/loading.tsx'
import { type Filter, Filters, readFilters } from './filters.tsx'
import { type Column, RowList } from './rows.tsx'

/** Rows that are drawn at first, and with each press of the button. */
const DRAWN = 100
/** Fewer rows are seen at a glance. */
const SEARCHED = 20
const contains: Filter = { name: 'contains', label: 'Contains', width: 200 }

type Props<Name extends AdminReadName> = Readonly<{
  /** A list that the server answers whole. */
  read: Name
  label: string
  columns: readonly Column<AdminRow<Name>>[]
  rowKey: (row: AdminRow<Name>) => string
  /** What the text that the operator types is looked for in; the text is in the URL. */
  textOf: (row: AdminRow<Name>) => string
  /** Members of the query that the operator chooses. */
  filters?: readonly Filter[]
  query?: Query
  empty?: string
  everyMs?: number
  children?: ReactNode
}>

/** A list without pages, of which only the beginning is drawn. */
export function WholeList<Name extends AdminReadName>(props: Props<Name>) {
  const { read, label, columns, rowKey, textOf, filters = [], query = {}, empty = 'Nothing is here.' } = props
  const [search] = useSearchParams()
  const [drawn, setDrawn] = useState(DRAWN)
  const { data, error, isFetching, isPlaceholderData, refetch } = useList(
    read,
    { ...readFilters(search, filters), ...query },
    props.everyMs === undefined ? {} : { everyMs: props.everyMs },
  )
  const text = search.get(contains.name)?.toLowerCase() ?? ''
  const rows = data?.data.filter((row) => textOf(row).toLowerCase().includes(text))
  const isSearched = text !== '' || (data?.data.length ?? 0) > SEARCHED
  return (
    <Stack gap="sm">
      <Filters filters={isSearched ? [...filters, contains] : filters}>
        <Button variant="default" onClick={() => void refetch()} loading={isFetching && !isPlaceholderData}>
          Refresh
        </Button>
        {props.children}
      </Filters>
      {error && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      <VisuallyHidden role="status">{rows ? `${label}: ${rows.length} rows` : ''}</VisuallyHidden>
      {rows === undefined && !error && <Loading />}
      {rows?.length === 0 && (
        <Paper withBorder p="lg">
          <Text c="dimmed">{text === '' ? empty : 'No row contains this text.'}</Text>
        </Paper>
      )}
      {rows !== undefined && rows.length > 0 && (
        <RowList
          rows={rows.slice(0, drawn)}
          columns={columns}
          rowKey={rowKey}
          label={label}
          isStale={isPlaceholderData}
        />
      )}
      {rows !== undefined && rows.length > drawn && (
        <Group justify="flex-end">
          <Text size="sm" c="dimmed">
            {drawn} of {rows.length} rows
          </Text>
          <Button variant="default" onClick={() => setDrawn(drawn + DRAWN)}>
            Show more
          </Button>
        </Group>
      )}
    </Stack>
  )
}
