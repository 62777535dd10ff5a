import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { present } from '../../lib/assert.ts'
import type { Idempotency } from '../services/interfaces.ts'
import { decimalText } from './normalize-members.ts'
import { validationError } from './validation.ts'

const KEY = /^[\x20-\x7e]{1,255}$/

/**
 * The Idempotency-Key with a hash of the request: method, route, its parameters and the used members, sorted. Ignored members and the order
 * of members do not change the hash.
 */
export function readIdempotency(request: FastifyRequest, route: { method: string; path: string }): Idempotency | null {
  const header = request.raw.headers['idempotency-key']
  if (header === undefined) return null
  const key = Array.isArray(header) ? header.join(', ') : header
  if (!KEY.test(key)) {
    const message = 'Idempotency-Key must be 1 to 255 printable ASCII characters'
    throw validationError([{ code: 'VALIDATION_ERROR', field: 'Idempotency-Key', message }])
  }
  const parameters = Object.values(request.params as Record<string, string>).map((value) => ` ${value}`)
  const text = `${route.method} ${route.path}${parameters.join('')}\n${canonicalJson(request.body, present(request.known, 'the members of the route').body)}`
  return { key: keyOf(request, key), requestHash: hash('sha256', text, 'hex') }
}

/** Keys that pages choose are apart from those of the partner's servers: a page must neither read nor block them. */
function keyOf({ caller }: FastifyRequest, key: string): string {
  return caller?.origins === undefined ? key : `page ${hash('sha256', `${caller.keyId} ${key}`, 'hex')}`
}

/** A JSON number counts as its decimal text, as in every member that takes both. */
const textOfNumber = (value: unknown): unknown =>
  typeof value === 'number' ? (decimalText(value) ?? String(value)) : value

function canonicalJson(body: unknown, known: ReadonlySet<string>): string {
  const members = body as Readonly<Record<string, unknown>>
  const used = [...known].filter((name) => members[name] !== undefined).sort()
  return JSON.stringify(used.map((name) => [name, textOfNumber(members[name])]))
}
