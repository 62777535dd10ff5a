import { Button, Group, Stack, Text } from '@mantine/core'
import type { AdminActionResult, AdminRow } from '@swapyard/schema'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { post } from '../api/client.ts'
import { BusyButton } from '../app/busy-button.tsx'
import { ErrorAlert } from '../app/error-alert.tsx'
import { Loading } from '../app/loading.tsx'
import { Facts } from '../format/values.tsx'
import { listMembers, Outcome } from './outcome.tsx'
import { Step } from './step.tsx'

type Props = Readonly<{ request: AdminRow<'requests'>; onClose: () => void }>

const approve = (id: string, preview: boolean) =>
  post<AdminActionResult>('/admin/v1/requests/approve', preview ? { id, preview } : { id })

/** What was asked for and what it would do now; then what it did. */
export function ApproveSteps({ request: { id, askedBy, reason, arguments: given }, onClose }: Props) {
  const client = useQueryClient()
  const preview = useQuery({ queryKey: ['preview', id], queryFn: () => approve(id, true), staleTime: 0, gcTime: 0 })
  const carryOut = useMutation({
    mutationFn: () => approve(id, false),
    onSettled: () => client.invalidateQueries({ queryKey: ['read'] }),
  })
  if (carryOut.data)
    return (
      <Step title="Done">
        <Outcome outcome={carryOut.data} />
        <Group justify="flex-end">
          <Button onClick={onClose}>Close</Button>
        </Group>
      </Step>
    )
  return (
    <Stack>
      <Text size="sm">
        {askedBy} asks, because: {reason}
      </Text>
      <Facts items={listMembers(given)} />
      {preview.isPending && <Loading />}
      {preview.error && <ErrorAlert error={preview.error} onRetry={() => void preview.refetch()} />}
      {preview.data && (
        <Step title="What it will do">
          <Outcome outcome={preview.data} />
        </Step>
      )}
      {carryOut.error && <ErrorAlert error={carryOut.error} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <BusyButton onClick={() => carryOut.mutate()} isBusy={carryOut.isPending} disabled={!preview.data}>
          Approve
        </BusyButton>
      </Group>
    </Stack>
  )
}
