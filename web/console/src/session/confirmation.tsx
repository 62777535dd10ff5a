import { Button, Group, Modal, PasswordInput, Stack, Text } from '@mantine/core'
import type { AdminSession } from '@swapyard/schema'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { postOnce, setConfirm } from '../api/client.ts'
import { useSession, useSessionActions } from '../api/session.ts'
import { BusyButton } from '../app/busy-button.tsx'
import { Dialog } from '../app/dialog.tsx'
import { ErrorAlert } from '../app/error-alert.tsx'
import { readForm } from './login-page.tsx'
import { confirmByPasskey } from './passkey.ts'
import { CodeInput, PasskeyButton } from './second-factor.tsx'

/** Asks for a second factor when the API wants one, above the dialog of the action. Modals below it are of one stack. */
export function Confirmation({ children }: Readonly<{ children: ReactNode }>) {
  const [isOpen, setOpen] = useState(false)
  const answer = useRef<(isConfirmed: boolean) => void>(() => undefined)
  useEffect(() => {
    setConfirm(
      () =>
        new Promise((resolve) => {
          answer.current = resolve
          setOpen(true)
        }),
    )
    return () => setConfirm(async () => false)
  }, [])
  const close = (isConfirmed: boolean) => {
    setOpen(false)
    answer.current(isConfirmed)
  }
  return (
    <Modal.Stack>
      {children}
      <Dialog title="Confirm that it is you" isOpen={isOpen} onClose={() => close(false)}>
        <ConfirmationForm onConfirmed={() => close(true)} onCancel={() => close(false)} />
      </Dialog>
    </Modal.Stack>
  )
}

function ConfirmationForm({ onConfirmed, onCancel }: Readonly<{ onConfirmed: () => void; onCancel: () => void }>) {
  const { hasSecondFactor } = useSession()
  const { begin } = useSessionActions()
  const onSuccess = (session: AdminSession) => {
    begin(session)
    onConfirmed()
  }
  const byCode = useMutation({
    mutationFn: (body: object) => postOnce<AdminSession>('/admin/v1/session/confirm', body),
    onSuccess,
  })
  const byPasskey = useMutation({ mutationFn: confirmByPasskey, onSuccess })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    byPasskey.reset()
    byCode.mutate(readForm(event.currentTarget))
  }
  const error = byCode.error ?? byPasskey.error
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">This action needs a confirmation of the last five minutes.</Text>
        {error && <ErrorAlert error={error} />}
        {hasSecondFactor ? (
          <CodeInput required autoFocus />
        ) : (
          <PasswordInput name="password" label="Password" autoComplete="current-password" required data-autofocus />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          {hasSecondFactor && <PasskeyButton onUse={() => byPasskey.mutate()} isBusy={byPasskey.isPending} />}
          <BusyButton type="submit" isBusy={byCode.isPending}>
            Confirm
          </BusyButton>
        </Group>
      </Stack>
    </form>
  )
}
