import { type Hex, parseTransaction } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LOCK_MS, NATIVE, type Stage, sendBodyOf, sign, startStage } from './partner.ts'

// A swap is accepted only as it was built: its terms and its route.

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
}, LOCK_MS)
afterAll(() => stage?.scenario.stop())

const trade = () => ({
  ...{ fromTokenAddress: NATIVE, toTokenAddress: stage.token('usdc'), amount: '1', slippage: '1', referrerFee: '0.5' },
})

/** Replaces one hex digit, counted from the end. */
function changeDigit(data: Hex, place: number): Hex {
  const at = data.length - place
  const digit = ((Number.parseInt(data.charAt(at), 16) + 1) % 16).toString(16)
  return `${data.slice(0, at)}${digit}${data.slice(at + 1)}` as Hex
}

test('D10: a swap with one changed digit of its route is rejected, with and without isExchange', async () => {
  const user = await stage.user()
  const { body } = await stage.build({ ...trade(), account: user.address })
  const [raw = ''] = body as string[]
  const { data = '0x' } = parseTransaction(raw as Hex)
  const sendBody = sendBodyOf(stage, user, trade(), '2000')
  const send = (rawTx: string, isExchange: boolean) =>
    stage.scenario.call('POST', '/v1/defi/send/swap', { ...sendBody, rawTx, isExchange })
  // The last digit of a pool's address; the share, the step and the last token before it.
  for (const place of [1, 41, 51, 57, 64, 65])
    for (const isExchange of [true, false]) {
      const rawTx = await sign(user, raw, { data: changeDigit(data, place) })
      expect([place, (await send(rawTx, isExchange)).body]).toMatchObject([
        place,
        { statusCode: 400, code: 'RAW_TX_INVALID' },
      ])
    }
  expect((await stage.list()).total).toBe(0)
  // The wallet may choose gas limit and gas price.
  const { gas = 0n, maxFeePerGas = 0n } = parseTransaction(raw as Hex)
  const own = await sign(user, raw, { gas: gas + 1_000n, maxFeePerGas: maxFeePerGas + 1n })
  expect((await send(own, true)).status).toBe(201)
})

test('a malformed hash and an unknown hash get different messages', async () => {
  const user = await stage.user()
  const refuse = async (hash: string) =>
    (await stage.scenario.call('POST', '/v1/defi/send/swap', { ...sendBodyOf(stage, user, trade(), '2000'), hash }))
      .body
  const malformed = { statusCode: 400, code: 'VALIDATION_ERROR', errors: [{ field: 'hash' }] }
  for (const hash of ['0x12', '12', `0x${'g'.repeat(64)}`])
    expect(await refuse(hash)).toMatchObject({
      ...malformed,
      message: expect.stringContaining('64 hexadecimal digits'),
    })
  // The gossip may be slower than the wallet's report: retry.
  expect(await refuse(`0x${'1'.repeat(64)}`)).toMatchObject({
    ...{ statusCode: 503, code: 'NETWORK_UNAVAILABLE', errors: [{ field: 'hash' }] },
    message: expect.stringContaining('no node knows'),
  })
})
