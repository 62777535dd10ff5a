import { Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import type { AdminRow } from '@swapyard/schema'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { FormEvent, ReactNode } from 'react'
import { ReasonInput } from '../actions/action-inputs.tsx'
import { post } from '../api/client.ts'
import { useSession } from '../api/session.ts'
import { BusyButton } from '../app/busy-button.tsx'
import { useDialog } from '../app/dialog-host.tsx'
import { ErrorAlert } from '../app/error-alert.tsx'
import { Facts, Time } from '../format/values.tsx'
import { readForm } from './login-page.tsx'
import { NewPassword } from './new-password.tsx'
import { addPasskey, hasPasskeys } from './passkey.ts'
import { type Accepted, RecoveryCodes } from './recovery-codes.tsx'

type Props<Answer> = Readonly<{
  label: string
  /** Text of the button that carries it out. */
  verb: string
  send: (form: Readonly<Record<string, string>>) => Promise<Answer>
  /** What it made, which is shown once. */
  show?: (answer: Answer) => ReactNode
  children: ReactNode
}>

/** A button with a form for what concerns the identity of an operator. These are not actions: they have no preview. */
function FormButton<Answer>(props: Props<Answer>) {
  const openDialog = useDialog()
  const open = () => openDialog(props.label, (close) => <Form {...props} onClose={close} />)
  return (
    <Button variant="default" size="compact-sm" onClick={open}>
      {props.label}
    </Button>
  )
}

function Form<Answer>({ verb, send, show, children, onClose }: Props<Answer> & Readonly<{ onClose: () => void }>) {
  const client = useQueryClient()
  const sent = useMutation({
    mutationFn: send,
    onSuccess: async () => {
      if (!show) onClose()
      await client.invalidateQueries({ queryKey: ['read'] })
    },
  })
  if (show && sent.data !== undefined)
    return (
      <Stack>
        {show(sent.data)}
        <Group justify="flex-end">
          <Button onClick={onClose}>Close</Button>
        </Group>
      </Stack>
    )
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
          <BusyButton type="submit" isBusy={sent.isPending}>
            {verb}
          </BusyButton>
        </Group>
      </Stack>
    </form>
  )
}

/** A session of another operator needs a reason. */
export function EndSession({ session: { id, login, ip, createdAt } }: Readonly<{ session: AdminRow<'sessions'> }>) {
  const own = useSession()
  return (
    <FormButton label="End" verb="End it" send={(form) => post('/admin/v1/sessions/end', { id, ...form })}>
      <Facts
        items={[
          ['Operator', login],
          ['Address', ip],
          ['Login', <Time key="login" at={createdAt} />],
        ]}
      />
      {login !== own.login && <ReasonInput />}
    </FormButton>
  )
}

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

export const RemovePasskey = ({ passkey: { id, name } }: Readonly<{ passkey: AdminRow<'passkeys'> }>) => (
  <FormButton label="Remove" verb="Remove it" send={() => post('/admin/v1/passkeys/remove', { id })}>
    <Text size="sm">
      The passkey <strong>{name}</strong> no longer logs you in. Sessions that it began stay open: end them, too.
    </Text>
  </FormButton>
)

export const RenewRecoveryCodes = () => (
  <FormButton
    label="Renew recovery codes"
    verb="Renew"
    send={() => post<Accepted>('/admin/v1/session/recovery-codes')}
    show={({ recoveryCodes }) => <RecoveryCodes recoveryCodes={recoveryCodes} />}
  >
    <Text size="sm">You get ten new recovery codes. Those that you have are not accepted any more.</Text>
  </FormButton>
)
