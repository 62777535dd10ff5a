import { expect, test } from 'vitest'
import { createSpenderSearch } from './spender-search.ts'

/** A chain whose block hashes are a letter and the height. `spends`: the output that a block's single transaction spends. */
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

test('does not read searched blocks again while they stay on the chain', async () => {
  const { hashes, spends, read, search } = chainOf(['a0', 'a1', 'a2'])
  expect(await search('utxo', 2)).toBe(null)
  expect(read.splice(0)).toEqual(['a2', 'a1', 'a0'])
  hashes.push('a3')
  spends.set('a3', 'utxo')
  const spender = { txHash: 'tx of a3', height: 3, hash: 'a3' }
  expect(await search('utxo', 3)).toEqual(spender)
  expect(read.splice(0)).toEqual(['a3'])
  hashes.push('a4')
  expect(await search('utxo', 4)).toEqual(spender)
  expect(read).toEqual([])
})

test('repeats the search after the block of the spender was orphaned', async () => {
  const { hashes, spends, read, search } = chainOf(['a0', 'a1', 'a2'])
  spends.set('a2', 'utxo')
  expect(await search('utxo', 2)).toEqual({ txHash: 'tx of a2', height: 2, hash: 'a2' })
  hashes[2] = 'b2'
  read.length = 0
  expect(await search('utxo', 2)).toBe(null)
  expect(read).toEqual(['b2', 'a1', 'a0'])
})

test('searches no deeper than finality plus 144 blocks', async () => {
  const { read, search } = chainOf(Array.from({ length: 1_000 }, (_, height) => `a${height}`))
  expect(await search('utxo', 999)).toBe(null)
  expect([read.length, read.at(-1)]).toEqual([147, 'a853'])
})
