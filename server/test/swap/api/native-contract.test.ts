import { type Hex, parseTransaction } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../../../../test/support/scenario.ts'
import { LOCK_MS, NATIVE, type Stage, startStage, trade } from './partner.ts'

// Polygon's coin has a contract (0x…1010), which lists name as a token. Nobody can approve it or pay by it: it is the coin.

const COIN = '0x0000000000000000000000000000000000001010'
let stage: Stage
beforeAll(async () => {
  stage = await startStage('matic')
}, LOCK_MS)
afterAll(() => stage?.scenario.stop())

const info = (address: string) =>
  stage.scenario.call('GET', `/v1/defi/currency/info?${new URLSearchParams({ network: 'matic', address })}`)
const asked = (fromTokenAddress: string, toTokenAddress: string) => ({
  ...{ fromTokenAddress, toTokenAddress, amount: '1', slippage: '1', referrerFee: '0' },
})

describe('the contract of the coin', () => {
  test('is another spelling of the coin', async () => {
    expect((await info(COIN)).body).toMatchObject({ address: NATIVE, symbol: 'POL', decimals: 18, enabled: true })
    const { body } = await stage.quote(asked(NATIVE, COIN))
    expect(body).toMatchObject({ statusCode: 400, code: 'SAME_CURRENCY' })
  })

  test('is swapped as the coin is: with a value, and without an approval', async () => {
    const user = await stage.user()
    const { raws, hash } = await trade(stage, user, asked(COIN, stage.token('usdc')))
    expect(raws).toHaveLength(1)
    expect(parseTransaction(raws[0] as Hex).value).toBe(10n ** 18n)
    expect((await stage.becomes(hash, 'finished')).fromTokenAddress).toBe(NATIVE)
  })

  test('is in no list, and nobody’s account', async () => {
    const { body } = await stage.scenario.call('GET', '/v1/defi/available-currencies?network=matic&limit=500')
    expect(body.map((one: Json) => one.address)).not.toContain(COIN)
    const built = await stage.build({ ...asked(NATIVE, stage.token('usdc')), account: COIN })
    expect(built.body).toMatchObject({ statusCode: 400, code: 'INVALID_ADDRESS', errors: [{ field: 'account' }] })
  })
})

test('an address where chains have what is their own is an address, and no token', async () => {
  for (const address of [`0x${'0'.repeat(38)}aa`, `0x${'0'.repeat(38)}01`, `0x${'0'.repeat(36)}dead`]) {
    expect((await info(address)).body).toMatchObject({ statusCode: 404, code: 'TOKEN_NOT_FOUND' })
    const { body } = await stage.quote(asked(NATIVE, address))
    expect(body).toMatchObject({ statusCode: 404, code: 'TOKEN_NOT_FOUND' })
    const built = await stage.build({ ...asked(NATIVE, stage.token('usdc')), account: address })
    expect(built.body).toMatchObject({ statusCode: 400, code: 'INVALID_ADDRESS' })
  }
})
