import { Text } from '@mantine/core'
import { PageHeader } from './page-header.tsx'

export const NotFound = () => (
  <>
    <PageHeader title="No such page" />
    <Text>The console has no page at this address.</Text>
  </>
)
