import { Stack, Text } from '@mantine/core'
import { PageHeader } from '../app/page-header.tsx'
import { Panel } from '../app/panel.tsx'
import { Verdict } from '../app/verdict.tsx'
import { Amount, Dimmed, Json } from '../format/values.tsx'
import { OnDemand } from '../lists/on-demand.tsx'
import { periodFilters } from '../lists/period.ts'
import { WholeList } from '../lists/whole-list.tsx'

/** Reads the whole ledger. */
const Check = () => (
  <Panel title="Check">
    <Text size="sm">Compares all balances with their postings, which reads the whole ledger.</Text>
    <OnDemand read="ledgerFaults" label="Check the ledger">
      {({ faults, list }) =>
        faults === 0 ? (
          <Verdict isGood title="No faults">
            Balances and postings agree.
          </Verdict>
        ) : (
          <Verdict isGood={false} title={`${faults} ${faults === 1 ? 'fault' : 'faults'}`}>
            <Json value={list} label="Faults" />
          </Verdict>
        )
      }
    </OnDemand>
  </Panel>
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
            {
              title: 'Account',
              cell: ({ account, currency }) => (
                <>
                  {account} <Dimmed>{currency}</Dimmed>
                </>
              ),
            },
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
