import { PageHeader } from '../app/page-header.tsx'
import { DataList } from '../lists/data-list.tsx'
import { payoutColumns } from './payout-columns.tsx'

export const Page = () => (
  <>
    <PageHeader
      title="Payouts"
      description="Payouts, refunds, sweeps and movements of the treasury. The newest first; held ones the oldest first."
    />
    <DataList
      read="payouts"
      label="Payouts"
      isPaged
      rowKey={({ id }) => id}
      empty="No payout matches."
      filters={[
        { name: 'state', label: 'State', options: ['reserved', 'signed', 'confirmed', 'void'] },
        { name: 'attention', label: 'Attention', options: ['held'] },
      ]}
      columns={payoutColumns}
    />
  </>
)
