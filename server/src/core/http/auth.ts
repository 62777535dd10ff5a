import type { RouteDefinition } from '@swapyard/schema'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../domain/errors.ts'
import type { Caller } from '../domain/partner.ts'

/**
 * The API key of the header, never of the query or the body. Node joins repeated headers with a comma, which no key
 * contains, so two keys are an invalid key.
 */
export function readKey(request: FastifyRequest): string | undefined {
  const header = request.raw.headers['x-api-key']
  if (header === undefined) return undefined
  const key = Array.isArray(header) ? header.join(',') : header
  if (key.includes(',')) throw new AppError('API_KEY_INVALID', 'the API key is not valid')
  const trimmed = key.trim()
  return trimmed === '' ? undefined : trimmed
}

/** Whether this caller may use this route. A suspended partner may still read its exchanges. */
export function checkAccess({ partner, scopes }: Caller, access: RouteDefinition['access']): void {
  if (partner.suspended && access !== 'exchange:read') {
    throw new AppError('PARTNER_SUSPENDED', 'this partner is suspended; the status of exchanges can still be read')
  }
  if (access !== 'public' && access !== 'any' && !scopes.has(access)) {
    throw new AppError('SCOPE_REQUIRED', `this key lacks the scope ${access}`, { extra: { scope: access } })
  }
}
