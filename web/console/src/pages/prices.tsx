import { Stack } from '@mantine/core'
import { PauseButton } from '../actions/pause-button.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Panel } from '../app/panel.tsx'
import { Amount, Status, Time } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'
import { WholeList } from '../lists/whole-list.tsx'

const LIVE_MS = 10_000

export const Page = () => (
  <>
    <PageHeader title="Prices and venues" description="Read again every ten seconds." />
    <Stack>
      <Panel title="Venues">
        <WholeList
          read="venues"
          label="Venues"
          everyMs={LIVE_MS}
          rowKey={({ venue, currency }) => `${venue} ${currency}`}
          textOf={({ venue, currency }) => `${venue} ${currency}`}
          empty="No venue can deliver."
          columns={[
            { title: 'Venue', cell: ({ venue }) => venue },
            { title: 'Currency', cell: ({ currency }) => currency },
            {
              title: 'Can deliver now',
              isNumber: true,
              cell: ({ available }) => (available === null ? 'without a limit' : <Amount value={available} />),
            },
            { title: 'State', cell: ({ paused }) => <Status value={paused ? 'paused' : 'open'} /> },
            {
              title: 'Actions',
              cell: ({ currency, paused }) =>
                !paused && <PauseButton scope={`asset:${currency}`} isPaused={false} what={currency} />,
            },
          ]}
        />
      </Panel>
      <Panel title="Reference prices in US dollars">
        <DataList
          read="prices"
          label="Reference prices"
          everyMs={LIVE_MS}
          rowKey={({ key }) => key}
          empty="No price is known: quotes are refused."
          columns={[
            { title: 'Price key', cell: ({ key }) => key },
            { title: 'Bid', isNumber: true, cell: ({ bid }) => <Amount value={bid} /> },
            { title: 'Ask', isNumber: true, cell: ({ ask }) => <Amount value={ask} /> },
            { title: 'Time of the oldest price', cell: ({ at }) => <Time at={at} /> },
          ]}
        />
      </Panel>
    </Stack>
  </>
)
