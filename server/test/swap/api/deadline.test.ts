import { swapRouter } from '@swapyard/contracts'
import { decodeFunctionData, type Hex, parseTransaction } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LOCK_MS, NATIVE, type Stage, sendBodyOf, sign, startStage, trade } from './partner.ts'

const NETWORK = 'arbitrum'
let stage: Stage
beforeAll(async () => {
  stage = await startStage(NETWORK, { swaps: { deadlineMs: 8_000, droppedMs: 15_000 } })
}, LOCK_MS)
afterAll(() => stage.scenario.stop())

test('the tracker does not broadcast a swap after its deadline, when it could only cost gas', async () => {
  const { scenario } = stage
  const user = await stage.user()
  const order = { fromTokenAddress: NATIVE, toTokenAddress: stage.token('usdc'), amount: '1' }
  const request = { ...order, slippage: '1', referrerFee: '0' }
  await scenario.stopWorkers()
  await scenario.setMiningPaused(NETWORK, true)
  try {
    const built = await stage.build({ ...request, account: user.address })
    const rawTx = await sign(user, built.body[0])
    const sent = await scenario.call('POST', '/v1/defi/send/swap', {
      ...sendBodyOf(stage, user, request, '2000'),
      rawTx,
    })
    const hash: string = JSON.parse(sent.body)
    // The state after a crash between the insert and the broadcast.
    await stage.rpc('anvil_dropTransaction', hash)
    const [row] = await scenario.app.database.query<{ expires_at: string }>(
      'update swaps set raw = $2, next_check_at = clock_timestamp() where hash = $1 returning expires_at',
      [hash, rawTx],
    )
    await scenario.until('its deadline is over', async () => Date.now() > (Number(row?.expires_at) + 1) * 1000)
    await scenario.startWorkers()
    expect(await stage.becomes(hash, 'failed')).toMatchObject({ statusReason: 'dropped' })
    expect(await stage.rpc('eth_getTransactionByHash', hash)).toBeNull()
  } finally {
    await scenario.setMiningPaused(NETWORK, false)
  }
  expect(await stage.client.getTransactionCount({ address: user.address })).toBe(0)
})

test('a repeat of a sent swap is accepted after its deadline', async () => {
  const { scenario } = stage
  const user = await stage.user()
  const order = { fromTokenAddress: NATIVE, toTokenAddress: stage.token('usdc'), amount: '1' }
  const { hash, body, raws } = await trade(stage, user, { ...order, slippage: '1', referrerFee: '0' })
  const { data = '0x' } = parseTransaction(raws[0] as Hex)
  const { args } = decodeFunctionData({ abi: swapRouter.abi, data })
  const { deadline } = args[0] as { deadline: bigint }
  await stage.becomes(hash, 'finished')
  await scenario.until('its deadline is over', async () => Date.now() > Number(deadline + 1n) * 1000)
  expect(await scenario.call('POST', '/v1/defi/send/swap', body)).toMatchObject({
    status: 201,
    body: JSON.stringify(hash),
  })
  // A swap that was never sent is rejected after its deadline.
  const late = await sign(user, raws[0] ?? '', { nonce: 1 })
  const refused = await scenario.call('POST', '/v1/defi/send/swap', { ...body, rawTx: late })
  expect(refused.body).toMatchObject({ statusCode: 400, code: 'RAW_TX_INVALID' })
})
