import type { FastifyReply, FastifyRequest } from 'fastify'

export type CsvRow = readonly (string | number | null)[]

/** Whether the request asks for CSV, by `format` or by `Accept`. */
export function isCsvRequest(request: FastifyRequest): boolean {
  const { format } = request.query as { format?: string }
  return format === undefined ? (request.headers.accept ?? '').includes('text/csv') : format === 'csv'
}

/** Spreadsheets execute a cell that begins like a formula, so it gets an apostrophe (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r]/
const QUOTED = /[",\r\n]/

function cellOf(value: string | number | null): string {
  if (value === null) return ''
  const text = String(value)
  const safe = FORMULA.test(text) ? `'${text}` : text
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** A line of RFC 4180. */
export const csvLine = (row: CsvRow): string => `${row.map(cellOf).join(',')}\r\n`

/** The headers of a CSV file. */
export function setCsvHeaders(reply: FastifyReply, name: string): FastifyReply {
  return reply.headers({
    'cache-control': 'no-store',
    'content-type': 'text/csv; charset=utf-8; header=present',
    'content-disposition': `attachment; filename="${name}.csv"`,
    vary: 'Accept',
  })
}
