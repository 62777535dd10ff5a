import { Stack, Table, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useOne } from '../api/reads.ts'
import { ErrorAlert } from '../app/error-alert.tsx'
import { Loading } from '../app/loading.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Dimmed } from '../format/values.tsx'
import classes from './settings.module.css'

type Settings = Readonly<Record<string, unknown>>

/** Lists one a line. */
const toText = (value: unknown): string =>
  Array.isArray(value) && value.length > 0
    ? value.map(String).join('\n')
    : String(Array.isArray(value) ? 'none' : value)

function List({ settings }: Readonly<{ settings: Settings }>) {
  const [text, setText] = useState('')
  const shown = Object.entries(settings).filter(([name]) => name.toLowerCase().includes(text.trim().toLowerCase()))
  return (
    <>
      <TextInput
        label="Name contains"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        w={260}
        maw="100%"
      />
      <Table fz="sm" layout="fixed" striped aria-label="Settings">
        <Table.Tbody>
          {shown.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" fw={600} className={classes['cell']}>
                {name}
              </Table.Th>
              <Table.Td className={classes['cell']}>
                {value === null ? <Dimmed>not set</Dimmed> : toText(value)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </>
  )
}

export function Page() {
  const { data, error, refetch } = useOne('settings')
  return (
    <>
      <PageHeader
        title="Settings in force"
        description="Of the process that answered, by their names in docs/settings.md. Secrets are masked, and URLs have their host alone."
      />
      <Stack>
        {error && <ErrorAlert error={error} onRetry={() => void refetch()} />}
        {data ? <List settings={data.settings} /> : !error && <Loading />}
      </Stack>
    </>
  )
}
