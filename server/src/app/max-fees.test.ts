import { expect, test } from 'vitest'
import { currencies } from '../../currencies/index.ts'
import { networks } from '../../networks/index.ts'
import { assetId } from '../core/domain/asset.ts'
import { exchangeFamilies } from '../core/domain/network.ts'
import { createMaxFees } from './max-fees.ts'

const maxFeesOf = createMaxFees('production')
const GWEI = 10n ** 9n

test('an account pays at most the gas of a transfer at the cap of its network', () => {
  expect(maxFeesOf('eth')).toEqual({
    native: 'eth@eth',
    nativePayoutUnits: 25_200n * 1_000n * GWEI,
    tokenPayoutUnits: 78_000n * 1_000n * GWEI,
    inputUnits: 0n,
  })
  expect(maxFeesOf('matic').nativePayoutUnits).toBe(25_200n * 10_000n * GWEI)
})

test('an output costs its input beside the payment', () => {
  // 209 vB of a payment with two inputs and change, and 68 of an input, at four times the dust limit of 546 satoshi.
  const [payment, input] = [209n * 2_184n, 68n * 2_184n]
  expect(maxFeesOf('btc')).toEqual({
    ...{ native: 'btc@btc', nativePayoutUnits: payment, tokenPayoutUnits: payment, inputUnits: input },
  })
})

test('a payment in Monero costs at most what the signer signs', () => {
  expect(maxFeesOf('xmr')).toMatchObject({ native: 'xmr@xmr', nativePayoutUnits: 10n ** 11n, inputUnits: 0n })
})

test.each(networks.filter(({ family }) => exchangeFamilies.some((served) => served === family)).map(({ id }) => id))(
  'the native coin of %s is listed, so that messages can show its amounts',
  (network) => {
    const { native, nativePayoutUnits } = maxFeesOf(network)
    expect(currencies.map((one) => assetId(one.ticker, one.network))).toContain(native)
    expect(nativePayoutUnits).toBeGreaterThan(0n)
  },
)
