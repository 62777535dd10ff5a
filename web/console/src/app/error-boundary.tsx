import { Component, type ReactNode } from 'react'
import { ErrorAlert } from './error-alert.tsx'

type Props = Readonly<{ children: ReactNode }>

/** A page that fails, for example because a new version has replaced its file, does not take the shell with it. */
export class ErrorBoundary extends Component<Props, Readonly<{ error: unknown }>> {
  override state = { error: null }
  static getDerivedStateFromError = (error: unknown) => ({ error })
  override render() {
    const { error } = this.state
    return error === null ? this.props.children : <ErrorAlert error={error} onRetry={() => window.location.reload()} />
  }
}
