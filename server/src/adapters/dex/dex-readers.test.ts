import { expect, test } from 'vitest'
import { celo } from '../../../dexes/celo.ts'
import { readBases } from './dex-readers.ts'
import { uniswapV4Dex } from './uniswap-v4.ts'

const wrapped = '0x471ece3750da237f93b8e339c536989b8978a438'
const token = '0x00000000000000000000000000000000000000aa'

/** The pools of a pair that a network with Uniswap V4 reads: every slot of the manager holds a price and liquidity. */
async function readPair(nativeIsToken: boolean) {
  const dex = celo.dexes.find(({ kind }) => kind === 'uniswap-v4')
  if (!dex) throw new Error('the network has no Uniswap V4')
  const reader = {
    read: async (_at: string, calls: readonly unknown[]) => calls.map(() => `0x${'1'.padStart(64, '0')}`),
  }
  const readContext = { reader, wrapped, nativeIsToken } as unknown as Parameters<typeof readBases>[0]
  const identities = (await uniswapV4Dex.lookUp?.(readContext, '0x', dex, [[wrapped, token]])) ?? []
  const bases = await readBases(readContext, '0x', identities)
  return bases.map(({ pool }) => 'native' in pool && pool.native === true)
}

test('pools of the native currency are read, but not where it is a token (Celo)', async () => {
  expect(new Set(await readPair(false))).toEqual(new Set([true, false]))
  expect(new Set(await readPair(true))).toEqual(new Set([false]))
})
