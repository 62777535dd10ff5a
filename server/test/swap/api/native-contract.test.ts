import { type Hex, parseTransaction } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../../../../test/support/scenario.ts'
import { LOCK_MS, NATIVE, type Stage, startStage, trade } from './partner.ts'

// Polygon's native currency has a contract (0x…1010), which token lists name as a token. It cannot be approved or pulled.

const NATIVE_CONTRACT = '0x0000000000000000000000000000000000001010'
let stage: Stage
beforeAll(async () => {
  stage = await startStage('matic')
}, LOCK_MS)
afterAll(() => stage?.scenario.stop())

const info = (address: string) =>
  stage.scenario.call('GET', `/v1/defi/currency/info?${new URLSearchParams({ network: 'matic', address })}`)
const request = (fromTokenAddress: string, toTokenAddress: string) => ({
  ...{ fromTokenAddress, toTokenAddress, amount: '1', slippage: '1', referrerFee: '0' },
})

describe('the contract of the native currency', () => {
  test('is another address of the native currency', async () => {
    expect((await info(NATIVE_CONTRACT)).body).toMatchObject({
      address: NATIVE,
      symbol: 'POL',
      decimals: 18,
      enabled: true,
    })
    const { body } = await stage.quote(request(NATIVE, NATIVE_CONTRACT))
    expect(body).toMatchObject({ statusCode: 400, code: 'SAME_CURRENCY' })
  })

  test('is swapped with a value and without an approval', async () => {
    const user = await stage.user()
    const { raws, hash } = await trade(stage, user, request(NATIVE_CONTRACT, stage.token('usdc')))
    expect(raws).toHaveLength(1)
    expect(parseTransaction(raws[0] as Hex).value).toBe(10n ** 18n)
    expect((await stage.becomes(hash, 'finished')).fromTokenAddress).toBe(NATIVE)
  })

  test('is not listed, and not accepted as an account', async () => {
    const { body } = await stage.scenario.call('GET', '/v1/defi/available-currencies?network=matic&limit=500')
    expect(body.map((one: Json) => one.address)).not.toContain(NATIVE_CONTRACT)
    const built = await stage.build({ ...request(NATIVE, stage.token('usdc')), account: NATIVE_CONTRACT })
    expect(built.body).toMatchObject({ statusCode: 400, code: 'INVALID_ADDRESS', errors: [{ field: 'account' }] })
  })
})

test('a reserved address is valid but is neither a token nor an account', async () => {
  for (const number of [0xaa, 0x01, 0xdead]) {
    const address = `0x${number.toString(16).padStart(40, '0')}`
    expect((await info(address)).body).toMatchObject({ statusCode: 404, code: 'TOKEN_NOT_FOUND' })
    const { body } = await stage.quote(request(NATIVE, address))
    expect(body).toMatchObject({ statusCode: 404, code: 'TOKEN_NOT_FOUND' })
    const built = await stage.build({ ...request(NATIVE, stage.token('usdc')), account: address })
    expect(built.body).toMatchObject({ statusCode: 400, code: 'INVALID_ADDRESS' })
  }
})
