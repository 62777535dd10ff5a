import { Paper, Stack, Table } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { Facts } from '../format/values.tsx'

export type Column<Row> = Readonly<{
  title: string
  cell: (row: Row) => ReactNode
  /** For amounts and counts. */
  isNumber?: boolean
}>

type Props<Row> = Readonly<{
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  rowKey: (row: Row) => string
  label: string
  /** Rows of the page before, while the next one is read. */
  isStale?: boolean
}>

/** Rows as a table, and as cards on a narrow screen. */
export function RowList<Row>(props: Props<Row>) {
  const isNarrow = useMediaQuery('(max-width: 48em)', undefined, { getInitialValueInEffect: false })
  return isNarrow ? <RowCards {...props} /> : <RowTable {...props} />
}

function RowTable<Row>({ rows, columns, rowKey, label, isStale = false }: Props<Row>) {
  return (
    <Table.ScrollContainer type="native" minWidth={600} tabIndex={0} role="region" aria-label={label}>
      <Table striped highlightOnHover fz="sm" aria-label={label} aria-busy={isStale} opacity={isStale ? 0.6 : 1}>
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ title, isNumber }) => (
              <Table.Th key={title} ta={isNumber ? 'right' : 'left'}>
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={rowKey(row)}>
              {columns.map(({ title, cell, isNumber }) => (
                <Table.Td key={title} ta={isNumber ? 'right' : 'left'}>
                  {cell(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function RowCards<Row>({ rows, columns, rowKey, label, isStale = false }: Props<Row>) {
  return (
    <Stack component="ul" gap="xs" p={0} m={0} aria-label={label} aria-busy={isStale} opacity={isStale ? 0.6 : 1}>
      {rows.map((row) => (
        <Paper component="li" key={rowKey(row)} withBorder p="sm" style={{ listStyle: 'none' }}>
          <Facts items={columns.map(({ title, cell }) => [title, cell(row)])} />
        </Paper>
      ))}
    </Stack>
  )
}
