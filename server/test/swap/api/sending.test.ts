import { swapRouter } from '@swapyard/contracts'
import { decodeFunctionData, encodeFunctionData, type Hex, parseTransaction } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { erc20, LOCK_MS, NATIVE, type Stage, sending, sign, startStage } from './partner.ts'

let stage: Stage
let usdc: string
beforeAll(async () => {
  stage = await startStage()
  usdc = stage.token('usdc')
}, LOCK_MS)
afterAll(() => stage.world.stop())

const trade = () => ({
  ...{ fromTokenAddress: NATIVE, toTokenAddress: usdc, amount: '1', slippage: '1', referrerFee: '0.5' },
})
const send = (body: object, headers: Record<string, string> = {}) =>
  stage.world.call('POST', '/v1/defi/send/swap', body, headers)

async function built(account: PrivateKeyAccount): Promise<string> {
  const { body } = await stage.build({ ...trade(), account: account.address })
  return body[0]
}
const bodyOf = (account: PrivateKeyAccount) => sending(stage, account, trade(), '2000')

type Call = { order: Record<string, unknown>; route: readonly bigint[] }

/** The same transaction with something changed in what it asks of the router. */
async function tampered(account: PrivateKeyAccount, changes: Readonly<Record<string, unknown>>): Promise<Hex> {
  const raw = await built(account)
  const { data = '0x' } = parseTransaction(raw as Hex)
  const { args } = decodeFunctionData({ abi: swapRouter.abi, data })
  const [order, route] = args as unknown as [Call['order'], Call['route']]
  const changed = encodeFunctionData({
    abi: swapRouter.abi,
    functionName: 'swap',
    args: [{ ...order, ...changes }, route] as never,
  })
  return sign(account, raw, { data: changed })
}

describe('a swap is refused', () => {
  test.for([
    ['its minimum', { minOut: 1n }],
    ['its recipient', { recipient: '0x00000000000000000000000000000000DeaDBeef' }],
    ['its fee', { feePpm: 50_000n }],
    ['whom the fee goes to', { feeTo: '0x00000000000000000000000000000000DeaDBeef' }],
    ['its executor', { executor: '0x00000000000000000000000000000000DeaDBeef' }],
    ['its deadline', { deadline: 4_000_000_000n }],
  ] as const)('where somebody changed %s', async ([, changes]) => {
    const user = await stage.user()
    const { body } = await send({ ...bodyOf(user), rawTx: await tampered(user, changes) })
    expect(body).toMatchObject({ statusCode: 400, code: 'RAW_TX_INVALID' })
    expect(
      (await stage.list()).exchanges.filter((one: { addressFrom: string }) => one.addressFrom === user.address),
    ).toEqual([])
  })

  test('for another chain, unsigned, cut short, or of another contract', async () => {
    const user = await stage.user()
    const raw = await built(user)
    const refused = async (rawTx: string) => (await send({ ...bodyOf(user), rawTx })).body.code
    expect(await refused(await sign(user, raw, { chainId: 1 }))).toBe('TX_CHAIN_MISMATCH')
    expect(await refused(raw)).toBe('RAW_TX_INVALID')
    expect(await refused((await sign(user, raw)).slice(0, -2))).toBe('RAW_TX_INVALID')
    expect(await refused('hello')).toBe('RAW_TX_INVALID')
    expect(await refused(await sign(user, raw, { to: usdc }))).toBe('RAW_TX_INVALID')
  })

  test('where what is said of it is not what it does', async () => {
    const user = await stage.user()
    const rawTx = await sign(user, await built(user))
    const refused = async (changes: object) => (await send({ ...bodyOf(user), rawTx, ...changes })).body
    const other = '0x00000000000000000000000000000000DeaDBeef'
    for (const [field, value] of Object.entries({
      account: other,
      to: other,
      amountFrom: '1.1',
      toTokenAddress: stage.token('dai'),
      commissionPercentage: '0.4',
    }))
      expect(await refused({ [field]: value })).toMatchObject({
        ...{ code: 'VALIDATION_ERROR', errors: [{ code: 'RAW_TX_INVALID', field }] },
      })
    expect(await refused({ hash: `0x${'1'.repeat(64)}` })).toMatchObject({
      ...{ code: 'VALIDATION_ERROR', errors: [{ code: 'RAW_TX_INVALID', field: 'hash' }] },
    })
    expect((await refused({ amountFrom: '0x1' })).code).toBe('VALIDATION_ERROR')
  })

  test('without rawTx and hash, and by the hash of nothing', async () => {
    const user = await stage.user()
    expect((await send(bodyOf(user))).body).toMatchObject({ statusCode: 400, code: 'VALIDATION_ERROR' })
    expect((await send({ ...bodyOf(user), hash: `0x${'1'.repeat(64)}` })).body).toMatchObject({ statusCode: 400 })
  })

  test('of another partner', async () => {
    const user = await stage.user()
    const rawTx = await sign(user, await built(user))
    const other = await send({ ...bodyOf(user), rawTx }, { 'x-api-key': 'sandbox-b' })
    expect(other.body).toMatchObject({ statusCode: 400, code: 'RAW_TX_INVALID' })
    const own = await send({ ...bodyOf(user), rawTx })
    expect(own.status).toBe(201)
    const again = await send({ ...bodyOf(user), rawTx }, { 'x-api-key': 'sandbox-b' })
    expect(again.status).toBe(400)
    expect(await stage.list('', { 'x-api-key': 'sandbox-b' })).toEqual({ total: 0, exchanges: [] })
  })

  test('whose nonce is used, or whose account is empty', async () => {
    const user = await stage.user()
    const raw = await built(user)
    const first = await sign(user, raw)
    const second = await sign(user, await built(user))
    expect((await send({ ...bodyOf(user), rawTx: first })).status).toBe(201)
    await stage.world.mine('eth', 1)
    const late = await send({ ...bodyOf(user), rawTx: second })
    expect(late.body).toMatchObject({ statusCode: 409, code: 'NONCE_CONFLICT' })
    const row = (await stage.list()).exchanges.find(
      (one: { status: string; addressFrom: string }) => one.addressFrom === user.address && one.status === 'failed',
    )
    expect(row).toMatchObject({ statusReason: 'rejected' })
  })
})

describe('a swap is one row', () => {
  test('however often it is sent, before and after it is mined', async () => {
    const user = await stage.user()
    const rawTx = await sign(user, await built(user))
    const answers = await Promise.all([1, 2, 3].map(() => send({ ...bodyOf(user), rawTx })))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
    const hash = JSON.parse(answers[0]?.body)
    await stage.becomes(hash, 'finished')
    expect(JSON.parse((await send({ ...bodyOf(user), rawTx })).body)).toBe(hash)
    const own = (await stage.list()).exchanges.filter((one: { hash: string }) => one.hash === hash)
    expect(own).toHaveLength(1)
    expect(own[0].status).toBe('finished')
  })

  test('that was sent by the user, and is told by its hash alone', async () => {
    const user = await stage.user()
    const serializedTransaction = await sign(user, await built(user))
    const hash = await stage.client.sendRawTransaction({ serializedTransaction })
    const told = await send({ ...bodyOf(user), hash: hash.toUpperCase().replace('0X', '0x') })
    expect(JSON.parse(told.body)).toBe(hash)
    const row = await stage.becomes(hash, 'finished')
    expect(row).toMatchObject({ addressFrom: user.address, addressTo: user.address })
    // Whoever only saw it on the chain may not claim it.
    expect((await send({ ...bodyOf(user), hash }, { 'x-api-key': 'sandbox-b' })).status).toBe(400)
  })
})

describe('what is no swap', () => {
  test('is sent by isExchange: false, and nothing is recorded', async () => {
    const user = await stage.user({ dai: '10' })
    const dai = stage.token('dai')
    const { body } = await stage.build({ ...trade(), fromTokenAddress: dai, amount: '10', account: user.address })
    const before = (await stage.list()).total
    const rawTx = await sign(user, body[0])
    expect((await send({ ...bodyOf(user), rawTx })).body.code).toBe('RAW_TX_INVALID')
    const sent = await send({ ...bodyOf(user), rawTx, isExchange: false })
    expect(sent.status).toBe(201)
    await stage.world.mine('eth', 1)
    expect((await stage.client.getTransactionReceipt({ hash: JSON.parse(sent.body) })).status).toBe('success')
    expect((await stage.list()).total).toBe(before)
  })

  test('never approves anybody else', async () => {
    const user = await stage.user({ dai: '10' })
    const { body } = await stage.build({
      ...trade(),
      fromTokenAddress: stage.token('dai'),
      amount: '10',
      account: user.address,
    })
    const { data = '0x' } = parseTransaction(body[0] as Hex)
    const other = `${data.slice(0, 34)}${'00'.repeat(16)}deadbeef${data.slice(74)}` as Hex
    const theirs = await sign(user, body[0], { data: other })
    expect((await approve(theirs)).body).toMatchObject({ statusCode: 400, code: 'RAW_TX_INVALID' })
    expect((await send({ ...bodyOf(user), rawTx: theirs, isExchange: false })).body.code).toBe('RAW_TX_INVALID')
    expect((await approve(await sign(user, body[0], { chainId: 1 }))).body.code).toBe('TX_CHAIN_MISMATCH')
    expect((await approve(await sign(user, body[1]))).body.code).toBe('RAW_TX_INVALID')
    expect((await approve(await sign(user, body[0]))).status).toBe(201)
  })

  test('never approves another amount than was built, nor in another form', async () => {
    const user = await stage.user({ dai: '10' })
    const dai = stage.token('dai')
    const { body } = await stage.build({ ...trade(), fromTokenAddress: dai, amount: '10', account: user.address })
    const exact = approvalOf(10n * 10n ** 18n)
    const refused: readonly Hex[] = [
      ...[approvalOf(2n ** 256n - 1n), approvalOf(10n * 10n ** 18n + 1n), approvalOf(1n)],
      // Trailing bytes, which contracts pass over; and other ways to the same allowance.
      ...[`${exact}00`, `0x39509351${exact.slice(10)}`, `0xd73dd623${exact.slice(10)}`, `0xa22cb465${exact.slice(10)}`],
    ] as Hex[]
    for (const data of refused) {
      const raw = await sign(user, body[0], { data })
      expect((await approve(raw)).body, data).toMatchObject({ statusCode: 400, code: 'RAW_TX_INVALID' })
      expect((await send({ ...bodyOf(user), rawTx: raw, isExchange: false })).body.code, data).toBe('RAW_TX_INVALID')
    }
    const raw = await sign(user, body[0])
    expect((await approve(raw, { 'x-api-key': 'sandbox-b' })).body.code).toBe('RAW_TX_INVALID')
    // Of another token, as much.
    expect((await approve(await sign(user, body[0], { to: usdc }))).body.code).toBe('RAW_TX_INVALID')
    const allowance = () =>
      stage.client.readContract({
        ...{ address: dai, abi: erc20, functionName: 'allowance' },
        args: [user.address, stage.router],
      })
    expect(await allowance()).toBe(0n)
    expect((await approve(raw)).status).toBe(201)
    await stage.world.mine('eth', 1)
    expect(await allowance()).toBe(10n * 10n ** 18n)
    // To take it back needs nobody's leave.
    expect((await approve(await sign(user, body[0], { data: approvalOf(0n), nonce: 1 }))).status).toBe(201)
    await stage.world.mine('eth', 1)
    expect(await allowance()).toBe(0n)
  })
})

const approve = (rawApproveTx: string, headers: Record<string, string> = {}) =>
  stage.world.call('POST', '/v1/defi/send/approve', { network: 'eth', rawApproveTx }, headers)
const approvalOf = (units: bigint) =>
  encodeFunctionData({ abi: erc20, functionName: 'approve', args: [stage.router, units] })
