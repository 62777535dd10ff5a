import { Container, Group, Paper, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { ColorSchemeSwitch } from '../app/color-scheme-switch.tsx'

/** A page without a session. */
export function StartPage({ title, children }: Readonly<{ title: string; children: ReactNode }>) {
  return (
    <Container component="main" size={440} py="xl">
      <Group justify="space-between" mb="md">
        <Title order={1} size="h3">
          Swapyard console
        </Title>
        <ColorSchemeSwitch />
      </Group>
      <Paper withBorder p="lg">
        <Title order={2} size="h4" mb="md">
          {title}
        </Title>
        {children}
      </Paper>
    </Container>
  )
}
