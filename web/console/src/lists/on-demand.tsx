import { Stack } from '@mantine/core'
import type { AdminReadName, AdminRow } from '@swapyard/schema'
import { type ReactNode, useState } from 'react'
import { useOne } from '../api/reads.ts'
import { BusyButton } from '../app/busy-button.tsx'
import { ErrorAlert } from '../app/error-alert.tsx'

type Props<Name extends AdminReadName> = Readonly<{
  read: Name
  /** Text of the button. */
  label: string
  children: (found: AdminRow<Name>) => ReactNode
}>

/** A read that costs much, so it waits for the operator. */
export function OnDemand<Name extends AdminReadName>({ read, label, children }: Props<Name>) {
  const [isAsked, setAsked] = useState(false)
  const { data, error, isFetching, refetch } = useOne(read, {}, { enabled: isAsked })
  const ask = () => {
    if (isAsked) void refetch()
    else setAsked(true)
  }
  return (
    <>
      <Stack align="flex-start">
        <BusyButton variant="default" isBusy={isFetching} onClick={ask}>
          {label}
        </BusyButton>
      </Stack>
      {error && <ErrorAlert error={error} />}
      {data && children(data)}
    </>
  )
}
