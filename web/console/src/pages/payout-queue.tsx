import { useSearchParams } from 'react-router'
import { useList } from '../api/reads.ts'
import { PageHeader } from '../app/page-header.tsx'
import { DataList } from '../lists/data-list.tsx'
import { payoutColumns } from './payout-columns.tsx'

export function Page() {
  const [search] = useSearchParams()
  const { data: networks } = useList('networks')
  const names = networks?.data.map(({ network }) => network) ?? []
  const network = search.get('network') ?? names[0]
  return (
    <>
      <PageHeader
        title="Queue of payouts"
        description="Unsigned payouts of a network in the order in which they are paid."
      />
      {network !== undefined && (
        <DataList
          read="queue"
          label="Queue of payouts"
          isPaged
          rowKey={({ id }) => id}
          everyMs={5_000}
          empty="No payout waits on this network."
          filters={[{ name: 'network', label: 'Network', options: names, initial: network, isRequired: true }]}
          columns={payoutColumns}
        />
      )}
    </>
  )
}
