import { expect, test } from 'vitest'
import { isPaused, isPoolPause, poolPausesOf } from './pool-pauses.ts'

const balancerId = `0x${'ab'.repeat(20)}${'00'.repeat(12)}`
const pool = { dex: 'balancer', id: balancerId, tokens: ['0x01', '0x02'] }

test.for([
  ['dex:balancer@base', true],
  ['dex:sushiswap-v2@base', false],
  ['dex:balancer@eth', false],
  [`pool:${balancerId}@base`, true],
  [`pool:0x${'ab'.repeat(20)}@base`, true],
  ['token:0x02@base', true],
  ['token:0x03@base', false],
] as const)('%s keeps a pool of Balancer on base out of routes: %s', ([scope, expected]) => {
  expect(isPoolPause(scope)).toBe(true)
  expect(isPaused(pool, poolPausesOf([scope, 'network:base', 'all'], 'base'))).toBe(expected)
})

test('scopes of payments are no pauses of pools', () => {
  for (const scope of ['all', 'network:base', 'payouts:all', 'asset:usdt@eth', 'partner:7'])
    expect(isPoolPause(scope)).toBe(false)
})
