import { Center, Loader, VisuallyHidden } from '@mantine/core'

export const Loading = () => (
  <Center p="xl" role="status">
    <Loader aria-hidden="true" />
    <VisuallyHidden>Loading</VisuallyHidden>
  </Center>
)
