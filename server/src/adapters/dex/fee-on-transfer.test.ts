import { expect, it } from 'vitest'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import { createFeeOnTransferTokens } from './fee-on-transfer.ts'

it('trades nothing for the contract of the coin, which it need not ask', async () => {
  const [wrapped, coin] = ['0x0d', '0x1010']
  const tokens = createFeeOnTransferTokens(
    () => {
      throw new Error('nobody is asked')
    },
    wrapped,
    Date.now,
    [coin],
  )
  const pools = [{ tokens: [wrapped, coin], address: '0x1' }] as unknown as readonly Pool[]
  await tokens.look(pools)
  expect(tokens.known(pools)).toBe(pools)
  expect([...tokens.taxed()]).toEqual([coin])
  expect(tokens.taxed()).toBe(tokens.taxed())
})
