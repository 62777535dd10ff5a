import { TextInput } from '@mantine/core'
import { BusyButton } from '../app/busy-button.tsx'
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

export function PasskeyButton({ onUse, isBusy }: Readonly<{ onUse: () => void; isBusy: boolean }>) {
  if (!hasPasskeys()) return null
  return (
    <BusyButton variant="default" onClick={onUse} isBusy={isBusy}>
      Use a passkey
    </BusyButton>
  )
}
