import { swapRouter } from '@swapyard/contracts'
import { encodeErrorResult } from 'viem'
import { expect, it } from 'vitest'
import { isCoinRefused, paidBelowMinimum, revertReason } from './revert-reason.ts'

const { abi } = swapRouter
const account = `0x${'aa'.repeat(20)}` as const

it('tells an account that refuses the native coin from a swap that pays too little', () => {
  const refused = encodeErrorResult({ abi, errorName: 'CoinRefused', args: [account] })
  const tooLittle = encodeErrorResult({ abi, errorName: 'TooLittle', args: [7n, 9n] })
  const outcomes = [refused, tooLittle, null, '0x', '0xabcdef01'] as const
  expect(outcomes.map(isCoinRefused)).toEqual([true, false, false, false, false])
  expect(outcomes.map(paidBelowMinimum)).toEqual([null, 7n, null, null, null])
  expect(revertReason(refused).toLowerCase()).toBe(`coinrefused(${account})`)
})
