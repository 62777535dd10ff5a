import { expect, it } from 'vitest'
import type { SwapChain } from '../ports/swap-chain.ts'
import { createReconcileFees } from './reconcile-fees.ts'

const [address, assetId] = ['0xfe', '0xaa@eth'] as const
const chainOf = (readBalance: (address: string, token: string) => Promise<bigint>) =>
  ({ readBalance, native: '0xn', wrapped: '0xw' }) as unknown as SwapChain
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
      find: (id) => (id === 'eth' ? { chain: chainOf(readBalance), nativeIsToken: false } : null),
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
    listed: () => [{ address: '0xaa' }],
    log: { error: () => undefined, warn: () => undefined },
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

it('compares the other fees if a balance cannot be read, and only logs missing fees of unlisted tokens', async () => {
  const alarms = new Set<string>()
  const lines: string[] = []
  const readBalance = async (_: string, token: string) => {
    if (token === '0xbad') throw new Error('execution reverted')
    return 9n
  }
  const write = (level: string) => (fields: object) =>
    void lines.push(`${level} ${(fields as { assetId: string }).assetId}`)
  const tokens = ['0xbad', '0xunlisted', '0xaa', '0xn', '0xw'] as const
  const reconcile = createReconcileFees({
    networks: { find: () => ({ chain: chainOf(readBalance), nativeIsToken: false }) },
    feeAccounts: {
      listHeldFees: async () => tokens.map((token) => ({ address, assetId: `${token}@eth` as const, units: 10n })),
    },
    alarms: { raise: async (name) => void alarms.add(name), clear: async () => undefined },
    listed: (network) => (network === 'eth' ? [{ address: '0xaa' }] : []),
    log: { error: write('error'), warn: write('warn') },
  })
  await reconcile()
  await reconcile()
  expect([...alarms]).toEqual(['fees:0xaa@eth:0xfe', 'fees:0xn@eth:0xfe', 'fees:0xw@eth:0xfe'])
  expect(lines).toEqual([
    'warn 0xbad@eth',
    'warn 0xbad@eth',
    ...['0xunlisted', '0xaa', '0xn', '0xw'].map((token) => `error ${token}@eth`),
  ])
})
