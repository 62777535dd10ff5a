import { describe, expect, it } from 'vitest'
import type { ExchangeView } from '../domain/exchange.ts'
import type { Partner } from '../domain/partner.ts'
import type { ExchangeQuery, ExchangeStore } from '../ports/store.ts'
import { createListExchanges } from './find-exchange.ts'

const partner = { id: 'p' } as Partner

/** A store that has `rows`, and of which more is counted than is there: rows leave a filter while it is asked. */
function storeOf(rows: number, counted: number) {
  const asked: number[] = []
  const views = Array.from({ length: rows }, (_, n) => ({
    exchange: { id: `${n}`, createdAt: new Date(1_000_000 - n) },
    executions: [],
  })) as unknown as ExchangeView[]
  const list = async (_query: ExchangeQuery, after: { id: string } | null, limit: number, offset: number) => {
    asked.push(limit)
    const start = after === null ? offset : Number(after.id) + 1
    return views.slice(start, start + limit)
  }
  return { asked, exchanges: { list, count: async () => counted } as unknown as ExchangeStore }
}

async function listed(rows: number, counted: number, page: { page: number; limit: number } | null) {
  const store = storeOf(rows, counted)
  const { total, rows: streamed } = await createListExchanges(store)(partner, {}, page)
  const ids: string[] = []
  for await (const view of streamed) ids.push(view.exchange.id)
  return { total, ids, asked: store.asked }
}

describe('the list', () => {
  it.each([
    ['all', null, 3, 3, 3],
    ['none', null, 0, 0, 0],
    ['the last page', { page: 2, limit: 2 }, 3, 3, 1],
    ['a page in the middle', { page: 1, limit: 2 }, 3, 9, 2],
    ['a page behind the end', { page: 5, limit: 2 }, 3, 9, 0],
    ['more than a chunk', null, 1_200, 1_200, 1_200],
  ])('says how many there are as it shows them: %s', async (_name, page, rows, total, shown) => {
    const answer = await listed(rows, total === rows ? 1_200 : 9, page)
    expect([answer.total, answer.ids.length]).toEqual([total, shown])
    expect(new Set(answer.ids).size).toBe(shown)
    expect(Math.max(...answer.asked)).toBeLessThanOrEqual(500)
  })

  it('shows no more than it counted', async () => {
    expect((await listed(1_200, 700, null)).ids).toHaveLength(700)
  })
})
