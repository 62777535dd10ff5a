import type { AdminRow } from '@swapyard/schema'
import { ActionButton } from '../actions/action-button.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Dimmed, Status, Time } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'

function State({ ended, failure }: AdminRow<'rescans'>) {
  if (failure !== null)
    return (
      <>
        <Status value="failed" /> <Dimmed>{failure}</Dimmed>
      </>
    )
  return <Status value={ended ? 'done' : 'reads blocks'} />
}

export const Page = () => (
  <>
    <PageHeader title="Rescans" description="Blocks that are read again for missed deposits. The newest 100.">
      <ActionButton action="rescans-begin" label="Read blocks again" />
    </PageHeader>
    <DataList
      read="rescans"
      label="Rescans"
      everyMs={5_000}
      rowKey={({ id }) => id}
      empty="No block was read again."
      columns={[
        { title: 'Begun', cell: ({ createdAt }) => <Time at={createdAt} /> },
        { title: 'Network', cell: ({ network }) => network },
        { title: 'State', cell: (row) => <State {...row} /> },
        { title: 'Next block', isNumber: true, cell: ({ nextHeight }) => nextHeight },
        { title: 'Last block', isNumber: true, cell: ({ toHeight }) => toHeight },
        { title: 'Found deposits', isNumber: true, cell: ({ found }) => found },
      ]}
    />
  </>
)
