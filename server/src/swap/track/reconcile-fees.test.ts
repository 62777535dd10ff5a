import { expect, it } from 'vitest'
import type { SwapChain } from '../ports/swap-chain.ts'
import { createReconcileFees } from './reconcile-fees.ts'

const [address, assetId] = ['0xfe', '0xaa@eth'] as const
const subject = 'fees:0xaa@eth:0xfe'

it('tells what is missing in two runs, and takes it back when it is booked or there again', async () => {
  let [units, held] = [10n, 10n]
  const alarms = new Set<string>()
  const asked: string[] = []
  const balance = async (...of: string[]) => {
    asked.push(of.join(' '))
    return held
  }
  const reconcile = createReconcileFees({
    networks: {
      find: (id) => (id === 'eth' ? { chain: { balance } as unknown as SwapChain, nativeIsToken: false } : null),
    },
    desk: {
      fees: async () => [
        { address, assetId, units },
        { address, assetId: '0xbb@gone', units },
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
  // Equal, and more than the ledger says.
  expect(await runs([10n, 10n], [10n, 12n])).toEqual([])
  expect(asked).toContain('0xfe 0xaa')
  // A block that came in between.
  expect(await runs([10n, 9n], [10n, 10n], [10n, 9n])).toEqual([])
  expect(await runs([10n, 9n])).toEqual([subject])
  expect(await runs([9n, 9n])).toEqual([])
  expect(await runs([9n, 0n], [9n, 0n])).toEqual([subject])
  expect(await runs([0n, 0n])).toEqual([])
})
