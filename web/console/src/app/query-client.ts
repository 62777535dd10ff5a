import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/client.ts'
import { isLoggedOut, setSession } from '../api/session.ts'

const RETRIES = 2

/** Tried again: no answer, and answers that say so. */
const isTransient = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.status === 0 || error.status >= 500

export function createClient(): QueryClient {
  const onError = (error: unknown) => {
    if (isLoggedOut(error)) setSession(client, null)
  }
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: { retry: (failures, error) => failures < RETRIES && isTransient(error), staleTime: 2_000 },
    },
  })
  return client
}
