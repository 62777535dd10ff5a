import { Button, Group, Stack, Text } from '@mantine/core'
import type { AdminActionResult } from '@swapyard/schema'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type Action, askFor, useActionDescription } from '../api/actions.ts'
import { BusyButton } from '../app/busy-button.tsx'
import { ErrorAlert } from '../app/error-alert.tsx'
import { Loading } from '../app/loading.tsx'
import { CodeText } from '../format/code-text.tsx'
import { Facts } from '../format/values.tsx'
import type { ActionProps } from './action-button.tsx'
import { ActionInput, ReasonInput, readArguments } from './action-inputs.tsx'
import { nameOf, Outcome } from './outcome.tsx'
import { Step } from './step.tsx'

type Props = ActionProps & Readonly<{ entry: Action; onClose: () => void }>

/** Arguments and reason, then what the action would do, then what it did or waits for. */
export function ActionSteps(props: Props) {
  const { entry, onClose } = props
  const client = useQueryClient()
  const [body, setBody] = useState<Readonly<Record<string, unknown>>>({})
  const preview = useMutation({
    mutationFn: (asked: Readonly<Record<string, unknown>>) => {
      setBody(asked)
      return askFor({ path: entry.path, body: asked, preview: true })
    },
  })
  const carryOut = useMutation({
    mutationFn: () => askFor({ path: entry.path, body, preview: false }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['read'] }),
  })
  if (carryOut.data) return <Finished outcome={carryOut.data} action={entry} onClose={onClose} />
  return (
    <>
      {/* Stays mounted, so that going back finds what was written. */}
      <div hidden={preview.data !== undefined}>
        <Arguments {...props} onPreview={preview.mutate} isPending={preview.isPending} error={preview.error} />
      </div>
      {preview.data && (
        <Step title="What it will do">
          <Outcome outcome={preview.data} />
          {entry.twoPersons && <SecondPerson action={entry} />}
          {carryOut.error && <ErrorAlert error={carryOut.error} />}
          <Group justify="flex-end">
            <Button
              variant="default"
              onClick={() => {
                carryOut.reset()
                preview.reset()
              }}
            >
              Back
            </Button>
            <BusyButton onClick={() => carryOut.mutate()} isBusy={carryOut.isPending}>
              {entry.twoPersons ? 'Ask for approval' : 'Carry out'}
            </BusyButton>
          </Group>
        </Step>
      )}
    </>
  )
}

type ArgumentsProps = Props &
  Readonly<{
    onPreview: (body: Readonly<Record<string, unknown>>) => void
    isPending: boolean
    error: Error | null
  }>

function Arguments({
  entry,
  given = {},
  initial = {},
  children,
  onPreview,
  isPending,
  error,
  onClose,
}: ArgumentsProps) {
  const { data: description, error: failure, refetch } = useActionDescription(entry.path)
  if (failure) return <ErrorAlert error={failure} onRetry={() => void refetch()} />
  if (!description) return <Loading />
  const asked = description.fields.filter(({ name }) => !(name in given))
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    onPreview({ ...given, ...readArguments(event.currentTarget, asked, initial) })
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">
          <CodeText text={description.description} />
        </Text>
        {children}
        <Facts items={Object.entries(given).map(([name, value]) => [nameOf(name), value])} />
        {asked.map((field) => (
          <ActionInput key={field.name} field={field} initial={initial[field.name] ?? ''} />
        ))}
        <ReasonInput />
        {error && <ErrorAlert error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <BusyButton type="submit" isBusy={isPending}>
            Preview
          </BusyButton>
        </Group>
      </Stack>
    </form>
  )
}

const SecondPerson = ({ action: { approver } }: Readonly<{ action: Action }>) => (
  <Text size="sm">
    It waits for another operator with at least the role <strong>{approver}</strong>, for 24 hours.
  </Text>
)

function Finished({
  outcome,
  action,
  onClose,
}: Readonly<{ outcome: AdminActionResult; action: Action; onClose: () => void }>) {
  const isAsked = outcome.state === 'asked'
  return (
    <Step title={isAsked ? 'Waits for approval' : 'Done'}>
      {isAsked && <SecondPerson action={action} />}
      <Outcome outcome={outcome} />
      <Group justify="flex-end">
        <Button onClick={onClose}>Close</Button>
      </Group>
    </Step>
  )
}
