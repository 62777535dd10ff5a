import {
  encodeDeployData,
  encodeFunctionData,
  formatUnits,
  type Hex,
  parseTransaction,
  serializeTransaction,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RpcProxy, startRpcProxy } from '../../../../test/chaos/rpc-proxy.ts'
import { findNode } from '../../../../test/support/nodes.ts'
import type { Answer, Json } from '../../../../test/support/scenario.ts'
import { testTokens } from '../../adapters/chains/evm/tokens.ts'
import { inSwaps } from '../../core/http/bad-input-case.ts'
import { swapInputs } from '../../core/http/bad-inputs-swaps.ts'
import { erc20, LOCK_MS, NATIVE, type Stage, sign, startStage } from './partner.ts'
import { buildSwap, nativeForToken, sendBody } from './refused-swaps.ts'

/* The rows of vectors/bad_inputs.jsonl about swaps, against the real app with pools and a node. */

const testedIds: string[] = []
let stage: Stage
let proxy: RpcProxy
let usdc: Hex
beforeAll(async () => {
  proxy = await startRpcProxy(findNode('eth').rpcUrls[0] ?? '', 'evm')
  stage = await startStage('eth', { swapNodes: new Map([['eth', proxy.url]]) })
  usdc = stage.token('usdc')
}, LOCK_MS)
afterAll(async () => {
  await stage?.scenario.stop()
  await proxy?.close()
})

function testRow(id: string, name: string, run: () => Promise<void>): void {
  testedIds.push(id)
  test(`${id} ${name}`, run)
}

const ZERO = '0x0000000000000000000000000000000000000000'
const solanaMint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const upper = (address: string) => `0x${address.slice(2).toUpperCase()}`
const call = (path: string, query: Record<string, string>) =>
  stage.scenario.call('GET', `/v1/defi/${path}?${new URLSearchParams(query)}`)
const info = (address: string, network = 'eth') => call('currency/info', { network, address })
const listTokens = (query: Record<string, string>) => call('available-currencies', { network: 'eth', ...query })
const quoteRequest = () => ({ ...nativeForToken(stage), referrerFee: '0' })
const outcomeOf = ({ status, body }: Answer) => [status, body.code]

async function deployToken(owner: PrivateKeyAccount, name: string, symbol: string): Promise<Hex> {
  const { StandardToken } = await testTokens()
  const data = encodeDeployData({ ...StandardToken, args: [name, symbol, 6] })
  const raw = await owner.signTransaction({ ...ownTransaction(), nonce: 0, data, gas: 2_000_000n })
  const hash = await stage.client.sendRawTransaction({ serializedTransaction: raw })
  await stage.scenario.mine('eth', 1)
  return (await stage.client.getTransactionReceipt({ hash })).contractAddress as Hex
}

/** A transaction that the node would accept. */
const ownTransaction = () => ({
  ...{ chainId: stage.chainId, type: 'eip1559' as const, gas: 100_000n },
  ...{ maxFeePerGas: 100n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n },
})

describe('tokens', () => {
  testRow('B120', 'are found by the names of a network only', async () => {
    for (const network of ['ethereum', 'eth;', "eth'", 'eth\u0000', '../eth'])
      expect([network, (await info(usdc, network)).status]).toEqual([network, network === 'ethereum' ? 200 : 404])
    // Spaces at the ends are removed, as for every network.
    expect([200, 400, 404]).toContain((await info(usdc, 'ETH ')).status)
  })

  testRow('B121', 'of a network without swaps are 404', async () => {
    expect(outcomeOf(await info(usdc, 'btc'))).toEqual([404, 'NETWORK_NOT_FOUND'])
  })

  testRow('B122', 'are 404 for an address without code', async () => {
    expect(outcomeOf(await info((await stage.user()).address))).toEqual([404, 'TOKEN_NOT_FOUND'])
  })

  testRow('B124', 'keep markup in their names as JSON text that no browser renders', async () => {
    const name = '<img src=x onerror=alert(1)>'
    const { body, headers } = await info(await deployToken(await stage.user(), name, 'XSS'))
    expect(body).toMatchObject({ name, symbol: 'XSS', enabled: false })
    expect(headers.get('content-type')).toMatch(/^application\/json/)
  })

  testRow('B125', 'are 400 for an address of another length', async () => {
    const digits = usdc.slice(2)
    for (const address of [`0x${digits.slice(1)}`, `0x${digits}0`, `0X${digits}`, digits, `${usdc}\u200b`])
      expect([address, ...outcomeOf(await info(address))]).toEqual([address, 400, 'INVALID_ADDRESS'])
  })

  testRow('B126', 'are not listed for a wrong page', async () => {
    for (const page of ['0', '-1', '1.5', 'abc', '1e9'])
      expect([page, ...outcomeOf(await listTokens({ page }))]).toEqual([page, 400, 'VALIDATION_ERROR'])
  })

  testRow('B127', 'are not listed for a wrong page size', async () => {
    for (const limit of ['0', '501', '1000000'])
      expect([limit, ...outcomeOf(await listTokens({ limit }))]).toEqual([limit, 400, 'VALIDATION_ERROR'])
  })

  testRow('B128', 'are none beyond the last page', async () => {
    const { status, body } = await listTokens({ page: '999999' })
    expect([status, body]).toEqual([200, []])
  })
})

describe('a quote', () => {
  const expectRefused = async (changes: Record<string, string>, status: number, code: string) => {
    const answer = await stage.quote({ ...quoteRequest(), ...changes })
    expect([changes, answer.status, answer.body.errors[0].code]).toEqual([changes, status, code])
  }

  testRow('B129', 'needs two tokens, in whatever form they are written', async () => {
    for (const toTokenAddress of [NATIVE, NATIVE.toLowerCase(), ZERO])
      await expectRefused({ fromTokenAddress: NATIVE, toTokenAddress }, 400, 'SAME_CURRENCY')
    for (const toTokenAddress of [usdc.toLowerCase(), upper(usdc)])
      await expectRefused({ fromTokenAddress: usdc, toTokenAddress }, 400, 'SAME_CURRENCY')
  })

  testRow('B130', 'needs a slippage within its bounds', async () => {
    for (const slippage of ['0', '-1', '51', '100', 'NaN', '0.1%'])
      await expectRefused({ slippage }, 400, 'SLIPPAGE_OUT_OF_RANGE')
  })

  testRow('B131', 'needs a fee within its bounds', async () => {
    for (const referrerFee of ['-1', '5.01', '100'])
      await expectRefused({ referrerFee }, 400, 'REFERRER_FEE_OUT_OF_RANGE')
  })

  testRow('B132', 'is never for another contract with the symbol of a known token', async () => {
    const fake = await deployToken(await stage.user(), 'Tether USD', 'USDT')
    expect((await info(fake)).body).toMatchObject({ symbol: 'USDT', enabled: false })
    await expectRefused({ toTokenAddress: fake }, 422, 'NO_ROUTE')
    await expectRefused({ toTokenAddress: 'USDT' }, 400, 'INVALID_ADDRESS')
  })

  testRow('B135', 'is refused for an amount of 2²⁵⁶', async () => {
    const amount = String(2n ** 256n)
    await expectRefused({ amount }, 400, 'AMOUNT_MALFORMED')
    const { body } = await stage.build({ ...quoteRequest(), amount, account: (await stage.user()).address })
    expect(body).toMatchObject({ statusCode: 400, code: 'VALIDATION_ERROR' })
  })
})

describe('a build', () => {
  testRow('B137', 'is refused for an account that cannot sign', async () => {
    for (const account of [ZERO, usdc, stage.router, solanaMint, 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'])
      expect([account, ...outcomeOf(await stage.build({ ...quoteRequest(), account }))]).toEqual([
        ...[account, 400, 'INVALID_ADDRESS'],
      ])
  })

  testRow('B139', 'is refused for tokens of another family', async () => {
    const { address: account } = await stage.user()
    const built = await stage.build({ ...quoteRequest(), account, toTokenAddress: solanaMint })
    expect(outcomeOf(built)).toEqual([400, 'INVALID_ADDRESS'])
  })

  testRow('B141', 'ignores call targets that the caller names', async () => {
    const { address: account } = await stage.user()
    const stranger = '0x00000000000000000000000000000000DeaDBeef'
    const own = { to: stranger, data: '0xdeadbeef', router: stranger, spender: stranger, executor: stranger }
    const [plain, named] = [
      await stage.build({ ...quoteRequest(), account }),
      await stage.build({ ...quoteRequest(), account, ...own }),
    ]
    expect([plain.status, named.status]).toEqual([201, 201])
    expect(parseTransaction(named.body[0]).to).toBe(parseTransaction(plain.body[0]).to)
    expect(parseTransaction(named.body[0]).to?.toLowerCase()).toBe(stage.router.toLowerCase())
    expect(JSON.stringify(named.body).toLowerCase()).not.toMatch(/deadbeef/)
  })
})

describe('a signed approval', () => {
  const expectRefused = async (rawApproveTx: unknown) => {
    const body = { network: 'eth', rawApproveTx }
    const answer = await stage.scenario.call('POST', '/v1/defi/send/approve', body)
    expect(answer.body, String(rawApproveTx).slice(0, 80)).toMatchObject({ statusCode: 400 })
    return answer.body.code
  }

  testRow('B143', 'is refused if it is no transaction', async () => {
    for (const raw of ['hello', '0x1', '0x02c', '0x', '0xzz']) expect(await expectRefused(raw)).toBe('RAW_TX_INVALID')
    expect(await expectRefused('')).toMatch(/^(VALIDATION_ERROR|RAW_TX_INVALID)$/)
    const megabyte = await stage.approve(`0x${'ab'.repeat(512 * 1024)}`)
    expect([400, 413]).toContain(megabyte.status)
  })

  testRow('B145', 'is refused if it does something else', async () => {
    const user = await stage.user()
    const transfer = encodeFunctionData({ abi: erc20, functionName: 'transfer', args: [stage.router, 1n] })
    const approve = encodeFunctionData({ abi: erc20, functionName: 'approve', args: [stage.router, 0n] })
    const all = `0xa22cb465${approve.slice(10)}` as Hex
    for (const parts of [
      { to: usdc, data: transfer },
      { to: usdc, data: all },
      { data: '0x6001600155' as Hex },
      { to: usdc, data: approve, value: 1n },
    ]) {
      const raw = await user.signTransaction({ ...ownTransaction(), nonce: 0, ...parts })
      expect([parts, await expectRefused(raw)]).toEqual([parts, 'RAW_TX_INVALID'])
    }
  })

  testRow('B147', 'may be sent again, before and after it is mined', async () => {
    const user = await stage.user({ usdc: '10' })
    const trade = { ...quoteRequest(), fromTokenAddress: usdc, toTokenAddress: NATIVE, amount: '10' }
    const raw = await sign(user, (await stage.build({ ...trade, account: user.address })).body[0])
    const first = await stage.approve(raw)
    expect(first.status).toBe(201)
    expect((await stage.approve(raw)).body).toEqual(first.body)
    await stage.scenario.mine('eth', 1)
    expect((await stage.approve(raw)).body).toEqual(first.body)
  })

  testRow('B148', 'with a used nonce or a fee below the base fee is a conflict, without text of the node', async () => {
    const user = await stage.user({ usdc: '10' })
    const trade = { ...quoteRequest(), fromTokenAddress: usdc, toTokenAddress: NATIVE, amount: '10' }
    const [unsigned = ''] = (await stage.build({ ...trade, account: user.address })).body as string[]
    const low = await stage.approve(await sign(user, unsigned, { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }))
    expect(low.body).toMatchObject({ statusCode: 409, code: 'NONCE_CONFLICT' })
    expect((await stage.approve(await sign(user, unsigned))).status).toBe(201)
    await stage.scenario.mine('eth', 1)
    const { gas = 0n } = parseTransaction(unsigned as Hex)
    const used = await stage.approve(await sign(user, unsigned, { gas: gas + 1n }))
    expect(used.body).toMatchObject({ statusCode: 409, code: 'NONCE_CONFLICT' })
    for (const { body } of [low, used]) expect(JSON.stringify(body)).not.toMatch(/anvil|eth_|127\.0\.0\.1|-32\d{3}/)
  })

  testRow('B149', 'is refused if it carries blobs or authorizations', async () => {
    const user = await stage.user()
    const to = usdc
    const data = encodeFunctionData({ abi: erc20, functionName: 'approve', args: [stage.router, 0n] })
    const blobs = {
      ...{ ...ownTransaction(), type: 'eip4844' as const, nonce: 0, to, data, maxFeePerBlobGas: 10n ** 9n },
      ...{ blobVersionedHashes: [`0x01${'00'.repeat(31)}`] as Hex[], sidecars: false as const },
    }
    expect(await expectRefused(await user.signTransaction(blobs))).toBe('RAW_TX_INVALID')
    const authorization = await user.signAuthorization({ address: usdc, chainId: stage.chainId, nonce: 1 })
    const delegated = { ...ownTransaction(), type: 'eip7702' as const, nonce: 0, to }
    const raw = await user.signTransaction({ ...delegated, data, authorizationList: [authorization] })
    expect(await expectRefused(raw)).toBe('RAW_TX_INVALID')
  })

  testRow('B150', 'is refused with the other of the two valid signatures', async () => {
    const user = await stage.user()
    const data = encodeFunctionData({ abi: erc20, functionName: 'approve', args: [stage.router, 0n] })
    const low = await user.signTransaction({ ...ownTransaction(), nonce: 0, to: usdc, data })
    const { r, s, yParity, ...rest } = parseTransaction(low)
    // The order of secp256k1.
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const high = serializeTransaction(rest as never, {
      ...{ r: r as Hex, yParity: 1 - (yParity ?? 0) },
      s: `0x${(order - BigInt(s as Hex)).toString(16).padStart(64, '0')}`,
    })
    expect(await expectRefused(high)).toBe('RAW_TX_INVALID')
    expect((await stage.approve(low)).status).toBe(201)
  })
})

describe('a signed swap', () => {
  const listOwn = async (user: PrivateKeyAccount): Promise<Json[]> =>
    (await stage.rows()).filter(({ addressFrom }) => addressFrom === user.address)

  testRow('B154', 'that reverted and is reported by its hash is recorded as failed', async () => {
    const user = await stage.user()
    // Too little gas for the route.
    const raw = await sign(user, await buildSwap(stage, user), { gas: 60_000n })
    const hash = await stage.client.sendRawTransaction({ serializedTransaction: raw })
    await stage.scenario.mine('eth', 1)
    expect((await stage.client.getTransactionReceipt({ hash })).status).toBe('reverted')
    const reported = await stage.send({ ...sendBody(stage, user), hash })
    expect(reported.status).toBe(201)
    await stage.scenario.mine('eth', 3)
    expect(await stage.becomes(hash, 'failed')).toMatchObject({ statusReason: 'reverted' })
  })

  testRow('B156', 'is recorded with the received amount, not with the stated one', async () => {
    const user = await stage.user()
    const rawTx = await sign(user, await buildSwap(stage, user))
    const { body } = await stage.send({ ...sendBody(stage, user), amountTo: '99999999', rawTx })
    await stage.scenario.mine('eth', 3)
    const { amountTo } = await stage.becomes(JSON.parse(body), 'finished')
    expect(amountTo).toBe(formatUnits(await stage.balance(usdc, user.address), 6))
  })

  testRow('B157', 'is refused with another fee than the built one', async () => {
    const user = await stage.user()
    const rawTx = await sign(user, await buildSwap(stage, user))
    for (const commissionPercentage of ['100', '-1', '0.4', 'x']) {
      const { body } = await stage.send({ ...sendBody(stage, user), rawTx, commissionPercentage })
      expect([commissionPercentage, body.statusCode, body.code]).toEqual([
        commissionPercentage,
        400,
        expect.any(String),
      ])
      expect(['VALIDATION_ERROR', 'REFERRER_FEE_OUT_OF_RANGE']).toContain(body.code)
    }
    expect(await listOwn(user)).toEqual([])
  })

  testRow('B158', 'needs a boolean isExchange', async () => {
    const user = await stage.user()
    const rawTx = await sign(user, await buildSwap(stage, user))
    for (const isExchange of ['false', 0, 'no', [false]])
      expect(outcomeOf(await stage.send({ ...sendBody(stage, user), rawTx, isExchange }))).toEqual([
        ...[400, 'VALIDATION_ERROR'],
      ])
    expect(await listOwn(user)).toEqual([])
  })

  testRow('B160', 'with isExchange false is broadcast and not listed', async () => {
    const user = await stage.user()
    const rawTx = await sign(user, await buildSwap(stage, user))
    const { status, body } = await stage.send({ ...sendBody(stage, user), rawTx, isExchange: false })
    expect(status).toBe(201)
    await stage.scenario.mine('eth', 1)
    expect((await stage.client.getTransactionReceipt({ hash: JSON.parse(body) })).status).toBe('success')
    expect(await listOwn(user)).toEqual([])
  })

  testRow('B164', 'that a node accepted without an answer is pending, not failed', async () => {
    const user = await stage.user()
    const rawTx = await sign(user, await buildSwap(stage, user))
    proxy.queueFaults(['silent'])
    const { status, body } = await stage.send({ ...sendBody(stage, user), rawTx })
    expect(status).toBe(201)
    expect(proxy.hasUsedAllFaults()).toBe(true)
    const [row] = await listOwn(user)
    expect(row).toMatchObject({ hash: JSON.parse(body), statusReason: null })
    expect(['pending', 'confirming']).toContain(row.status)
    await stage.scenario.mine('eth', 3)
    await stage.becomes(JSON.parse(body), 'finished')
  })
})

describe('the list of swaps', () => {
  testRow('B165', 'is empty for a network without swaps, and refuses an unknown status', async () => {
    // The filters of a list are exact: an unknown network matches nothing, as an unknown currency does. The corpus says 404.
    const { status, body } = await call('exchange/list', { network: 'btc' })
    expect([status, body]).toEqual([200, { total: 0, exchanges: [] }])
    expect(outcomeOf(await call('exchange/list', { status: 'refunded' }))).toEqual([400, 'VALIDATION_ERROR'])
  })

  testRow('B166', 'finds a token in any case', async () => {
    const user = await stage.user()
    const rawTx = await sign(user, await buildSwap(stage, user))
    await stage.send({ ...sendBody(stage, user), rawTx })
    const lists = await Promise.all(
      [usdc, usdc.toLowerCase(), upper(usdc)].map((toTokenAddress) => call('exchange/list', { toTokenAddress })),
    )
    const idsOf = ({ body }: Answer) => body.exchanges.map(({ id }: Json) => id)
    expect(lists.map(idsOf)).toEqual(lists.map(() => idsOf(lists[0] as Answer)))
    expect((lists[0] as Answer).body.exchanges.map(({ addressFrom }: Json) => addressFrom)).toContain(user.address)
  })
})

test('tests every row that names this file', () => {
  const expected = swapInputs.filter((row) => 'elsewhere' in row && row.elsewhere === inSwaps)
  expect(testedIds).toEqual(expected.map(({ id }) => id))
})
