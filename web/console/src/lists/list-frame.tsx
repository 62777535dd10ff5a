import { Paper, Stack, Text, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import { BusyButton } from '../app/busy-button.tsx'
import { ErrorAlert } from '../app/error-alert.tsx'
import { Loading } from '../app/loading.tsx'
import { type Filter, Filters } from './filters.tsx'

type Props = Readonly<{
  filters: readonly Filter[]
  /** The read of the list. */
  list: Readonly<{
    error: Error | null
    isFetching: boolean
    isPlaceholderData: boolean
    refetch: () => unknown
  }>
  /** Undefined: not read yet. */
  count: number | undefined
  /** The count in words, for screen readers. */
  status: string
  /** Text of an empty list. */
  empty: string
  /** Beside the refresh button. */
  buttons: ReactNode
  /** The rows, and what leads to more of them. */
  children: ReactNode
}>

/** What every list has around its rows: filters, refresh, and what is shown before, without and instead of rows. */
export function ListFrame({ filters, list, count, status, empty, buttons, children }: Props) {
  const { error, isFetching, isPlaceholderData, refetch } = list
  return (
    <Stack gap="sm">
      <Filters filters={filters}>
        <BusyButton variant="default" onClick={() => void refetch()} isBusy={isFetching && !isPlaceholderData}>
          Refresh
        </BusyButton>
        {buttons}
      </Filters>
      {error && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      <VisuallyHidden role="status">{status}</VisuallyHidden>
      {count === undefined && !error && <Loading />}
      {count === 0 && (
        <Paper withBorder p="lg">
          <Text c="dimmed">{empty}</Text>
        </Paper>
      )}
      {children}
    </Stack>
  )
}
