import type { Currency, Swapyard } from '@swapyard/sdk'
import type { Session } from './session.ts'

/** What the views need of the element that shows them. */
export type Widget = Readonly<{
  /** The origin of the API. */
  origin: string
  /** Calls with the publishable key. */
  api: Swapyard
  /** Calls without a key: a preflight of the public status does not allow one. */
  publicApi: Swapyard
  session: Session
  currencies: readonly Currency[]
  /** Aborted when the view is replaced or the element leaves the page. */
  signal: AbortSignal
  /** Tells users of screen readers. */
  announce(text: string): void
  /** Dispatches an event to the host page. */
  emit(type: string, detail: Readonly<Record<string, unknown>>): void
}>
