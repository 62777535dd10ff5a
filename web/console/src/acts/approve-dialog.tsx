import { Button, Group, Loader, Stack, Text } from '@mantine/core'
import type { AdminActionResult, AdminRow } from '@swapyard/schema'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { post } from '../api/client.ts'
import { Dialog } from '../app/dialog.tsx'
import { ErrorAlert } from '../app/error-alert.tsx'
import { Facts } from '../format/values.tsx'
import { listMembers, Outcome } from './outcome.tsx'
import { Step } from './step.tsx'

type Props = Readonly<{ request: AdminRow<'requests'>; isOpen: boolean; onClose: () => void }>

/** What was asked for and what it would do now; then what it did. */
export const ApproveDialog = ({ request, isOpen, onClose }: Props) => (
  <Dialog title={`Approve ${request.action}`} isOpen={isOpen} onClose={onClose}>
    <Steps request={request} onClose={onClose} />
  </Dialog>
)

const approve = (id: string, preview: boolean) =>
  post<AdminActionResult>('/admin/v1/requests/approve', preview ? { id, preview } : { id })

function Steps({ request: { id, askedBy, reason, arguments: given }, onClose }: Omit<Props, 'isOpen'>) {
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
      {preview.isPending && <Loader aria-label="Loading" />}
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
        <Button onClick={() => carryOut.mutate()} loading={carryOut.isPending} disabled={!preview.data}>
          Approve
        </Button>
      </Group>
    </Stack>
  )
}
