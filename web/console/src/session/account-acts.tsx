import { Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import type { AdminRow } from '@swapyard/schema'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { FormEvent, ReactNode } from 'react'
import { post } from '../api/client.ts'
import { useDialog } from '../app/dialog-host.tsx'
import { ErrorAlert } from '../app/error-alert.tsx'
import { Facts, Time } from '../format/values.tsx'
import { readForm } from './login-page.tsx'
import { NewPassword } from './new-password.tsx'
import { addPasskey, hasPasskeys } from './passkey.ts'

type Props = Readonly<{
  label: string
  /** Text of the button that carries it out. */
  verb: string
  send: (form: Readonly<Record<string, string>>) => Promise<unknown>
  children: ReactNode
}>

/** A button with a form for what concerns sessions. These are not acts: they have no reason and no preview. */
function FormButton(props: Props) {
  const openDialog = useDialog()
  const open = () => openDialog(props.label, (close) => <Form {...props} onClose={close} />)
  return (
    <Button variant="default" size="compact-sm" onClick={open}>
      {props.label}
    </Button>
  )
}

function Form({ verb, send, children, onClose }: Props & Readonly<{ onClose: () => void }>) {
  const client = useQueryClient()
  const sent = useMutation({
    mutationFn: send,
    onSuccess: async () => {
      onClose()
      await client.invalidateQueries({ queryKey: ['read'] })
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    sent.mutate(readForm(event.currentTarget))
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        {children}
        {sent.error && <ErrorAlert error={sent.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={sent.isPending}>
            {verb}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

export const EndSession = ({ session }: Readonly<{ session: AdminRow<'sessions'> }>) => (
  <FormButton label="End" verb="End it" send={() => post('/admin/v1/sessions/end', { id: session.id })}>
    <Facts
      items={[
        ['Operator', session.login],
        ['Address', session.ip],
        ['Login', <Time key="login" at={session.createdAt} />],
      ]}
    />
  </FormButton>
)

export const ChangePassword = () => (
  <FormButton label="Change your password" verb="Change" send={(form) => post('/admin/v1/session/password', form)}>
    <Text size="sm">Your other sessions end.</Text>
    <PasswordInput name="password" label="Password" autoComplete="current-password" required maxLength={200} />
    <NewPassword name="newPassword" />
  </FormButton>
)

export function AddPasskey() {
  if (!hasPasskeys()) return null
  return (
    <FormButton label="Add a passkey" verb="Add" send={({ name = '' }) => addPasskey(name)}>
      <Text size="sm">A passkey replaces password and code. Your device asks for your fingerprint, face or PIN.</Text>
      <TextInput name="name" label="Name of the passkey" placeholder="laptop" required maxLength={64} />
    </FormButton>
  )
}
