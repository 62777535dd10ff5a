import { Code, List, Stack, Text } from '@mantine/core'

export type Accepted = Readonly<{ login: string; recoveryCodes: readonly string[] }>

export const RecoveryCodes = ({ recoveryCodes }: Pick<Accepted, 'recoveryCodes'>) => (
  <Stack>
    <Text size="sm">Keep these recovery codes: each replaces a code of the app once. They are not shown again.</Text>
    <List listStyleType="none" aria-label="Recovery codes">
      {recoveryCodes.map((code) => (
        <List.Item key={code}>
          <Code>{code}</Code>
        </List.Item>
      ))}
    </List>
  </Stack>
)
