import { Button, Group, Stack, Text } from '@mantine/core'
import type { AdminRow } from '@swapyard/schema'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { post } from '../api/client.ts'
import { BusyButton } from '../app/busy-button.tsx'
import { ErrorAlert } from '../app/error-alert.tsx'
import { Facts } from '../format/values.tsx'
import { readForm } from '../session/login-page.tsx'
import { ReasonInput } from './action-inputs.tsx'
import { listMembers } from './outcome.tsx'

type Props = Readonly<{ request: AdminRow<'requests'>; isOwn: boolean; onClose: () => void }>

/** Ends a request without the action. */
export function RejectForm({ request: { id, reason, arguments: given }, isOwn, onClose }: Props) {
  const client = useQueryClient()
  const reject = useMutation({
    mutationFn: (body: object) => post('/admin/v1/requests/reject', { ...body, id }),
    onSuccess: async () => {
      onClose()
      await client.invalidateQueries({ queryKey: ['read'] })
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    reject.mutate(readForm(event.currentTarget))
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">Asked for, because: {reason}</Text>
        <Facts items={listMembers(given)} />
        <ReasonInput />
        {reject.error && <ErrorAlert error={reject.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <BusyButton type="submit" isBusy={reject.isPending}>
            {isOwn ? 'Withdraw' : 'Reject'}
          </BusyButton>
        </Group>
      </Stack>
    </form>
  )
}
