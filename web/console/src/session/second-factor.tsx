import { Button, TextInput } from '@mantine/core'
import { hasPasskeys } from './passkey.ts'

export function CodeInput({
  required = false,
  autoFocus = false,
}: Readonly<{ required?: boolean; autoFocus?: boolean }>) {
  return (
    <TextInput
      name="code"
      label="Code"
      description="Six digits of your authenticator app, or a recovery code."
      autoComplete="one-time-code"
      maxLength={40}
      required={required}
      data-autofocus={autoFocus || undefined}
    />
  )
}

export function PasskeyButton({ onUse, loading }: Readonly<{ onUse: () => void; loading: boolean }>) {
  if (!hasPasskeys()) return null
  return (
    <Button variant="default" onClick={onUse} loading={loading}>
      Use a passkey
    </Button>
  )
}
