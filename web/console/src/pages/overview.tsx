import { ActButton } from '../acts/act-button.tsx'
import { useOne } from '../api/reads.ts'
import { PageHeader } from '../app/page-header.tsx'
import { Json } from '../format/values.tsx'

export function Page() {
  const { data } = useOne('overview', {}, { everyMs: 5_000 })
  return (
    <>
      <PageHeader title="Overview">
        <ActButton act="pauses-begin" label="Pause" />
      </PageHeader>
      <Json value={data} label="Overview" />
    </>
  )
}
