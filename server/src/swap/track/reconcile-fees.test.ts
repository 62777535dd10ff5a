import { expect, it } from 'vitest'
import type { SwapChain } from '../ports/swap-chain.ts'
import { createReconcileFees } from './reconcile-fees.ts'

const [address, assetId] = ['0xfe', '0xaa@eth'] as const
const subject = 'fees:0xaa@eth:0xfe'

it('raises an alarm if fees are missing in two runs, and clears it when the balances agree', async () => {
  let [units, held] = [10n, 10n]
  const alarms = new Set<string>()
  const queries: string[] = []
  const readBalance = async (...query: string[]) => {
    queries.push(query.join(' '))
    return held
  }
  const reconcile = createReconcileFees({
    networks: {
      find: (id) => (id === 'eth' ? { chain: { readBalance } as unknown as SwapChain, nativeIsToken: false } : null),
    },
    feeAccounts: {
      listHeldFees: async () => [
        { address, assetId, units },
        { address, assetId: '0xbb@unserved', units },
      ],
    },
    alarms: {
      raise: async (name) => void alarms.add(name),
      clear: async (name = '') => void alarms.delete(name),
    },
    log: { error: () => undefined },
  })
  const runs = async (...amounts: readonly (readonly [bigint, bigint])[]) => {
    for (const amount of amounts) {
      ;[units, held] = amount
      await reconcile()
    }
    return [...alarms]
  }
  // Equal to the ledger, and more than the ledger.
  expect(await runs([10n, 10n], [10n, 12n])).toEqual([])
  expect(queries).toContain('0xfe 0xaa')
  // A block between the reads of ledger and chain.
  expect(await runs([10n, 9n], [10n, 10n], [10n, 9n])).toEqual([])
  expect(await runs([10n, 9n])).toEqual([subject])
  expect(await runs([9n, 9n])).toEqual([])
  expect(await runs([9n, 0n], [9n, 0n])).toEqual([subject])
  expect(await runs([0n, 0n])).toEqual([])
})
