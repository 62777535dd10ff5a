import { expect, test } from 'vitest'
import type { Currency } from '../../core/domain/currency.ts'
import { book, btc, eth, makeCurrency, usdt } from '../domain/pricing.fixture.ts'
import { makeView } from '../domain/tracked-exchange.fixture.ts'
import { trackExchange } from '../domain/tracked-exchange.ts'
import { createExpectations } from './expectations.ts'

/** A currency of a network with this block interval; a payment needs two confirmations, after the block that includes it. */
const withBlocks = (currency: Currency, minutes: number): Currency => ({
  ...currency,
  network: { ...currency.network, blockTimeMs: minutes * 60_000 },
})
const [bitcoin, ether] = [withBlocks(btc, 10), withBlocks(eth, 0.2)]
const litecoin = withBlocks(makeCurrency('ltc', 'ltc'), 2.5)
const monero = withBlocks(makeCurrency('xmr', 'xmr'), 20)
/** Slower than the others, and never an intermediary. */
const excluded = [
  withBlocks(makeCurrency('off', 'off', { enabled: false }), 100),
  withBlocks(makeCurrency('token', 'chain', { contract: '0x1' }), 100),
  {
    ...withBlocks(makeCurrency('memo', 'memo'), 100),
    network: { ...eth.network, id: 'memo', memo: 'required' as const },
  },
]
const { payerSecondsOf, secondsOf } = createExpectations({
  currencies: [bitcoin, ether, usdt, litecoin, monero, ...excluded],
  books: { current: () => book },
  privacy: { delayMaxMs: 600_000 },
})

function makePrivate(via: Currency, hasDeposit: boolean) {
  const legs = [
    { from: bitcoin.asset, to: via.asset },
    { from: via.asset, to: ether.asset },
  ]
  const estimate = { confirmations: 2, seconds: secondsOf({ type: 'private', legs }, 2) }
  return trackExchange(makeView({ type: 'private', legs, estimate }, hasDeposit ? [{ status: 'confirming' }] : []))
}

test('the time that payers see of a private exchange is that of the slowest intermediary, whichever was chosen', () => {
  // Three intervals of each chain, and the delays: 30 + 60 + 0.6 + 10 minutes.
  for (const via of [litecoin, monero])
    for (const hasDeposit of [false, true])
      expect(payerSecondsOf(makePrivate(via, hasDeposit))).toBe(30 * 60 + 60 * 60 + 36 + 600)
  // Partners, who see the intermediary, get the time of its network.
  const exact = [litecoin, monero].map((via) => secondsOf(makePrivate(via, false).exchange, 2))
  expect(exact).toEqual([30 * 60 + 450 + 36 + 600, 30 * 60 + 60 * 60 + 36 + 600])
})

test('a standard exchange shows its own time, as the create stated it until there is a deposit', () => {
  const pending = trackExchange(makeView({ estimate: { confirmations: 2, seconds: 1_234 } }))
  expect(payerSecondsOf(pending)).toBe(1_234)
  expect(payerSecondsOf(trackExchange(makeView({}, [{ status: 'confirming' }])))).toBe(30 * 60 + 36)
})
