import { expect, test } from 'vitest'
import { createSpenderSearch } from './spender-search.ts'

/** A chain of blocks named by letter and height; `spends`: what each block's one transaction spends. */
function chainOf(heads: readonly string[]) {
  const spends = new Map<string, string>()
  const hashes = [...heads]
  const read: string[] = []
  const search = createSpenderSearch(
    { finalityBlocks: 2 },
    [{ hashAt: async (height) => hashes[height] ?? null }],
    async (hash, output) => {
      read.push(hash)
      return spends.get(hash) === output ? `tx of ${hash}` : null
    },
  )
  return { hashes, spends, read, search }
}

test('blocks that were searched are not read again while they stand', async () => {
  const { hashes, spends, read, search } = chainOf(['a0', 'a1', 'a2'])
  expect(await search('coin', 2)).toBe(null)
  expect(read.splice(0)).toEqual(['a2', 'a1', 'a0'])
  hashes.push('a3')
  spends.set('a3', 'coin')
  const spender = { txHash: 'tx of a3', height: 3, hash: 'a3' }
  expect(await search('coin', 3)).toEqual(spender)
  expect(read.splice(0)).toEqual(['a3'])
  hashes.push('a4')
  expect(await search('coin', 4)).toEqual(spender)
  expect(read).toEqual([])
})

test('a spender whose block left the chain is looked for anew', async () => {
  const { hashes, spends, read, search } = chainOf(['a0', 'a1', 'a2'])
  spends.set('a2', 'coin')
  expect(await search('coin', 2)).toEqual({ txHash: 'tx of a2', height: 2, hash: 'a2' })
  hashes[2] = 'b2'
  read.length = 0
  expect(await search('coin', 2)).toBe(null)
  expect(read).toEqual(['b2', 'a1', 'a0'])
})

test('no block is read beyond the finality and a day of blocks', async () => {
  const { read, search } = chainOf(Array.from({ length: 1_000 }, (_, height) => `a${height}`))
  expect(await search('coin', 999)).toBe(null)
  expect([read.length, read.at(-1)]).toEqual([147, 'a853'])
})
