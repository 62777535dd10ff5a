import { LIMIT_DEFAULT } from '@swapyard/schema'

export type Page = Readonly<{ page: number; limit: number }>
type PageQuery = Readonly<{ page?: string; limit?: string }>

/** Null without paging. The schema admits integers of at most nine digits. */
export function toPage(query: PageQuery): Page | null {
  return query.page === undefined && query.limit === undefined ? null : toPageAlways(query)
}

export function toPageAlways({ page, limit }: PageQuery): Page {
  return {
    page: page === undefined ? 1 : Number.parseInt(page, 10),
    limit: limit === undefined ? LIMIT_DEFAULT : Number.parseInt(limit, 10),
  }
}

type Filters = Readonly<Record<string, string | undefined>>

/** `Link` header of RFC 8288 with URLs relative to the request. */
export function pageLinks(path: string, filters: Filters, { page, limit }: Page, total: number): string {
  const last = Math.max(1, Math.ceil(total / limit))
  const found: [relation: string, page: number][] = [['first', 1]]
  if (page > 1) found.push(['prev', Math.min(page - 1, last)])
  if (page < last) found.push(['next', page + 1])
  found.push(['last', last])
  return found
    .map(([relation, target]) => `<${path}?${parameters(filters, target, limit)}>; rel="${relation}"`)
    .join(', ')
}

function parameters(filters: Filters, page: number, limit: number): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(filters)) if (value !== undefined) query.set(name, value)
  query.set('page', String(page))
  query.set('limit', String(limit))
  return query.toString()
}
