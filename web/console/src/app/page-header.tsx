import { Group, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'

type Props = Readonly<{ title: string; description?: string; children?: ReactNode }>

/** Title of a page, with its actions at the right. */
export function PageHeader({ title, description, children }: Props) {
  useDocumentTitle(`${title} · Swapyard console`)
  return (
    <Group justify="space-between" align="flex-start" mb="md">
      <div>
        <Title order={1} size="h3">
          {title}
        </Title>
        {description && (
          <Text size="sm" c="dimmed">
            {description}
          </Text>
        )}
      </div>
      {children && <Group gap="xs">{children}</Group>}
    </Group>
  )
}
