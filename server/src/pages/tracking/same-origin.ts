import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../core/domain/errors.ts'

/**
 * Refuses a form that another site posts by a visitor's hand. The token is the permission and there are no cookies, so a site
 * that knows the token needs no visitor; this is a second line. Browsers send `Origin: null` because of the page's referrer
 * policy, and then only `Sec-Fetch-Site` tells.
 */
export function requireSameOrigin(headers: IncomingHttpHeaders, publicUrl: string): void {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  const isOwn =
    origin === undefined || origin === 'null' || origin === new URL(publicUrl).origin || hostOf(origin) === host
  if (isOwn && (site === undefined || site === 'same-origin')) return
  throw new AppError('SCOPE_REQUIRED', 'this form is posted from its own page only')
}

const hostOf = (origin: string): string | null => (URL.canParse(origin) ? new URL(origin).host : null)
