import { AppError } from '../../core/domain/errors.ts'
import type { Partner } from '../../core/domain/partner.ts'
import type { ReportedView } from '../domain/exchange.ts'
import type { ReportedPage, ReportRequest } from '../interfaces.ts'
import type { ExchangeStore, ReportPlace } from '../ports/store/exchanges.ts'

/** Rows per query of a whole report. */
const CHUNK = 500

type Deps = Readonly<{ exchanges: Pick<ExchangeStore, 'report'> }>

/** All exchanges of a partner in a period, oldest first, in pages or whole. */
export function createReportExchanges({ exchanges }: Deps) {
  const read = (partner: Partner, request: ReportRequest, after: ReportPlace | null, limit: number) =>
    exchanges.report({ partnerId: partner.id, ...readPeriod(request) }, after, limit)
  return {
    async page(partner: Partner, request: ReportRequest, limit: number): Promise<ReportedPage> {
      const after = request.page === undefined ? null : readPlace(request.page)
      // One more tells whether there is another page.
      const rows = await read(partner, request, after, limit + 1)
      const shown = rows.slice(0, limit)
      const last = shown.at(-1)
      return { rows: shown, nextPage: rows.length > limit && last ? writePlace(last) : null }
    },
    async *all(partner: Partner, request: ReportRequest): AsyncGenerator<ReportedView> {
      let after: ReportPlace | null = null
      for (;;) {
        const rows: readonly ReportedView[] = await read(partner, request, after, CHUNK)
        yield* rows
        const last = rows.at(-1)
        if (last === undefined || rows.length < CHUNK) return
        after = placeOf(last)
      }
    },
  }
}

const placeOf = ({ exchange: { id, createdAt } }: ReportedView): ReportPlace => ({ id, createdAt })

/** Milliseconds and id of the last row: opaque to partners, and no secret. */
const writePlace = (view: ReportedView): string =>
  Buffer.from(`${view.exchange.createdAt.getTime()}.${view.exchange.id.replaceAll('-', '')}`).toString('base64url')

function readPlace(page: string): ReportPlace {
  const match = /^([0-9]{1,15})\.([0-9a-f]{32})$/.exec(Buffer.from(page, 'base64url').toString('latin1'))
  if (match === null)
    throw new AppError('VALIDATION_ERROR', 'page is not the nextPage of an answer: send it unchanged', {
      field: 'page',
    })
  const [, ms = '', hex = ''] = match
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  return { createdAt: new Date(Number.parseInt(ms, 10)), id }
}

function readPeriod({ from, to }: ReportRequest): { from: Date | null; to: Date | null } {
  const period = { from: readTime('from', from), to: readTime('to', to) }
  if (period.from !== null && period.to !== null && period.to <= period.from)
    throw new AppError('VALIDATION_ERROR', 'to is not after from: send a later time', { field: 'to' })
  return period
}

/** `2026-02-31` is no day. */
function readTime(field: string, text: string | undefined): Date | null {
  if (text === undefined) return null
  const time = new Date(text)
  if (!Number.isNaN(time.getTime()) && time.toISOString().startsWith(text.slice(0, 10))) return time
  throw new AppError('VALIDATION_ERROR', `${field} is not a day or time of the calendar`, { field })
}
