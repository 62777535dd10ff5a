import { Paper, Stack, Title } from '@mantine/core'
import type { ReactNode } from 'react'

/** A part of a page under its own heading. */
export const Panel = ({ title, children }: Readonly<{ title: string; children: ReactNode }>) => (
  <Paper withBorder p="md">
    <Title order={2} size="h5" mb="sm">
      {title}
    </Title>
    <Stack gap="sm">{children}</Stack>
  </Paper>
)
