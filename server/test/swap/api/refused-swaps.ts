import { swapRouter } from '@swapyard/contracts'
import { decodeFunctionData, encodeFunctionData, type Hex, parseTransaction } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { NATIVE, type Stage, sendBodyOf, sign } from './partner.ts'

export const nativeForToken = (stage: Stage) => ({
  ...{ fromTokenAddress: NATIVE, toTokenAddress: stage.token('usdc'), amount: '1', slippage: '1', referrerFee: '0.5' },
})
/** The body of the send request of that trade. */
export const sendBody = (stage: Stage, account: PrivateKeyAccount) =>
  sendBodyOf(stage, account, nativeForToken(stage), '2000')

export async function buildSwap(stage: Stage, account: PrivateKeyAccount): Promise<string> {
  const { body } = await stage.build({ ...nativeForToken(stage), account: account.address })
  return body[0]
}

const stranger = '0x00000000000000000000000000000000DeaDBeef'
const tampering = {
  minimum: { minOut: 1n },
  recipient: { recipient: stranger },
  fee: { feePpm: 50_000n },
  'fee recipient': { feeTo: stranger },
  executor: { executor: stranger },
  deadline: { deadline: 4_000_000_000n },
}

/** Calldata of the same transaction with changed parameters of the order. */
function tamperWith(raw: string, changes: Readonly<Record<string, unknown>>): Hex {
  const { data = '0x' } = parseTransaction(raw as Hex)
  const { args } = decodeFunctionData({ abi: swapRouter.abi, data })
  const [order, route] = args as unknown as [Record<string, unknown>, readonly bigint[]]
  return encodeFunctionData({
    abi: swapRouter.abi,
    functionName: 'swap',
    args: [{ ...order, ...changes }, route] as never,
  })
}

/** Other terms, another chain (B144), no valid signature, another contract. */
export async function refusesTamperedSwaps(stage: Stage): Promise<void> {
  const user = await stage.user()
  const raw = await buildSwap(stage, user)
  for (const [what, changes] of Object.entries(tampering)) {
    const rawTx = await sign(user, raw, { data: tamperWith(raw, changes) })
    const { body } = await stage.send({ ...sendBody(stage, user), rawTx })
    expect(body, what).toMatchObject({ statusCode: 400, code: 'RAW_TX_INVALID' })
  }
  const refused = async (rawTx: string) => (await stage.send({ ...sendBody(stage, user), rawTx })).body.code
  expect(await refused(await sign(user, raw, { chainId: 1 }))).toBe('TX_CHAIN_MISMATCH')
  expect(await refused(raw)).toBe('RAW_TX_INVALID')
  expect(await refused((await sign(user, raw)).slice(0, -2))).toBe('RAW_TX_INVALID')
  expect(await refused('hello')).toBe('RAW_TX_INVALID')
  expect(await refused(await sign(user, raw, { to: stage.token('usdc') }))).toBe('RAW_TX_INVALID')
  expect((await stage.rows()).filter(({ addressFrom }) => addressFrom === user.address)).toEqual([])
}

/** Only our router can be approved (B146), and an approval is no swap (B159). Other transactions are sent by `isExchange: false`, without a record. */
export async function onlyApprovesOurRouter(stage: Stage): Promise<void> {
  const user = await stage.user({ usdc: '10' })
  const sides = { fromTokenAddress: stage.token('usdc'), toTokenAddress: NATIVE, amount: '10' }
  const { body } = await stage.build({ ...nativeForToken(stage), ...sides, account: user.address })
  const { data = '0x' } = parseTransaction(body[0] as Hex)
  const other = `${data.slice(0, 34)}${'00'.repeat(16)}deadbeef${data.slice(74)}` as Hex
  const theirs = await sign(user, body[0], { data: other })
  expect((await stage.approve(theirs)).body).toMatchObject({ statusCode: 400, code: 'RAW_TX_INVALID' })
  const send = async (rawTx: Hex, isExchange?: false) =>
    stage.send({ ...sendBody(stage, user), rawTx, ...(isExchange === undefined ? {} : { isExchange }) })
  expect((await send(theirs, false)).body.code).toBe('RAW_TX_INVALID')
  expect((await stage.approve(await sign(user, body[0], { chainId: 1 }))).body.code).toBe('TX_CHAIN_MISMATCH')
  expect((await stage.approve(await sign(user, body[1]))).body.code).toBe('RAW_TX_INVALID')

  const before = (await stage.rows()).length
  const rawTx = await sign(user, body[0])
  expect((await send(rawTx)).body.code).toBe('RAW_TX_INVALID')
  const sent = await send(rawTx, false)
  expect(sent.status).toBe(201)
  await stage.scenario.mine(stage.network, 1)
  expect((await stage.client.getTransactionReceipt({ hash: JSON.parse(sent.body) })).status).toBe('success')
  expect(await stage.rows()).toHaveLength(before)
}
