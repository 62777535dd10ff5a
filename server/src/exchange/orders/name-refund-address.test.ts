import { expect, test } from 'vitest'
import type { Partner } from '../../core/domain/partner.ts'
import type { Exchange } from '../domain/exchange.ts'
import { btc, eth } from '../domain/pricing.fixture.ts'
import type { Chain } from '../ports/chain.ts'
import { checkRefundAddress, createNameRefundAddress, type NameRefundAddressDeps } from './name-refund-address.ts'

const exchange = { id: 'e', type: 'standard', recipient: null, legs: [{ from: eth.asset, to: btc.asset }] }
const named: string[] = []
/** The contract `burner` uses 450 000 gas for a payment. */
const sender = { extraGas: async (address: string) => (address === 'burner' ? 429_000n : 0n) }
const addresses = { parse: (text: string) => text, parseMemo: () => null, hot: () => 'hot' }
const deps = {
  exchanges: {
    find: async () => ({ exchange }),
    nameRefund: async (_id: string, { address }: { address: string }) => {
      named.push(address)
      return 'set'
    },
  },
  catalogue: { findNetwork: () => eth.network },
  chains: new Map([['eth', { addresses, sender } as unknown as Chain]]),
  screening: { screen: async () => 'allow' },
  isOwnAddress: async () => false,
} as unknown as NameRefundAddressDeps

// M21: the operator pays the gas of a refund, too.
test('M21: a contract that burns gas is no refund address, named by the partner or on the tracking page', async () => {
  const refused = { code: 'INVALID_REFUND_ADDRESS', problems: [{ field: 'refundAddress' }] }
  const nameRefund = createNameRefundAddress(deps)
  const partner = { id: 'p' } as Partner
  await expect(nameRefund(partner, { id: 'e', refundAddress: 'burner' })).rejects.toMatchObject(refused)
  await expect(checkRefundAddress(deps, exchange as unknown as Exchange, 'burner', undefined)).rejects.toMatchObject(
    refused,
  )
  expect(named).toEqual([])
  await nameRefund(partner, { id: 'e', refundAddress: 'wallet' })
  expect(named).toEqual(['wallet'])
})
