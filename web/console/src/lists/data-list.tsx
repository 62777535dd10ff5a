import { Button, Group } from '@mantine/core'
import type { AdminReadName, AdminRow } from '@swapyard/schema'
import type { ReactNode } from 'react'
import { useSearchParams } from 'react-router'
import type { Query } from '../api/client.ts'
import { useList } from '../api/reads.ts'
import { type Filter, readFilters } from './filters.tsx'
import { ListFrame } from './list-frame.tsx'
import { type Column, RowList } from './rows.tsx'

const PAGE_ROWS = '50'
/** Where no index has all filters, a page examines a bounded number of rows. */
const NONE_YET = 'No row of those that this page examined matches. The next page continues after them.'

type Props<Name extends AdminReadName> = Readonly<{
  /** The list of schema/src/admin-reads.ts. */
  read: Name
  /** Name of the table for screen readers. */
  label: string
  columns: readonly Column<AdminRow<Name>>[]
  rowKey: (row: AdminRow<Name>) => string
  /** The read has `cursor` and `limit`. */
  isPaged?: boolean
  /** Name of the cursor in the URL, where a page has several lists. */
  cursorName?: string
  /** Members of the query that the operator chooses; they are in the URL. */
  filters?: readonly Filter[]
  /** Members of the query that the page sets. */
  query?: Query
  /** Text of an empty list. */
  empty?: string
  /** Reads again after this time. */
  everyMs?: number
  /** Beside the refresh button. */
  children?: ReactNode
}>

/** A list that the server pages. Filters and the cursor are in the URL, so a page can be shared and the browser goes back. */
export function DataList<Name extends AdminReadName>(props: Props<Name>) {
  const { read, label, columns, rowKey, isPaged = false, filters = [], query = {}, empty = 'Nothing is here.' } = props
  const { cursorName = 'cursor' } = props
  const [search, setSearch] = useSearchParams()
  const cursor = search.get(cursorName)
  const sent = { ...readFilters(search, filters), ...query, ...(isPaged ? { cursor, limit: PAGE_ROWS } : {}) }
  const list = useList(read, sent, props.everyMs === undefined ? {} : { everyMs: props.everyMs })
  const { data, isPlaceholderData } = list
  const goTo = (next: string | null) =>
    setSearch((current) => {
      const changed = new URLSearchParams(current)
      if (next === null) changed.delete(cursorName)
      else changed.set(cursorName, next)
      return changed
    })
  return (
    <ListFrame
      filters={filters}
      list={list}
      count={data?.data.length}
      status={statusText(label, data?.data.length)}
      empty={data?.next ? NONE_YET : empty}
      buttons={props.children}
    >
      {data !== undefined && data.data.length > 0 && (
        <RowList rows={data.data} columns={columns} rowKey={rowKey} label={label} isStale={isPlaceholderData} />
      )}
      {(cursor !== null || data?.next) && (
        <Group justify="flex-end">
          {cursor !== null && (
            <Button variant="default" onClick={() => goTo(null)}>
              First page
            </Button>
          )}
          <Button
            variant="default"
            disabled={!data?.next || isPlaceholderData}
            onClick={() => goTo(data?.next ?? null)}
          >
            Next page
          </Button>
        </Group>
      )}
    </ListFrame>
  )
}

const statusText = (label: string, count: number | undefined): string =>
  count === undefined ? '' : `${label}: ${count} ${count === 1 ? 'row' : 'rows'} on this page`
