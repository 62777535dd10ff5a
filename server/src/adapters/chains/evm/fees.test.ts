import { expect, test } from 'vitest'
import { eth, usdt } from '../../../exchange/domain/pricing.fixture.ts'
import { depositFee } from './fees.ts'

// M4: the quote held the payout's fee alone, and each small token deposit cost ten times what it earned.
test('M4: a deposit costs its sweep, and a token deposit also the supply of its gas, at a quarter above the base fee', () => {
  // A base fee of 20 gwei and a tip of 2.
  const fee = { rate: 42n * GWEI, tip: 2n * GWEI, least: 22n * GWEI }
  const plain = 25_200n * 27n * GWEI
  const token = (25_200n + 78_000n) * 27n * GWEI
  expect([depositFee(eth.asset, fee), depositFee(usdt.asset, fee)]).toEqual([plain, token])
  // On a rollup each of the transactions pays for its bytes on layer 1.
  const rollup = { ...fee, l1Fee: 5n }
  expect([depositFee(eth.asset, rollup), depositFee(usdt.asset, rollup)]).toEqual([plain + 5n, token + 10n])
})

const GWEI = 10n ** 9n
