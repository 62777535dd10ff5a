import { bcs } from '@mysten/sui/bcs'
import type { Signer } from '@mysten/sui/cryptography'
import { SuiGrpcClient } from '@mysten/sui/grpc'
import { Ed25519Keypair } from '@mysten/sui/keypairs/ed25519'
import { Secp256k1Keypair } from '@mysten/sui/keypairs/secp256k1'
import { Secp256r1Keypair } from '@mysten/sui/keypairs/secp256r1'
import { MultiSigPublicKey } from '@mysten/sui/multisig'
import { Transaction } from '@mysten/sui/transactions'
import { fromBase64, toBase64 } from '@mysten/sui/utils'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startScenarioOnOwnChains } from '../../../../test/support/own-chains.ts'
import type { Json, Scenario } from '../../../../test/support/scenario.ts'

const SUI = '0x2::sui::SUI'
const FEES = `0x${'fe'.repeat(32)}`
const denied = Ed25519Keypair.generate()
const network = 'sui'

let scenario: Scenario
let client: SuiGrpcClient

beforeAll(async () => {
  const feeAddresses = new Map([[network, FEES]])
  scenario = await startScenarioOnOwnChains({
    ...{ networks: [network], swaps: { feeAddresses } },
    denied: [`sui:${denied.toSuiAddress()}`],
  })
  client = new SuiGrpcClient({ network: 'localnet', baseUrl: scenario.chains.networks[0]?.rpcUrls[0] ?? '' })
  await scenario.until('the pools are read', async () => {
    const trade = { fromTokenAddress: SUI, toTokenAddress: token('USDC'), amount: '1', slippage: '1', referrerFee: '0' }
    return (await quote(trade)).status === 200
  })
})
afterAll(() => scenario?.stop())

type Trade = Readonly<Record<'fromTokenAddress' | 'toTokenAddress' | 'amount' | 'slippage' | 'referrerFee', string>>

function token(symbol: string): string {
  const found = scenario.chains.networks[0]?.defiTokens?.find((one) => one.symbol === symbol)
  if (found === undefined) throw new Error(`no token ${symbol}`)
  return found.address
}

const quote = (trade: Trade) => scenario.call('GET', `/v1/defi/quote?${new URLSearchParams({ network, ...trade })}`)

async function fund(address: string, amounts: Readonly<Record<string, string>>): Promise<void> {
  for (const [currency, amount] of Object.entries(amounts))
    await scenario.control('/deposits', { network, currency, address, amount })
}

async function build(account: string, trade: Trade): Promise<Uint8Array> {
  const built = await scenario.call('POST', '/v1/defi/transaction/swap', { network, account, ...trade })
  expect(built).toMatchObject({ status: 201, body: [expect.any(String)] })
  return fromBase64(built.body[0])
}

/** As wallets return it. */
const signAs = async (signer: Signer, bytes: Uint8Array): Promise<string> =>
  JSON.stringify(await signer.signTransaction(bytes))

const send = (account: string, trade: Trade, amountTo: string, rawTx: string, headers: Record<string, string> = {}) => {
  const { fromTokenAddress, toTokenAddress, amount: amountFrom, referrerFee: commissionPercentage } = trade
  const body = { account, network, fromTokenAddress, toTokenAddress, amountFrom, amountTo, commissionPercentage, rawTx }
  return scenario.call('POST', '/v1/defi/send/swap', body, headers)
}

const becomes = (hash: string, status: string): Promise<Json> =>
  scenario.until(`${hash} is ${status}`, async () => {
    const { body } = await scenario.call('GET', `/v1/defi/exchange/list?network=${network}`)
    return body.exchanges.find((one: Json) => one.hash === hash && one.status === status)
  })

async function balanceOf(address: string, coinType: string): Promise<bigint> {
  const { balance } = await client.getBalance({ owner: address, coinType })
  return BigInt(balance.balance)
}

async function trade(signer: Signer, request: Trade) {
  const address = signer.toSuiAddress()
  const quoted = await quote(request)
  expect(quoted).toMatchObject({ status: 200 })
  const bytes = await build(address, request)
  const sent = await send(address, request, quoted.body.receivedAmount, await signAs(signer, bytes))
  expect(sent).toMatchObject({ status: 201 })
  return { quote: quoted.body as Json, hash: JSON.parse(sent.body) as string, bytes }
}

test('lists SUI and the coins of the sandbox, enabled and with their metadata', async () => {
  const { body } = await scenario.call('GET', `/v1/defi/available-currencies?network=${network}`)
  const others = ['BLUE', 'CETUS', 'DEEP', 'FDUSD', 'NS', 'SCA', 'TURBOS', 'WAL', 'WETH']
  expect(body.map(({ symbol, enabled }: Json) => [symbol, enabled]).sort()).toEqual(
    [...others, 'SUI', 'USDC', 'USDT', 'WBTC'].sort().map((symbol) => [symbol, true]),
  )
  const found = await scenario.call('GET', `/v1/defi/currency/info?network=${network}&address=${token('WBTC')}`)
  expect(found.body).toMatchObject({ symbol: 'WBTC', decimals: 8, address: token('WBTC') })
  const missing = await scenario.call('GET', `/v1/defi/currency/info?network=${network}&address=0x2::no::COIN`)
  expect(missing).toMatchObject({ status: 404, body: { code: 'TOKEN_NOT_FOUND' } })
})

/** The DEXes of each hop of each path of a quote. */
const pathsOf = (quoted: Json): string[][][] =>
  quoted.routes.map(({ subRoutes }: Json) => subRoutes.map(({ dexes }: Json) => dexes.map(({ name }: Json) => name)))

test('hops over different DEXes pay exactly what was quoted, and the rest of a lot returns to the account', async () => {
  const user = Ed25519Keypair.generate()
  const address = user.toSuiAddress()
  await fund(address, { sui: '5', usdt: '50000' })
  const request = {
    ...{ fromTokenAddress: token('USDT'), toTokenAddress: token('WBTC'), slippage: '1', referrerFee: '0' },
    amount: '50000',
  }
  const { quote: quoted, hash } = await trade(user, request)
  const mixed = pathsOf(quoted).filter(
    ([first = [], second = []]) => first.includes('cetus') && second.includes('deepbook'),
  )
  expect(mixed.length, JSON.stringify(pathsOf(quoted))).toBeGreaterThan(0)
  const row = await becomes(hash, 'finished')
  expect(await balanceOf(address, token('WBTC'))).toBe(BigInt(quoted.receivedAmountRaw))
  expect(row.amountTo).toBe(quoted.receivedAmount)
  // Less than a lot of 0.00001 WBTC, which is below two dollars.
  const rest = await balanceOf(address, token('USDC'))
  expect(rest).toBeGreaterThan(0n)
  expect(rest).toBeLessThan(2_000_000n)
  expect(await balanceOf(address, token('USDT'))).toBeLessThan(100_125n)
})

test('a partner quotes, builds, signs, sends and polls until the swap is finished, and the user has the quoted amount', async () => {
  const user = Ed25519Keypair.generate()
  const address = user.toSuiAddress()
  await fund(address, { sui: '200' })
  const fees = await balanceOf(FEES, token('USDC'))
  const request = {
    ...{ fromTokenAddress: SUI, toTokenAddress: token('USDC'), amount: '100', slippage: '1', referrerFee: '0.5' },
  }
  const { quote: quoted, hash } = await trade(user, request)
  // 1.92 dollars for a SUI, less the pools' fee, a small price impact and half a percent for the partner.
  expect(Number(quoted.toAmount)).toBeGreaterThan(191)
  expect(Number(quoted.toAmount)).toBeLessThan(192)
  const row = await becomes(hash, 'finished')
  const received = await balanceOf(address, token('USDC'))
  const fee = (await balanceOf(FEES, token('USDC'))) - fees
  expect(received + fee).toBe(BigInt(quoted.toAmountRaw))
  expect(Number(received - BigInt(quoted.receivedAmountRaw))).toBeLessThanOrEqual(1)
  expect(row).toMatchObject({ addressFrom: address, addressTo: address, amountFrom: '100' })
  expect(Number(row.amountTo) * 1e6).toBeCloseTo(Number(received), 5)
  const left = await balanceOf(address, SUI)
  // Less the gas, and with what an order book may leave: less than a lot of 0.1 SUI and its fee.
  expect(left).toBeLessThan(100_100_125_000n)
  expect(left).toBeGreaterThan(99_900_000_000n)
  const { body } = await scenario.call(
    'GET',
    `/v1/defi/exchange/list?network=${network}&fromTokenAddress=0x02::sui::SUI`,
  )
  expect(body.exchanges.map((one: Json) => one.hash)).toContain(hash)
})

test('several hops and several pools pay exactly what was quoted', async () => {
  const user = Secp256k1Keypair.generate()
  const address = user.toSuiAddress()
  await fund(address, { sui: '1', wbtc: '2' })
  await fund(address, { wbtc: '1.5' })
  const request = {
    ...{ fromTokenAddress: token('WBTC'), toTokenAddress: token('USDT'), amount: '3', slippage: '1', referrerFee: '0' },
  }
  const { quote: quoted, hash } = await trade(user, request)
  expect(quoted.routes.length).toBeGreaterThan(1)
  expect(quoted.routes.some(({ subRoutes }: Json) => subRoutes.length > 2)).toBe(true)
  await becomes(hash, 'finished')
  expect(await balanceOf(address, token('USDT'))).toBe(BigInt(quoted.receivedAmountRaw))
  // Half a WBTC, and what an order book may leave: less than a lot of 0.00001 and its fee.
  const left = await balanceOf(address, token('WBTC'))
  expect(left).toBeGreaterThanOrEqual(50_000_000n)
  expect(left).toBeLessThan(50_001_002n)
})

test('SUI as the output arrives in full, beside the gas', async () => {
  const user = Secp256r1Keypair.generate()
  const address = user.toSuiAddress()
  await fund(address, { sui: '1', usdc: '500' })
  const request = {
    ...{ fromTokenAddress: token('USDC'), toTokenAddress: SUI, amount: '500', slippage: '1', referrerFee: '1' },
  }
  const { quote: quoted, hash } = await trade(user, request)
  const row = await becomes(hash, 'finished')
  const { Transaction: executed } = await client.getTransaction({ digest: hash, include: { effects: true } })
  const { computationCost, storageCost, storageRebate } = executed?.effects?.gasUsed ?? {}
  const gas = BigInt(computationCost ?? 0) + BigInt(storageCost ?? 0) - BigInt(storageRebate ?? 0)
  const gained = (await balanceOf(address, SUI)) - 1_000_000_000n + gas
  // The chain takes the fee as a share with 32 binary decimals, rounded down.
  expect(gained - BigInt(quoted.receivedAmountRaw)).toBeLessThanOrEqual(BigInt(quoted.toAmountRaw) / 2n ** 32n + 1n)
  expect(gained).toBeGreaterThanOrEqual(BigInt(quoted.receivedAmountRaw))
  expect(row.amountTo).toBe(
    `${gained / 1_000_000_000n}.${`${gained % 1_000_000_000n}`.padStart(9, '0').replace(/0+$/, '')}`,
  )
})

test('accounts of several keys sign together, and the form of the command line is read', async () => {
  const keys = [Ed25519Keypair.generate(), Secp256k1Keypair.generate()] as const
  const publicKey = MultiSigPublicKey.fromPublicKeys({
    threshold: 2,
    publicKeys: keys.map((key) => ({ publicKey: key.getPublicKey(), weight: 1 })),
  })
  const address = publicKey.toSuiAddress()
  await fund(address, { sui: '20' })
  const request = {
    ...{ fromTokenAddress: SUI, toTokenAddress: token('USDC'), amount: '10', slippage: '1', referrerFee: '0' },
  }
  const bytes = await build(address, request)
  const signatures = await Promise.all(keys.map(async (key) => (await key.signTransaction(bytes)).signature))
  const combine = (...some: string[]) => {
    const intent = { scope: { TransactionData: true }, version: { V0: true }, appId: { Sui: true } } as const
    const value = bcs.TransactionData.parse(bytes)
    const entry = { intentMessage: { intent, value }, txSignatures: some }
    return toBase64(bcs.SenderSignedData.serialize([entry]).toBytes())
  }
  const partly = publicKey.combinePartialSignatures(signatures.slice(0, 1))
  expect((await send(address, request, '19', combine(partly))).body).toMatchObject({ code: 'RAW_TX_INVALID' })
  const sent = await send(address, request, '19', combine(publicKey.combinePartialSignatures(signatures)))
  expect(sent).toMatchObject({ status: 201 })
  await becomes(JSON.parse(sent.body), 'finished')
})

test('a swap fails if the price moved below its minimum, and costs no more than the gas', async () => {
  const user = Ed25519Keypair.generate()
  const address = user.toSuiAddress()
  const mover = Ed25519Keypair.generate()
  await fund(address, { sui: '20' })
  await fund(mover.toSuiAddress(), { sui: '200000' })
  const request = {
    ...{ fromTokenAddress: SUI, toTokenAddress: token('USDC'), amount: '10', slippage: '0.1', referrerFee: '0' },
  }
  const bytes = await build(address, request)
  const moved = await trade(mover, { ...request, amount: '150000', slippage: '5' })
  await becomes(moved.hash, 'finished')
  const sent = await send(address, request, '19', await signAs(user, bytes))
  expect(sent).toMatchObject({ status: 201 })
  expect(await becomes(JSON.parse(sent.body), 'failed')).toMatchObject({ statusReason: 'reverted' })
  expect(await balanceOf(address, token('USDC'))).toBe(0n)
  expect(await balanceOf(address, SUI)).toBeGreaterThan(19_900_000_000n)
})

/** The same transaction with other gas data, commands or inputs. */
function encode(bytes: Uint8Array, change: (data: Data, programmable: Programmable) => Json): Uint8Array {
  const data = bcs.TransactionData.parse(bytes).V1
  const programmable = data?.kind.ProgrammableTransaction
  if (data === undefined || programmable === undefined) throw new Error('a swap is a programmable transaction')
  return bcs.TransactionData.serialize({ V1: { ...data, ...change(data, programmable) } } as never).toBytes()
}
type Data = NonNullable<typeof bcs.TransactionData.$inferType.V1>
type Programmable = NonNullable<Data['kind']['ProgrammableTransaction']>

test('a swap whose gas is too small fails, and costs no more than that', async () => {
  const user = Ed25519Keypair.generate()
  const address = user.toSuiAddress()
  await fund(address, { sui: '20' })
  const request = {
    ...{ fromTokenAddress: SUI, toTokenAddress: token('USDC'), amount: '10', slippage: '1', referrerFee: '0' },
  }
  const bytes = await build(address, request)
  // More than the least that Sui charges, and less than the swap needs.
  const budget = 1_500_000n
  const short = encode(bytes, ({ gasData }) => ({ gasData: { ...gasData, budget: budget.toString() } }))
  const sent = await send(address, request, '19', await signAs(user, short))
  expect(sent).toMatchObject({ status: 201 })
  expect(await becomes(JSON.parse(sent.body), 'failed')).toMatchObject({ statusReason: 'reverted' })
  expect(await balanceOf(address, token('USDC'))).toBe(0n)
  const left = await balanceOf(address, SUI)
  expect(left).toBeLessThan(20_000_000_000n)
  expect(left).toBeGreaterThanOrEqual(20_000_000_000n - budget)
})

test('B163: altered transactions, foreign signatures and other terms are refused', async () => {
  const user = Ed25519Keypair.generate()
  const thief = Ed25519Keypair.generate()
  const address = user.toSuiAddress()
  await fund(address, { sui: '50' })
  const request = {
    ...{ fromTokenAddress: SUI, toTokenAddress: token('USDC'), amount: '10', slippage: '1', referrerFee: '0' },
  }
  const bytes = await build(address, request)
  const raw = await signAs(user, bytes)
  const refusal = { status: 400, body: { code: 'RAW_TX_INVALID' } }

  const { signature } = await thief.signTransaction(bytes)
  expect(await send(address, request, '19', JSON.stringify({ bytes: toBase64(bytes), signature }))).toMatchObject(
    refusal,
  )

  // The reference, the recipient, the amount and the minimum, and the recipient and the rate of a fee, each replaced where they stand.
  const withFee = { ...request, referrerFee: '0.5' }
  const ofFee = await build(address, withFee)
  const toThief = bcs.Address.serialize(thief.toSuiAddress()).toBytes()
  const replacements: readonly (readonly [Uint8Array, Trade, number, Uint8Array])[] = [
    [bytes, request, 0, bcs.Address.serialize(`0x${'7e'.repeat(32)}`).toBytes()],
    [bytes, request, 1, toThief],
    [bytes, request, 2, bcs.u64().serialize(11_000_000_000n).toBytes()],
    [bytes, request, 3, bcs.u64().serialize(1).toBytes()],
    [ofFee, withFee, 4, toThief],
    // With the rate of the request, 0.1 percent.
    [ofFee, { ...withFee, referrerFee: '0.1' }, 5, bcs.u64().serialize(1_000).toBytes()],
  ]
  for (const [built, terms, place, value] of replacements) {
    const altered = encode(built, (_, programmable) => {
      expect(fromBase64(programmable.inputs[place]?.Pure?.bytes ?? ''), `input ${place}`).toHaveLength(value.length)
      const replace = (input: Json, n: number) => (n === place ? { Pure: { bytes: toBase64(value) } } : input)
      return { kind: { ProgrammableTransaction: { ...programmable, inputs: programmable.inputs.map(replace) } } }
    })
    expect(altered).not.toEqual(built)
    expect(await send(address, terms, '19', await signAs(user, altered)), `input ${place}`).toMatchObject({
      ...refusal,
      body: { code: 'RAW_TX_INVALID', message: expect.stringContaining('what was built') },
    })
  }
  // A command more.
  const more = Transaction.from(bytes)
  more.transferObjects([more.gas], thief.toSuiAddress())
  const longer = await more.build({ client })
  expect(await send(address, request, '19', await signAs(user, longer))).toMatchObject(refusal)

  // Another program: called beside the pools, and in the place of a pool's own.
  const foreign = `0x${'abc'.padStart(64, '0')}`
  const isPoolCall = ({ MoveCall: call }: Programmable['commands'][number]) => call?.module === 'pool'
  const withCommands = (change: (commands: Programmable['commands']) => Json[]) =>
    encode(bytes, (_, programmable) => ({
      kind: { ProgrammableTransaction: { ...programmable, commands: change(programmable.commands) } },
    }))
  const call = { package: foreign, module: 'pool', function: 'swap', typeArguments: [], arguments: [] }
  const beside = withCommands((commands) => [...commands, { MoveCall: call }])
  const inPlace = withCommands((commands) =>
    commands.map((one) => (isPoolCall(one) ? { MoveCall: { ...one.MoveCall, package: foreign } } : one)),
  )
  for (const altered of [beside, inPlace]) {
    expect(altered).not.toEqual(bytes)
    const refused = await send(address, request, '19', await signAs(user, altered))
    // By us: the node would refuse a package that it does not have, too.
    expect(refused).toMatchObject({
      ...refusal,
      body: { code: 'RAW_TX_INVALID', message: expect.stringContaining('what was built') },
    })
  }

  expect(await send(address, request, '19', raw, { 'x-api-key': 'sandbox-b' })).toMatchObject(refusal)
  expect(await send(address, { ...request, amount: '9' }, '19', raw)).toMatchObject({ status: 400 })
  expect(await send(thief.toSuiAddress(), request, '19', raw)).toMatchObject({ status: 400 })
  expect(await scenario.call('POST', '/v1/defi/send/approve', { network, rawApproveTx: raw })).toMatchObject({
    status: 422,
    body: { code: 'APPROVAL_NOT_NEEDED' },
  })
  expect(await balanceOf(address, SUI)).toBe(50_000_000_000n)
  expect(await send(address, request, '19', raw)).toMatchObject({ status: 201 })
})

test('`to` repeats the recipient, who is the account', async () => {
  const user = Ed25519Keypair.generate()
  const address = user.toSuiAddress()
  await fund(address, { sui: '20' })
  const request = {
    ...{ fromTokenAddress: SUI, toTokenAddress: token('USDC'), amount: '10', slippage: '1', referrerFee: '0' },
  }
  const rawTx = await signAs(user, await build(address, request))
  const { fromTokenAddress, toTokenAddress, amount: amountFrom } = request
  const sides = { network, account: address, fromTokenAddress, toTokenAddress, amountFrom, amountTo: '19' }
  const sendTo = (to: string) =>
    scenario.call('POST', '/v1/defi/send/swap', { ...sides, commissionPercentage: '0', rawTx, to })
  expect(await sendTo(FEES)).toMatchObject({
    ...{ status: 400, body: { errors: [{ code: 'RAW_TX_INVALID', field: 'to' }] } },
  })
  expect(await sendTo('0x1')).toMatchObject({
    ...{ status: 400, body: { errors: [{ code: 'INVALID_ADDRESS', field: 'to' }] } },
  })
  // Upper and lower case are the same address.
  const sent = await sendTo(`0x${address.slice(2).toUpperCase()}`)
  expect(sent).toMatchObject({ status: 201 })
  expect(await becomes(JSON.parse(sent.body), 'finished')).toMatchObject({ addressTo: address })
})

test('a denied address is refused as account and as target', async () => {
  const user = Ed25519Keypair.generate()
  const [address, target] = [user.toSuiAddress(), denied.toSuiAddress()]
  await fund(address, { sui: '20' })
  await fund(target, { sui: '20' })
  const request = {
    ...{ fromTokenAddress: SUI, toTokenAddress: token('USDC'), amount: '10', slippage: '1', referrerFee: '0' },
  }
  const refusal = { status: 451, body: { code: 'RESTRICTED' } }
  expect(
    await scenario.call('POST', '/v1/defi/transaction/swap', { network, account: target, ...request }),
  ).toMatchObject(refusal)
  const pay = async (recipient: string) => {
    const transaction = new Transaction()
    transaction.setSender(address)
    transaction.transferObjects([transaction.splitCoins(transaction.gas, [1_000_000_000n])], recipient)
    const rawTx = await signAs(user, await transaction.build({ client }))
    const body = { account: address, network, rawTx, isExchange: false, amountFrom: '1', amountTo: '1' }
    const { fromTokenAddress, toTokenAddress } = request
    const sides = { fromTokenAddress, toTokenAddress, commissionPercentage: '0' }
    return scenario.call('POST', '/v1/defi/send/swap', { ...body, ...sides })
  }
  expect(await pay(target)).toMatchObject(refusal)
  expect(await balanceOf(target, SUI)).toBe(20_000_000_000n)
  expect(await pay(FEES)).toMatchObject({ status: 201 })
})

test('a paused DEX is in no quote, and a swap over it is not sent', async () => {
  const user = Ed25519Keypair.generate()
  const address = user.toSuiAddress()
  await fund(address, { sui: '5', usdc: '300000' })
  const request = {
    ...{ fromTokenAddress: token('USDC'), toTokenAddress: SUI, amount: '300000', slippage: '5', referrerFee: '0' },
  }
  const readDexes = async () => new Set(pathsOf((await quote(request)).body).flat(2))
  expect(await readDexes()).toContain('cetus')
  const rawTx = await signAs(user, await build(address, request))
  const { pauses } = scenario.app.store
  await pauses.pause('dex:cetus@sui', 'a test', 'the test')
  try {
    await scenario.until('no quote uses Cetus', async () => !(await readDexes()).has('cetus'))
    expect(await readDexes()).toEqual(new Set(['deepbook', 'turbos']))
    expect(await send(address, request, '1', rawTx)).toMatchObject({ status: 503, body: { code: 'NETWORK_PAUSED' } })
  } finally {
    await pauses.resume('dex:cetus@sui')
  }
  await scenario.until('quotes use Cetus again', async () => (await readDexes()).has('cetus'))
  expect(await balanceOf(address, token('USDC'))).toBe(300_000_000_000n)
})

test('of two swaps with the same coins one is executed, and the other is refused, for good', async () => {
  const user = Ed25519Keypair.generate()
  const address = user.toSuiAddress()
  await fund(address, { sui: '50' })
  const request = {
    ...{ fromTokenAddress: SUI, toTokenAddress: token('USDC'), amount: '10', slippage: '1', referrerFee: '0' },
  }
  const [first, second] = [await build(address, request), await build(address, request)]
  const sent = await send(address, request, '19', await signAs(user, first))
  expect(sent).toMatchObject({ status: 201 })
  const again = await send(address, request, '19', await signAs(user, first))
  expect(again).toMatchObject({ status: 201, body: sent.body })
  const refused = await send(address, request, '19', await signAs(user, second))
  expect(refused).toMatchObject({ status: 409, body: { code: 'NONCE_CONFLICT' } })
  await becomes(JSON.parse(sent.body), 'finished')
  const { body } = await scenario.call('GET', `/v1/defi/exchange/list?network=${network}&account=${address}`)
  expect(body.exchanges.map(({ status, statusReason }: Json) => [status, statusReason]).sort()).toEqual([
    ['failed', 'rejected'],
    ['finished', null],
  ])
})

test('the bytes of a finished swap, sent again, are the same swap: it pays once', async () => {
  const user = Ed25519Keypair.generate()
  const address = user.toSuiAddress()
  await fund(address, { sui: '50' })
  const request = {
    ...{ fromTokenAddress: SUI, toTokenAddress: token('USDC'), amount: '10', slippage: '1', referrerFee: '0' },
  }
  const rawTx = await signAs(user, await build(address, request))
  const sent = await send(address, request, '19', rawTx)
  expect(sent).toMatchObject({ status: 201 })
  const hash = JSON.parse(sent.body) as string
  const { id } = await becomes(hash, 'finished')
  const read = async () => {
    const { body } = await scenario.call('GET', `/v1/defi/exchange/list?network=${network}&account=${address}`)
    const balances = [await balanceOf(address, SUI), await balanceOf(address, token('USDC'))]
    return { total: body.total, swaps: body.exchanges, balances }
  }
  const before = await read()
  expect(before).toMatchObject({ total: 1, swaps: [{ id, hash, status: 'finished' }] })
  expect(before.balances[1]).toBeGreaterThan(18_000_000n)
  expect(await send(address, request, '19', rawTx)).toMatchObject({ status: 201, body: sent.body })
  await scenario.mine(network, 5)
  const after = await read()
  expect(after).toMatchObject({ total: 1, swaps: [{ id, hash, status: 'finished' }] })
  expect(after.balances).toEqual(before.balances)
})

test('a swap that the user sent is reported by its hash', async () => {
  const user = Ed25519Keypair.generate()
  const address = user.toSuiAddress()
  await fund(address, { sui: '50' })
  const request = {
    ...{ fromTokenAddress: SUI, toTokenAddress: token('WBTC'), amount: '10', slippage: '1', referrerFee: '0' },
  }
  const bytes = await build(address, request)
  const { signature } = await user.signTransaction(bytes)
  const executed = await client.executeTransaction({ transaction: bytes, signatures: [signature] })
  const hash = executed.Transaction?.digest ?? ''
  const { fromTokenAddress, toTokenAddress, amount: amountFrom } = request
  const body = { account: address, network, fromTokenAddress, toTokenAddress, amountFrom, amountTo: '0.0001' }
  const report = { ...body, commissionPercentage: '0', hash }
  expect(await scenario.call('POST', '/v1/defi/send/swap', report)).toMatchObject({ status: 201 })
  await becomes(hash, 'finished')
})

test('the refusal of an account that cannot pay says what it needs', async () => {
  const address = Ed25519Keypair.generate().toSuiAddress()
  await fund(address, { usdc: '5' })
  const swap = {
    ...{ fromTokenAddress: token('USDC'), toTokenAddress: SUI, amount: '10', slippage: '1', referrerFee: '0' },
  }
  const request = { network, account: address, ...swap }
  const short = await scenario.call('POST', '/v1/defi/transaction/swap', request)
  expect(short).toMatchObject({ status: 422, body: { code: 'INSUFFICIENT_BALANCE' } })
  expect(short.body.errors[0]).toMatchObject({ required: '10', available: '5' })
  const withoutGas = await scenario.call('POST', '/v1/defi/transaction/swap', { ...request, amount: '5' })
  expect(withoutGas).toMatchObject({ status: 422, body: { code: 'INSUFFICIENT_BALANCE' } })
})

test('a large amount is split among all DEXes, and pays exactly what was quoted', async () => {
  const user = Ed25519Keypair.generate()
  const address = user.toSuiAddress()
  await fund(address, { sui: '5', usdc: '300000' })
  const request = {
    ...{ fromTokenAddress: token('USDC'), toTokenAddress: SUI, amount: '300000', slippage: '2', referrerFee: '0' },
  }
  const { quote: quoted, hash } = await trade(user, request)
  expect(new Set(pathsOf(quoted).flat(2))).toEqual(new Set(['cetus', 'deepbook', 'turbos']))
  const row = await becomes(hash, 'finished')
  expect(row.amountTo).toBe(quoted.receivedAmount)
  // Less than a lot in each of three books: 0.1 SUI, 0.1 USDT and 0.00001 WBTC, below a dollar.
  expect(await balanceOf(address, token('USDC'))).toBeLessThan(1_200_000n)
})
