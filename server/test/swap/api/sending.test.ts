import { encodeFunctionData, formatUnits, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { erc20, LOCK_MS, NATIVE, type Stage, sign, startStage, trade } from './partner.ts'
import { buildSwap, nativeForToken, sendBody } from './refused-swaps.ts'

let stage: Stage
let usdc: string
beforeAll(async () => {
  stage = await startStage()
  usdc = stage.token('usdc')
}, LOCK_MS)
afterAll(() => stage.scenario.stop())

describe('a swap is rejected', () => {
  test('if the request contradicts the transaction (B152, B161)', async () => {
    const user = await stage.user()
    const rawTx = await sign(user, await buildSwap(stage, user))
    const refused = async (changes: object) => (await stage.send({ ...sendBody(stage, user), rawTx, ...changes })).body
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

  test('without rawTx and hash, and with an unknown hash (B151)', async () => {
    const user = await stage.user()
    expect((await stage.send(sendBody(stage, user))).body).toMatchObject({ statusCode: 400, code: 'VALIDATION_ERROR' })
    expect((await stage.send({ ...sendBody(stage, user), hash: `0x${'1'.repeat(64)}` })).body).toMatchObject({
      statusCode: 503,
    })
  })

  test('if it was built for another partner', async () => {
    const user = await stage.user()
    const rawTx = await sign(user, await buildSwap(stage, user))
    const other = await stage.send({ ...sendBody(stage, user), rawTx }, { 'x-api-key': 'sandbox-b' })
    expect(other.body).toMatchObject({ statusCode: 400, code: 'RAW_TX_INVALID' })
    const own = await stage.send({ ...sendBody(stage, user), rawTx })
    expect(own.status).toBe(201)
    const again = await stage.send({ ...sendBody(stage, user), rawTx }, { 'x-api-key': 'sandbox-b' })
    expect(again.status).toBe(400)
    expect(await stage.list('', { 'x-api-key': 'sandbox-b' })).toEqual({ total: 0, exchanges: [] })
  })
})

describe('a partner swaps', () => {
  test('for another recipient, who alone is paid', async () => {
    const [user, other] = [await stage.user(), await stage.user()]
    const built = await stage.build({ ...nativeForToken(stage), account: user.address, recipient: other.address })
    expect(built.status).toBe(201)
    const rawTx = await sign(user, built.body[0])
    const body = { ...sendBody(stage, user), rawTx }
    // The receiver of the request is the recipient in the transaction.
    expect((await stage.send(body)).body).toMatchObject({ errors: [{ code: 'RAW_TX_INVALID', field: 'account' }] })
    const sent = await stage.send({ ...body, account: other.address })
    expect(sent.status).toBe(201)
    const finished = await stage.becomes(JSON.parse(sent.body), 'finished')
    expect(finished).toMatchObject({ addressFrom: user.address, addressTo: other.address })
    expect(formatUnits(await stage.balance(usdc, other.address), 6)).toBe(String(finished.amountTo))
    expect(await stage.balance(usdc, user.address)).toBe(0n)
  })

  test('and pays the fee to the partner’s own address', async () => {
    const user = await stage.user()
    const usdt = stage.token('usdt')
    const mine = (await stage.user()).address
    const { database } = stage.scenario.app
    await database.query(
      "insert into fee_addresses (partner_id, network, address) select id, 'eth', $1 from partners where name = 'sandbox'",
      [mine],
    )
    const request = { fromTokenAddress: NATIVE, toTokenAddress: usdt, amount: '2', slippage: '1', referrerFee: '5' }
    const { quote, hash } = await trade(stage, user, request)
    await stage.becomes(hash, 'finished')
    expect(await stage.balance(usdt, mine)).toBe(BigInt(quote.toAmountRaw) - BigInt(quote.receivedAmountRaw))
    await database.query("delete from fee_addresses where network = 'eth'")
  })

  test('native currency for its wrapped token and back, one to one except for the fee', async () => {
    const user = await stage.user()
    const wrapped = stage.wrapped
    const wrap = { fromTokenAddress: NATIVE, toTokenAddress: wrapped, amount: '2', slippage: '0.01', referrerFee: '1' }
    const { quote, raws, hash } = await trade(stage, user, wrap)
    expect(raws).toHaveLength(1)
    expect(quote).toMatchObject({ toAmount: '2', receivedAmount: '1.98', fee: '0.02', priceImpact: '0' })
    expect(quote.routes).toHaveLength(1)
    expect(quote.routes[0].subRoutes[0].dexes).toMatchObject([{ percentage: 100, fee: 0 }])
    expect(await stage.becomes(hash, 'finished')).toMatchObject({ amountFrom: '2', amountTo: '1.98' })
    expect(await stage.balance(wrapped, user.address)).toBe(1_980_000_000_000_000_000n)

    const unwrap = {
      fromTokenAddress: wrapped,
      toTokenAddress: NATIVE,
      amount: '1.98',
      slippage: '0.01',
      referrerFee: '0',
    }
    const returned = await trade(stage, user, unwrap)
    expect(returned.raws).toHaveLength(2)
    expect(returned.quote).toMatchObject({ toAmount: '1.98', receivedAmount: '1.98', fee: '0' })
    expect(await stage.becomes(returned.hash, 'finished')).toMatchObject({ amountTo: '1.98' })
    expect(await stage.balance(wrapped, user.address)).toBe(0n)
  })
})

describe('an approval', () => {
  test('is accepted only with the built amount and form', async () => {
    const user = await stage.user({ dai: '10' })
    const dai = stage.token('dai')
    const { body } = await stage.build({
      ...nativeForToken(stage),
      fromTokenAddress: dai,
      amount: '10',
      account: user.address,
    })
    const exact = approvalOf(10n * 10n ** 18n)
    const refused: readonly Hex[] = [
      ...[approvalOf(2n ** 256n - 1n), approvalOf(10n * 10n ** 18n + 1n), approvalOf(1n)],
      // Trailing bytes, which contracts ignore; and other functions that grant an allowance.
      ...[`${exact}00`, `0x39509351${exact.slice(10)}`, `0xd73dd623${exact.slice(10)}`, `0xa22cb465${exact.slice(10)}`],
    ] as Hex[]
    for (const data of refused) {
      const raw = await sign(user, body[0], { data })
      expect((await stage.approve(raw)).body, data).toMatchObject({ statusCode: 400, code: 'RAW_TX_INVALID' })
      expect((await stage.send({ ...sendBody(stage, user), rawTx: raw, isExchange: false })).body.code, data).toBe(
        'RAW_TX_INVALID',
      )
    }
    const raw = await sign(user, body[0])
    expect((await stage.approve(raw, { 'x-api-key': 'sandbox-b' })).body.code).toBe('RAW_TX_INVALID')
    // The same amount of another token.
    expect((await stage.approve(await sign(user, body[0], { to: usdc }))).body.code).toBe('RAW_TX_INVALID')
    const allowance = () =>
      stage.client.readContract({
        ...{ address: dai, abi: erc20, functionName: 'allowance' },
        args: [user.address, stage.router],
      })
    expect(await allowance()).toBe(0n)
    expect((await stage.approve(raw)).status).toBe(201)
    await stage.scenario.mine('eth', 1)
    expect(await allowance()).toBe(10n * 10n ** 18n)
    // A revocation is always allowed.
    expect((await stage.approve(await sign(user, body[0], { data: approvalOf(0n), nonce: 1 }))).status).toBe(201)
    await stage.scenario.mine('eth', 1)
    expect(await allowance()).toBe(0n)
  })
})

const approvalOf = (units: bigint) =>
  encodeFunctionData({ abi: erc20, functionName: 'approve', args: [stage.router, units] })
