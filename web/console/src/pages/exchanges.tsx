import type { AdminRow } from '@swapyard/schema'
import { useSearchParams } from 'react-router'
import { PageHeader } from '../app/page-header.tsx'
import { exchangeStatuses } from '../format/statuses.ts'
import { Amount, Dimmed, ExchangeLink, NONE, Status, Time } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'
import type { Column } from '../lists/rows.tsx'

const foundBy: Column<AdminRow<'exchanges'>> = { title: 'Found by', cell: ({ foundBy: by }) => by ?? NONE }

export function Page() {
  const [search] = useSearchParams()
  return (
    <>
      <PageHeader title="Exchanges" description="Newest first." />
      <DataList
        read="exchanges"
        label="Exchanges"
        isPaged
        rowKey={({ id, foundBy }) => `${id} ${foundBy}`}
        empty="No exchange matches."
        filters={[
          { name: 'find', label: 'Id, address or hash', width: 320 },
          { name: 'status', label: 'Status', options: exchangeStatuses },
          { name: 'partner', label: 'Partner', width: 140 },
          { name: 'currency', label: 'Source currency', placeholder: 'btc@btc', width: 140 },
          { name: 'amount', label: 'Amount, ordered or received', placeholder: '0.5', width: 200 },
        ]}
        columns={[
          { title: 'Exchange', cell: ({ id }) => <ExchangeLink id={id} /> },
          { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
          {
            title: 'Status',
            cell: ({ status, reason }) => (
              <>
                <Status value={status} /> {reason && <Dimmed>{reason}</Dimmed>}
              </>
            ),
          },
          { title: 'From', isNumber: true, cell: (row) => <Amount value={row.fromAmount} currency={row.from} /> },
          { title: 'To', isNumber: true, cell: (row) => <Amount value={row.toAmount} currency={row.to} /> },
          { title: 'Kind', cell: ({ type, flow }) => (flow === 'standard' ? type : `${type}, ${flow}`) },
          { title: 'Partner', cell: ({ partner }) => partner ?? NONE },
          ...(search.has('find') || search.has('amount') ? [foundBy] : []),
        ]}
      />
    </>
  )
}
