import { Alert, Button, Stack, Text } from '@mantine/core'
import type { AdminRow } from '@swapyard/schema'
import { useState } from 'react'
import { useOne } from '../api/reads.ts'
import { ErrorAlert } from '../app/error-alert.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Panel } from '../app/panel.tsx'
import { Amount, Json } from '../format/values.tsx'
import { periodFilters } from '../lists/period.ts'
import { WholeList } from '../lists/whole-list.tsx'

/** Reads the whole ledger, so only when the operator asks. */
function Check() {
  const [isAsked, setAsked] = useState(false)
  const { data, error, isFetching, refetch } = useOne('ledgerFaults', {}, { enabled: isAsked })
  return (
    <Panel title="Check">
      <Text size="sm">Compares all balances with their postings, which reads the whole ledger.</Text>
      <Stack align="flex-start" gap="sm">
        <Button
          variant="default"
          loading={isFetching}
          onClick={() => {
            if (isAsked) void refetch()
            else setAsked(true)
          }}
        >
          Check the ledger
        </Button>
      </Stack>
      {error && <ErrorAlert error={error} />}
      {data && <Faults found={data} />}
    </Panel>
  )
}

const Faults = ({ found: { faults, list } }: Readonly<{ found: AdminRow<'ledgerFaults'> }>) =>
  faults === 0 ? (
    <Alert color="teal" role="status" title="No faults">
      Balances and postings agree.
    </Alert>
  ) : (
    <Alert color="red" role="alert" title={`${faults} ${faults === 1 ? 'fault' : 'faults'}`}>
      <Json value={list} label="Faults" />
    </Alert>
  )

export const Page = () => (
  <>
    <PageHeader title="Ledger" description="Debits are positive. Days are in UTC." />
    <Stack>
      <Check />
      <Panel title="Trial balance">
        <WholeList
          read="trialBalance"
          label="Trial balance"
          filters={periodFilters()}
          rowKey={({ account, currency }) => `${account} ${currency}`}
          textOf={({ account, currency }) => `${account} ${currency}`}
          empty="Nothing was booked."
          columns={[
            { title: 'Account', cell: ({ account }) => account },
            { title: 'Currency', cell: ({ currency }) => currency },
            { title: 'Opening', isNumber: true, cell: ({ opening }) => <Amount value={opening} /> },
            { title: 'Debits', isNumber: true, cell: ({ debits }) => <Amount value={debits} /> },
            { title: 'Credits', isNumber: true, cell: ({ credits }) => <Amount value={credits} /> },
            { title: 'Closing', isNumber: true, cell: ({ closing }) => <Amount value={closing} /> },
          ]}
        />
      </Panel>
    </Stack>
  </>
)
