import { describe, expect, it } from 'vitest'
import { type ListPage, type ListPlace, listCounted } from './counted-list.ts'

/** `rows` with a higher count: rows may leave the filter between the two queries. */
async function listed(rows: number, counted: number, page: ListPage | null) {
  const asked: number[] = []
  const all = Array.from({ length: rows }, (_, n): ListPlace => ({ id: `${n}`, createdAt: new Date(1_000_000 - n) }))
  const read = async (after: ListPlace | null, limit: number, offset: number) => {
    asked.push(limit)
    const start = after === null ? offset : Number(after.id) + 1
    return all.slice(start, start + limit)
  }
  const { total, rows: streamed } = await listCounted({ read, count: async () => counted, placeOf: (row) => row }, page)
  const ids: string[] = []
  for await (const { id } of streamed) ids.push(id)
  return { total, ids, asked }
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
