import { describe, expect, test } from 'vitest'
import { networks } from '../../../networks/index.ts'
import { assetId } from '../../core/domain/asset.ts'
import { resolveNetwork } from '../../core/domain/network.ts'
import { present } from '../../lib/assert.ts'
import { type Payment, toPaymentUri } from './payment-uri.ts'

const toPayment = (id: string, address: string, units: bigint, change: Partial<Payment> = {}): Payment => {
  const network = resolveNetwork(
    present(
      networks.find((one) => one.id === id),
      id,
    ),
    'production',
  )
  const asset = { id: assetId(id, id), ticker: id, network: id, decimals: network.decimals, contract: null }
  return { asset, network, address, memo: null, units, ...change }
}
const evm = '0xfb6916095ca1df60bb79Ce92ce3ea74c37c5d359'

describe('a payment URI', () => {
  // The forms of the examples of BIP-21 and EIP-681, the CashAddr specification, and Monero's URI scheme.
  test.each([
    [
      'btc',
      '175tWpb8K1S7NmH4Zx6rewF9WQrcZv245W',
      2_030_000_000n,
      'bitcoin:175tWpb8K1S7NmH4Zx6rewF9WQrcZv245W?amount=20.3',
    ],
    [
      'btc',
      'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
      1n,
      'bitcoin:bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq?amount=0.00000001',
    ],
    ['ltc', 'ltc1qx', 100_000_000n, 'litecoin:ltc1qx?amount=1'],
    ['doge', 'Dx', 5_000_000_000n, 'dogecoin:Dx?amount=50'],
    ['bch', 'bitcoincash:qpm2', 150_000_000n, 'bitcoincash:qpm2?amount=1.5'],
    ['bch', 'qpm2', 150_000_000n, 'bitcoincash:qpm2?amount=1.5'],
    ['eth', evm, 2_014_000_000_000_000_000n, `ethereum:${evm}@1?value=2014000000000000000`],
    ['base', evm, 1n, `ethereum:${evm}@8453?value=1`],
    ['xmr', '46BeW', 239_390_140_000_000n, 'monero:46BeW?tx_amount=239.39014'],
  ])('of %s has address and amount: %s', (network, address, units, uri) => {
    expect(toPaymentUri(toPayment(network, address, units))).toBe(uri)
  })

  test('is missing where a wallet could pay to the wrong place: tokens, memos, other families', () => {
    const token = toPayment('eth', evm, 5_000_000n)
    expect(toPaymentUri({ ...token, asset: { ...token.asset, contract: '0xdac17' } })).toBeNull()
    expect(toPaymentUri(toPayment('btc', 'x', 1n, { memo: '7' }))).toBeNull()
    for (const network of ['xrp', 'xlm', 'ton', 'trx', 'sol', 'sui'])
      expect(toPaymentUri(toPayment(network, 'x', 1n))).toBeNull()
  })
})
