import { expect, test } from 'vitest'
import { nativeAddress } from '../../adapters/chains/evm/native-coin.ts'
import type { Book } from '../../core/domain/book.ts'
import type { Token } from '../domain/token.ts'
import type { SwapChain } from '../ports/swap-chain.ts'
import { createReferenceOut } from './swap-values.ts'

const NOW = 1_800_000_000_000
const USD = 10n ** 12n
const chain = { network: { id: 'eth' }, native: nativeAddress, wrapped: '0xee' } as unknown as SwapChain
const token = (address: string, decimals: number): Token => ({
  ...{ network: 'eth', address, name: 'T', symbol: 'T', decimals },
})
const [eth, weth, usdc] = [token(nativeAddress, 18), token('0xee', 18), token('0xdc', 6)]

const referenceAt = (ethAt: number, usdcAt = ethAt) =>
  createReferenceOut({
    books: {
      current: () =>
        ({
          prices: {
            usd: new Map([
              ['eth', { bid: 1_999n * USD, ask: 2_001n * USD }],
              ['usdc', { bid: USD, ask: USD }],
            ]),
            times: new Map([
              ['eth', ethAt],
              ['usdc', usdcAt],
            ]),
          },
        }) as unknown as Book,
    },
    priceKeyOf: (_, address) => (address === 'native' ? 'eth' : address === '0xdc' ? 'usdc' : null),
    now: () => NOW,
  })

test('D9: the reference output needs a current price of both sides', () => {
  const reference = referenceAt(NOW - 30_000)
  // 1.5 × 2000 dollars.
  expect(reference(chain, { token: eth, units: 15n * 10n ** 17n }, usdc)).toBe(3_000_000_000n)
  expect(reference(chain, { token: weth, units: 10n ** 18n }, usdc)).toBe(2_000_000_000n)
  expect(reference(chain, { token: usdc, units: 1_000_000n }, eth)).toBe(5n * 10n ** 14n)
  expect(reference(chain, { token: usdc, units: 1n }, token('0x99', 18))).toBeNull()
  expect(reference(chain, { token: token('0x99', 18), units: 1n }, usdc)).toBeNull()
  // Worth less than a unit: nothing can be said.
  expect(reference(chain, { token: eth, units: 1n }, usdc)).toBeNull()
  expect(referenceAt(NOW - 30_001, NOW)(chain, { token: eth, units: 10n ** 18n }, usdc)).toBeNull()
  expect(referenceAt(NOW, NOW - 30_001)(chain, { token: eth, units: 10n ** 18n }, usdc)).toBeNull()
})
