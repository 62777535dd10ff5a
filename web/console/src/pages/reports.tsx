import { Stack } from '@mantine/core'
import { useSearchParams } from 'react-router'
import { PageHeader } from '../app/page-header.tsx'
import { Filters, readFilters } from '../lists/filters.tsx'
import { periodFilters } from '../lists/period.ts'
import { Report } from './report.tsx'

const groupings = ['day', 'pair', 'partner', 'exchange'] as const

export function Page() {
  const [search] = useSearchParams()
  const filters = [
    ...periodFilters(),
    { name: 'by', label: 'Per', options: groupings, initial: groupings[0], isRequired: true },
  ]
  const query = readFilters(search, filters)
  return (
    <>
      <PageHeader
        title="Revenue and costs"
        description="By the ledger. Days are in UTC, and the last one is included. A spread below zero is a loss."
      />
      <Stack>
        <Filters filters={filters}>{null}</Filters>
        <Report
          read="revenue"
          title="Revenue"
          query={query}
          amounts={{ spread: 'Spread', partnerFees: 'Owed to partners', networkFees: 'Network fees', dust: 'Dust' }}
          count={['exchanges', 'Exchanges']}
        />
        <Report
          read="costs"
          title="Costs"
          query={query}
          amounts={{
            ...{ payouts: 'Payouts', sweeps: 'Sweeps', gas: 'Gas', stranded: 'Stays on deposit addresses' },
            lost: 'Lost with deposits',
          }}
          count={['transactions', 'Transactions']}
        />
      </Stack>
    </>
  )
}
