import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { type ComponentType, lazy, Suspense } from 'react'
import { BrowserRouter, Route, Routes } from 'react-router'
import { CurrentSession, useSessionQuery } from '../api/session.ts'
import { pageGroups } from '../pages/page-list.ts'
import { Confirmation } from '../session/confirmation.tsx'
import { InvitationPage } from '../session/invitation-page.tsx'
import { LoginPage } from '../session/login-page.tsx'
import { StartPage } from '../session/start-page.tsx'
import { DialogHost } from './dialog-host.tsx'
import { ErrorAlert } from './error-alert.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { Loading } from './loading.tsx'
import { NotFound } from './not-found.tsx'
import { createClient } from './query-client.ts'
import { Shell } from './shell.tsx'
import { resolveColors, theme } from './theme.ts'

const client = createClient()

const routes = pageGroups.flatMap(({ pages }) =>
  pages.map(({ path, load }) => ({
    path,
    Page: lazy(async (): Promise<{ default: ComponentType }> => ({ default: (await load()).Page })),
  })),
)

const Pages = () => (
  <Confirmation>
    <DialogHost>
      <Shell>
        <ErrorBoundary>
          <Suspense fallback={<Loading />}>
            <Routes>
              {routes.map(({ path, Page }) => (
                <Route key={path} path={path} element={<Page />} />
              ))}
              <Route path="*" element={<NotFound />} />
            </Routes>
          </Suspense>
        </ErrorBoundary>
      </Shell>
    </DialogHost>
  </Confirmation>
)

/** The login keeps the path, so that it leads to the page that was asked for. */
function Gate() {
  const { data: session, error, refetch } = useSessionQuery()
  if (session)
    return (
      <CurrentSession value={session}>
        <Pages />
      </CurrentSession>
    )
  if (session === null) return <LoginPage />
  if (error === null) return <Loading />
  return (
    <StartPage title="The console is not available">
      <ErrorAlert error={error} onRetry={() => void refetch()} />
    </StartPage>
  )
}

export const App = ({ nonce }: Readonly<{ nonce: string }>) => (
  <MantineProvider
    theme={theme}
    cssVariablesResolver={resolveColors}
    defaultColorScheme="auto"
    getStyleNonce={() => nonce}
  >
    <QueryClientProvider client={client}>
      <BrowserRouter basename="/console">
        <Routes>
          <Route path="/invitation" element={<InvitationPage />} />
          <Route path="*" element={<Gate />} />
        </Routes>
      </BrowserRouter>
    </QueryClientProvider>
  </MantineProvider>
)
