import { type Hex, parseTransaction } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LOCK_MS, NATIVE, type Stage, sendBodyOf, sign, startStage } from './partner.ts'

// What was built is what is taken: its terms, and the route by which they are kept.

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
}, LOCK_MS)
afterAll(() => stage?.scenario.stop())

const trade = () => ({
  ...{ fromTokenAddress: NATIVE, toTokenAddress: stage.token('usdc'), amount: '1', slippage: '1', referrerFee: '0.5' },
})

/** As hex, with the digit at a place from the end replaced by another. */
function changed(data: Hex, place: number): Hex {
  const at = data.length - place
  const digit = ((Number.parseInt(data.charAt(at), 16) + 1) % 16).toString(16)
  return `${data.slice(0, at)}${digit}${data.slice(at + 1)}` as Hex
}

test('a swap is refused where a single digit of its route is another, with and without being recorded', async () => {
  const user = await stage.user()
  const { body } = await stage.build({ ...trade(), account: user.address })
  const [raw = ''] = body as string[]
  const { data = '0x' } = parseTransaction(raw as Hex)
  const said = sendBodyOf(stage, user, trade(), '2000')
  const send = (rawTx: string, isExchange: boolean) =>
    stage.scenario.call('POST', '/v1/defi/send/swap', { ...said, rawTx, isExchange })
  // The last digit of a pool's address; the share, the step and the last token before it.
  for (const place of [1, 41, 51, 57, 64, 65])
    for (const isExchange of [true, false]) {
      const rawTx = await sign(user, raw, { data: changed(data, place) })
      expect([place, (await send(rawTx, isExchange)).body]).toMatchObject([
        place,
        { statusCode: 400, code: 'RAW_TX_INVALID' },
      ])
    }
  expect((await stage.list()).total).toBe(0)
  // Gas, and what it costs, is the wallet's to choose.
  const { gas = 0n, maxFeePerGas = 0n } = parseTransaction(raw as Hex)
  const own = await sign(user, raw, { gas: gas + 1_000n, maxFeePerGas: maxFeePerGas + 1n })
  expect((await send(own, true)).status).toBe(201)
})

test('a hash that is none is told from one that no node knows', async () => {
  const user = await stage.user()
  const told = async (hash: string) =>
    (await stage.scenario.call('POST', '/v1/defi/send/swap', { ...sendBodyOf(stage, user, trade(), '2000'), hash }))
      .body
  const malformed = { statusCode: 400, code: 'VALIDATION_ERROR', errors: [{ field: 'hash' }] }
  for (const hash of ['0x12', '12', `0x${'g'.repeat(64)}`])
    expect(await told(hash)).toMatchObject({ ...malformed, message: expect.stringContaining('64 hexadecimal digits') })
  expect(await told(`0x${'1'.repeat(64)}`)).toMatchObject({
    ...malformed,
    message: expect.stringContaining('no node knows'),
  })
})
