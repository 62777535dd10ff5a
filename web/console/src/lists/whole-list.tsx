import { Button, Group, Text } from '@mantine/core'
import type { AdminReadName, AdminRow } from '@swapyard/schema'
import { type ReactNode, useState } from 'react'
import { useSearchParams } from 'react-router'
import type { Query } from '../api/client.ts'
import { useList } from '../api/reads.ts'
import { type Filter, readFilters } from './filters.tsx'
import { ListFrame } from './list-frame.tsx'
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

/** A list that the server answers whole. The first rows are rendered, and more at the press of a button. */
export function WholeList<Name extends AdminReadName>(props: Props<Name>) {
  const { read, label, columns, rowKey, textOf, filters = [], query = {}, empty = 'Nothing is here.' } = props
  const [search] = useSearchParams()
  const [drawn, setDrawn] = useState(DRAWN)
  const list = useList(
    read,
    { ...readFilters(search, filters), ...query },
    props.everyMs === undefined ? {} : { everyMs: props.everyMs },
  )
  const { data, isPlaceholderData } = list
  const text = search.get(contains.name)?.toLowerCase() ?? ''
  const rows = data?.data.filter((row) => textOf(row).toLowerCase().includes(text))
  const isSearched = text !== '' || (data?.data.length ?? 0) > SEARCHED
  return (
    <ListFrame
      filters={isSearched ? [...filters, contains] : filters}
      list={list}
      count={rows?.length}
      status={rows ? `${label}: ${rows.length} rows` : ''}
      empty={text === '' ? empty : 'No row contains this text.'}
      buttons={props.children}
    >
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
    </ListFrame>
  )
}
