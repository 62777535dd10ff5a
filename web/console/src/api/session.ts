import type { AdminSession } from '@swapyard/schema'
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import { ApiError, get, postOnce, setCsrf } from './client.ts'

const KEY = ['session'] as const

async function readSession(): Promise<AdminSession | null> {
  try {
    const session = await get<AdminSession>('/admin/v1/session')
    setCsrf(session.csrf)
    return session
  } catch (error) {
    if (isLoggedOut(error)) return null
    throw error
  }
}

export const isLoggedOut = (error: unknown): boolean => error instanceof ApiError && error.code === 'SESSION_REQUIRED'

/** `data` is null without a session. */
export const useSessionQuery = () =>
  useQuery({ queryKey: KEY, queryFn: readSession, staleTime: Number.POSITIVE_INFINITY })

/** The pages behind the login keep it until they are removed, also when it ends while they are shown. */
export const CurrentSession = createContext<AdminSession | null>(null)

/** The session of a page behind the login. */
export function useSession(): AdminSession {
  const session = useContext(CurrentSession)
  if (session === null) throw new Error('this page is not behind the login')
  return session
}

export function setSession(client: QueryClient, session: AdminSession | null): void {
  setCsrf(session?.csrf ?? '')
  // Nothing of one operator is shown to the next one.
  if (session === null) client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== KEY[0] })
  client.setQueryData(KEY, session)
}

/** Replaces the session after a login or a confirmation, and ends it. */
export function useSessionActions() {
  const client = useQueryClient()
  return {
    begin: (session: AdminSession) => setSession(client, session),
    async logOut() {
      await postOnce('/admin/v1/session/end').catch((error) => {
        if (!isLoggedOut(error)) throw error
      })
      setSession(client, null)
    },
  }
}
