import { Anchor, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import type { AdminSession } from '@swapyard/schema'
import { useMutation } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { Link } from 'react-router'
import { postOnce } from '../api/client.ts'
import { useSessionActions } from '../api/session.ts'
import { BusyButton } from '../app/busy-button.tsx'
import { ErrorAlert } from '../app/error-alert.tsx'
import { logInByPasskey } from './passkey.ts'
import { CodeInput, PasskeyButton } from './second-factor.tsx'
import { StartPage } from './start-page.tsx'

/** Members of a form with a value. */
export const readForm = (form: HTMLFormElement): Record<string, string> =>
  Object.fromEntries([...new FormData(form)].flatMap(([name, value]) => (value === '' ? [] : [[name, String(value)]])))

export function LoginPage() {
  const { begin } = useSessionActions()
  const byPassword = useMutation({
    mutationFn: (body: object) => postOnce<AdminSession>('/admin/v1/login', body),
    onSuccess: begin,
  })
  const byPasskey = useMutation({ mutationFn: logInByPasskey, onSuccess: begin })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    byPasskey.reset()
    byPassword.mutate(readForm(event.currentTarget))
  }
  const error = byPassword.error ?? byPasskey.error
  return (
    <StartPage title="Log in">
      <form onSubmit={submit}>
        <Stack>
          {error && <ErrorAlert error={error} />}
          <TextInput
            name="login"
            label="Login"
            autoComplete="username"
            autoCapitalize="none"
            required
            maxLength={100}
          />
          <PasswordInput name="password" label="Password" autoComplete="current-password" required maxLength={200} />
          <CodeInput />
          <BusyButton type="submit" isBusy={byPassword.isPending}>
            Log in
          </BusyButton>
          <PasskeyButton onUse={() => byPasskey.mutate()} isBusy={byPasskey.isPending} />
        </Stack>
      </form>
      <Text size="sm" mt="lg">
        You were invited?{' '}
        <Anchor component={Link} to="/invitation" underline="always">
          Accept the invitation
        </Anchor>
      </Text>
    </StartPage>
  )
}
