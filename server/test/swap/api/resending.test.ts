import { swapExecutor } from '@swapyard/contracts'
import { keccak256 } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LOCK_MS, NATIVE, type Stage, sendBodyOf, sign, startStage, trade } from './partner.ts'

const NETWORK = 'op'
const DROPPED_MS = 6_000
const [before, after] = [`0x${'b1'.repeat(20)}`, `0x${'b2'.repeat(20)}`]
/** The operator's fee addresses, which the tests change. */
const feeAddresses = new Map([[NETWORK, before]])

let stage: Stage
let usdc: string
beforeAll(async () => {
  stage = await startStage(NETWORK, { swaps: { droppedMs: DROPPED_MS, feeAddresses } })
  usdc = stage.token('usdc')
}, LOCK_MS)
afterAll(() => stage.scenario.stop())

const request = (changes: Readonly<Record<string, string>> = {}) => ({
  ...{ fromTokenAddress: NATIVE, toTokenAddress: usdc, amount: '1', slippage: '1', referrerFee: '0.5' },
  ...changes,
})
const send = (body: object) => stage.scenario.call('POST', '/v1/defi/send/swap', body)
const readTransaction = (hash: string) => stage.rpc<object | null>('eth_getTransactionByHash', hash)

async function withoutMining<T>(work: () => Promise<T>): Promise<T> {
  await stage.scenario.setMiningPaused(NETWORK, true)
  try {
    return await work()
  } finally {
    await stage.scenario.setMiningPaused(NETWORK, false)
  }
}

describe('a swap that nodes dropped', () => {
  test('is broadcast again when it is sent again, before and after it counts as dropped', async () => {
    const user = await stage.user()
    await withoutMining(async () => {
      const { hash, body } = await trade(stage, user, request())
      await stage.becomes(hash, 'pending')
      for (const status of ['pending', 'failed']) {
        await stage.rpc('anvil_dropTransaction', hash)
        await stage.becomes(hash, status)
        expect(await readTransaction(hash)).toBeNull()
        expect((await send(body)).status).toBe(201)
        expect(await readTransaction(hash), `sent again while ${status}`).not.toBeNull()
      }
      await stage.scenario.setMiningPaused(NETWORK, false)
      expect(await stage.becomes(hash, 'finished')).toMatchObject({ statusReason: null })
    })
  })

  test('is rejected if another transaction used its nonce', async () => {
    const user = await stage.user()
    await withoutMining(async () => {
      const { hash, body } = await trade(stage, user, request())
      await stage.becomes(hash, 'pending')
      await stage.rpc('anvil_dropTransaction', hash)
      const gas = { gas: 21_000n, gasPrice: await stage.client.getGasPrice() }
      const own = { to: user.address, nonce: 0, chainId: stage.chainId, type: 'legacy', ...gas } as const
      await stage.client.sendRawTransaction({ serializedTransaction: await user.signTransaction(own) })
      await stage.scenario.mine(NETWORK, 12)
      await stage.becomes(hash, 'failed')
      expect((await send(body)).body).toMatchObject({ statusCode: 409, code: 'NONCE_CONFLICT' })
    })
  })
})

test('a refused swap that is mined nevertheless counts, and so does its fee', async () => {
  const user = await stage.user()
  const built = await stage.build({ ...request(), account: user.address })
  const rawTx = await sign(user, built.body[0])
  const hash = keccak256(rawTx)
  await stage.rpc('anvil_setBalance', user.address, '0x0')
  const refused = await send({ ...sendBodyOf(stage, user, request(), '2000'), rawTx })
  expect(refused.body).toMatchObject({ statusCode: 422, code: 'INSUFFICIENT_BALANCE' })
  expect(await stage.becomes(hash, 'failed')).toMatchObject({ statusReason: 'rejected' })
  await stage.rpc('anvil_setBalance', user.address, `0x${(5n * 10n ** 18n).toString(16)}`)
  // The user's wallet broadcasts it.
  await stage.client.sendRawTransaction({ serializedTransaction: rawTx })
  expect(await stage.becomes(hash, 'finished')).toMatchObject({ statusReason: null })
  await stage.scenario.checkInvariants()
})

describe('fees', () => {
  test('are booked at the fee address of the build, even if the setting changes before the send', async () => {
    const user = await stage.user()
    const built = await stage.build({ ...request(), account: user.address })
    feeAddresses.set(NETWORK, after)
    const rawTx = await sign(user, built.body[0])
    const sent = await send({ ...sendBodyOf(stage, user, request(), '2000'), rawTx })
    const { id } = await stage.becomes(JSON.parse(sent.body), 'finished')
    const entries = await stage.scenario.app.database.query<{ debit: string }>(
      "select p.debit from postings p where p.journal_id = 'swap:' || $1 || ':fee:1'",
      [id],
    )
    expect(entries).toEqual([{ debit: `asset:fees:${before}` }])
    await stage.scenario.checkInvariants()
  })

  test('cannot go to our contracts, from which anyone could withdraw them', async () => {
    const user = await stage.user()
    for (const address of [swapExecutor.address, stage.router]) {
      feeAddresses.set(NETWORK, address)
      const { body } = await stage.build({ ...request(), account: user.address })
      expect(body).toMatchObject({ statusCode: 400, code: 'REFERRER_FEE_OUT_OF_RANGE' })
    }
    feeAddresses.set(NETWORK, after)
  })
})

test('a swap with a minimum output of 0 is rejected', async () => {
  const user = await stage.user()
  const order = request({ amount: '0.0000000004', slippage: '50', referrerFee: '0' })
  const { body } = await stage.build({ ...order, account: user.address })
  expect(body).toMatchObject({ statusCode: 422, code: 'AMOUNT_BELOW_MIN', errors: [{ field: 'amount' }] })
})
