import { expect, test } from 'vitest'
import { toPauses } from './to-pauses.ts'

const pausesOf = (...scopes: string[]) =>
  toPauses(
    scopes.map((scope) => ({ scope })),
    ['btc', 'eth'],
  )

// The scopes are those of the guide to operation.
test('sorts the paused scopes by what they stop', () => {
  const pauses = pausesOf(
    ...['network:btc', 'payouts:eth', 'payouts:all', 'asset:usdt@eth', 'dex:sushiswap-v2@base'],
    'partner:018f2b1c-0000-7000-8000-000000000001',
  )
  expect(pauses).toEqual({
    networks: new Set(['btc']),
    assets: new Set(['usdt@eth']),
    payouts: new Set(['eth', 'all']),
    partners: new Set(['018f2b1c-0000-7000-8000-000000000001']),
    pools: new Set(['dex:sushiswap-v2@base']),
  })
})

test('all pauses every network, and no pause pauses nothing', () => {
  expect(pausesOf('all').networks).toEqual(new Set(['btc', 'eth']))
  const nothing = new Set()
  expect(pausesOf()).toEqual({
    ...{ networks: nothing, assets: nothing, payouts: nothing, partners: nothing, pools: nothing },
  })
})
