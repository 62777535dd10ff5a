import { Stack, Table, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useOne } from '../api/reads.ts'
import { ErrorAlert } from '../app/error-alert.tsx'
import { Loading } from '../app/loading.tsx'
import { PageHeader } from '../app/page-header.tsx'
import classes from './settings.module.css'

type Setting = readonly [name: string, value: string]

const isGroup = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0

/** Nested members by their path, as docs/settings.md names them. */
const flatten = (settings: Readonly<Record<string, unknown>>, path = ''): readonly Setting[] =>
  Object.entries(settings).flatMap(([name, value]) =>
    isGroup(value)
      ? flatten(value, `${path}${name}.`)
      : [[`${path}${name}`, typeof value === 'string' ? value : JSON.stringify(value)] as const],
  )

function List({ settings }: Readonly<{ settings: readonly Setting[] }>) {
  const [text, setText] = useState('')
  const shown = settings.filter(([name]) => name.toLowerCase().includes(text.trim().toLowerCase()))
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
              <Table.Td className={classes['cell']}>{value}</Table.Td>
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
        description="Of the process that answered. Secrets are masked, and URLs have their host alone."
      />
      <Stack>
        {error && <ErrorAlert error={error} onRetry={() => void refetch()} />}
        {data ? <List settings={flatten(data.settings)} /> : !error && <Loading />}
      </Stack>
    </>
  )
}
