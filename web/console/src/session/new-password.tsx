import { PasswordInput } from '@mantine/core'

/** The rule of server/src/admin/identity/passwords.ts. */
export const NewPassword = ({ name }: Readonly<{ name: string }>) => (
  <PasswordInput
    name={name}
    label="New password"
    description="12 characters or more, without your login."
    autoComplete="new-password"
    required
    minLength={12}
    maxLength={200}
  />
)
