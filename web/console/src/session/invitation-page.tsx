import { Anchor, Code, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, lazy, Suspense } from 'react'
import { Link } from 'react-router'
import { postOnce } from '../api/client.ts'
import { BusyButton } from '../app/busy-button.tsx'
import { ErrorAlert } from '../app/error-alert.tsx'
import { readForm } from './login-page.tsx'
import { NewPassword } from './new-password.tsx'
import { type Accepted, RecoveryCodes } from './recovery-codes.tsx'
import { StartPage } from './start-page.tsx'

const QrCode = lazy(async () => ({ default: (await import('./qr-code.tsx')).QrCode }))

type Invitation = Readonly<{ login: string; role: string; totpUri: string }>

/** Accepts an invitation: token, then authenticator app and password, then recovery codes. */
export function InvitationPage() {
  const read = useMutation({
    mutationFn: async ({ token = '' }: Record<string, string>) => {
      const invitation = await postOnce<Invitation>('/admin/v1/invitation', { token: token.trim() })
      return { ...invitation, token: token.trim() }
    },
  })
  const accept = useMutation({
    mutationFn: (body: object) =>
      postOnce<Accepted>('/admin/v1/invitation/accept', { ...body, token: read.data?.token ?? '' }),
  })
  const submitTo =
    (mutation: { mutate(body: Record<string, string>): void }) => (event: FormEvent<HTMLFormElement>) => {
      event.preventDefault()
      mutation.mutate(readForm(event.currentTarget))
    }
  return (
    <StartPage title="Accept an invitation">
      {accept.data ? (
        <Finished {...accept.data} />
      ) : read.data ? (
        <form onSubmit={submitTo(accept)}>
          <Credentials invitation={read.data} error={accept.error} isPending={accept.isPending} />
        </form>
      ) : (
        <form onSubmit={submitTo(read)}>
          <Stack>
            {read.error && <ErrorAlert error={read.error} />}
            <TextInput
              name="token"
              label="Token of the invitation"
              description="Both halves, in any order. Two admins have one each."
              autoComplete="off"
              required
              maxLength={200}
            />
            <BusyButton type="submit" isBusy={read.isPending}>
              Continue
            </BusyButton>
            <LoginLink />
          </Stack>
        </form>
      )}
    </StartPage>
  )
}

const LoginLink = () => (
  <Anchor component={Link} to="/" size="sm" underline="always">
    Log in
  </Anchor>
)

type CredentialsProps = Readonly<{ invitation: Invitation; error: Error | null; isPending: boolean }>

function Credentials({ invitation: { login, role, totpUri }, error, isPending }: CredentialsProps) {
  return (
    <Stack>
      {error && <ErrorAlert error={error} />}
      <Text size="sm">
        You are <strong>{login}</strong> with the role {role}. Add this secret to your authenticator app.
      </Text>
      <Suspense fallback={null}>
        <QrCode text={totpUri} label="Secret for the authenticator app as a QR code" />
      </Suspense>
      <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {totpUri}
      </Code>
      <TextInput name="code" label="Code of the app" autoComplete="one-time-code" required maxLength={10} />
      <NewPassword name="password" />
      <BusyButton type="submit" isBusy={isPending}>
        Accept
      </BusyButton>
    </Stack>
  )
}

const Finished = ({ login, recoveryCodes }: Accepted) => (
  <Stack>
    <Text size="sm">{login} can log in.</Text>
    <RecoveryCodes recoveryCodes={recoveryCodes} />
    <LoginLink />
  </Stack>
)
