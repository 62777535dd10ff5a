import { Alert, Button, Code, Text } from '@mantine/core'
import { ApiError } from '../api/client.ts'

/** What failed, with the code that docs/errors.md explains and the id that finds it in the logs. */
export function ErrorAlert({ error, onRetry }: Readonly<{ error: unknown; onRetry?: () => void }>) {
  const message = error instanceof Error ? error.message : String(error)
  return (
    <Alert color="red" role="alert" title={error instanceof ApiError ? <Code>{error.code}</Code> : 'This failed'}>
      <Text size="sm">{message}</Text>
      {error instanceof ApiError && error.problems.length > 1 && (
        <ul>
          {error.problems.map(({ field, message: problem }) => (
            <li key={`${field} ${problem}`}>
              {field}: {problem}
            </li>
          ))}
        </ul>
      )}
      {error instanceof ApiError && error.requestId && (
        <Text size="sm">
          Request <Code>{error.requestId}</Code>
        </Text>
      )}
      {onRetry && (
        <Button mt="sm" size="compact-sm" variant="default" onClick={onRetry}>
          Try again
        </Button>
      )}
    </Alert>
  )
}
