import { expect, it } from 'vitest'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import { createFeeOnTransferTokens } from './fee-on-transfer.ts'

it('counts the native token contract as fee-on-transfer without a call', async () => {
  const [wrapped, native] = ['0x0d', '0x1010']
  const tokens = createFeeOnTransferTokens(
    () => {
      throw new Error('unexpected call')
    },
    wrapped,
    Date.now,
    [native],
  )
  const pools = [{ tokens: [wrapped, native], address: '0x1' }] as unknown as readonly Pool[]
  await tokens.check(pools)
  expect(tokens.poolsWithCheckedTokens(pools)).toBe(pools)
  expect([...tokens.feeOnTransfer()]).toEqual([native])
  expect(tokens.feeOnTransfer()).toBe(tokens.feeOnTransfer())
})
