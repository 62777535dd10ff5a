import { bcs } from '@mysten/sui/bcs'
import type { Ed25519Keypair } from '@mysten/sui/keypairs/ed25519'
import { Transaction } from '@mysten/sui/transactions'
import { fromBase64, toBase64 } from '@mysten/sui/utils'
import { expect, onTestFinished, test } from 'vitest'
import { suiTokens } from '../../../../sandbox/src/sui/coins.ts'
import { createPasskey, createZkLogin } from '../../../../sandbox/src/sui/signers.fixture.ts'
import { createSuiSwapChain } from '../../../src/adapters/sui/chain.ts'
import { createSuiNode } from '../../../src/adapters/sui/node.ts'
import { listPaidFees } from '../../../src/adapters/sui/track.ts'
import type { AppError } from '../../../src/core/domain/errors.ts'
import { statusOf } from '../../../src/core/http/errors.ts'
import type { SwapOrder } from '../../../src/swap/ports/swap-chain.ts'
import { executeRoute, SHARE_ALL } from '../../../src/swap/routing/execute.ts'
import { startNodeProxy } from './node-proxy.ts'
import { network, startSui } from './start-sui.ts'

const SUI = '0x2::sui::SUI'
const usdc = suiTokens[0]?.type ?? ''
const ref = `0x${'7e'.repeat(32)}`
const feeTo = `0x${'fe'.repeat(32)}`

async function start() {
  const started = await startSui(['cetus'])
  const { pools } = started
  const orderFor = (account: string, expiry: SwapOrder['expiry'] = null): SwapOrder => {
    const [pool] = pools.current()?.pools ?? []
    if (pool === undefined) throw new Error('no pool')
    const amountIn = 10_000_000_000n
    const swap = { pool, tokenIn: 0, tokenOut: 1, share: SHARE_ALL }
    const executed = executeRoute([swap], SUI, usdc, amountIn)
    if (executed.amountOut === null) throw new Error('the pool cannot trade')
    return {
      ...{ account, recipient: account, tokenIn: SUI, tokenOut: usdc, amountIn, ref, expiry },
      ...{ minReceived: (executed.amountOut * 99n) / 100n, feePpm: 5_000, feeTo, swaps: executed.swaps },
    }
  }
  return { ...started, orderFor }
}

const sign = async (keypair: Ed25519Keypair, unsigned: string): Promise<string> =>
  JSON.stringify(await keypair.signTransaction(fromBase64(unsigned)))

test('a swap that is not sent before its epoch ends has expired, for good', async () => {
  const { node, chain, createFunded, orderFor, tick } = await start()
  const { keypair, address } = createFunded(50_000_000_000n)
  const expiry = await chain.chooseExpiry(1_800_000_000_000)
  expect(expiry).toEqual({ by: 'epoch', at: 0 })
  const raw = await sign(keypair, (await chain.prepare(orderFor(address, expiry))).swap)
  const signed = await chain.readSigned(raw)
  expect(await chain.readExpiry(signed)).toEqual(expiry)
  const sent = { signer: address, nonce: null, expiry: await chain.readExpiry(signed) }
  expect(await chain.observe(signed.hash, sent)).toEqual({ kind: 'unseen' })
  expect(await chain.isExpired(sent.expiry, 0)).toBe(false)
  node.endEpoch()
  tick()
  expect(await chain.isExpired(sent.expiry, 0)).toBe(true)
  expect(await chain.observe(signed.hash, sent)).toEqual({ kind: 'expired' })
  expect(await chain.broadcast(raw)).toMatchObject({ kind: 'rejected', because: 'expired' })
})

test('a build near the end of an epoch is valid in the next one, too', async () => {
  const { chain } = await start()
  expect(await chain.chooseExpiry(1_800_000_000_000 + 24 * 3_600_000)).toEqual({ by: 'epoch', at: 1 })
})

test('the same swap twice is executed once; another one of the same coins is refused', async () => {
  const { chain, createFunded, orderFor, tick } = await start()
  const { keypair, address } = createFunded(50_000_000_000n)
  const [first, second] = [
    await chain.prepare(orderFor(address)),
    await chain.prepare({ ...orderFor(address), ref: feeTo }),
  ]
  const raw = await sign(keypair, first.swap)
  expect(await chain.broadcast(raw)).toEqual({ kind: 'accepted' })
  expect(await chain.broadcast(raw)).toEqual({ kind: 'accepted' })
  expect(await chain.broadcast(await sign(keypair, second.swap))).toMatchObject({
    ...{ kind: 'rejected', because: 'nonce-used' },
  })
  const { hash } = await chain.readSigned(raw)
  expect(await chain.observe(hash)).toEqual({ kind: 'pending' })
  tick()
  const included = await chain.observe(hash)
  expect(included).toMatchObject({ kind: 'included', ok: true, confirmations: 1 })
  tick()
  expect(await chain.observe(hash)).toMatchObject({ confirmations: 2 })
})

test('a node that does not have the coins yet does not show that they are used', async () => {
  const [first, second] = [await start(), await start()]
  const { keypair, address } = first.createFunded(50_000_000_000n)
  const raw = await sign(keypair, (await first.chain.prepare(first.orderFor(address))).swap)
  const { swap } = await first.chain.prepare({ ...first.orderFor(address), ref: feeTo })
  // The coins are locked for another transaction, but not used.
  const { bytes, signature } = await keypair.signTransaction(fromBase64(swap))
  await first.node.lockInputs({ bytes: fromBase64(bytes), signatures: [fromBase64(signature)] })
  for (const rpcUrls of [
    [first.node.url, second.node.url],
    [second.node.url, first.node.url],
  ]) {
    const both = createSuiSwapChain({ network, rpcUrls })
    expect(await both.broadcast(raw)).toMatchObject({ kind: 'rejected', because: 'other' })
  }
})

test('a swap that was not reported is found by its fee, with its reference and the terms that it states', async () => {
  const { chain, createFunded, orderFor, tick } = await start()
  const { keypair, address } = createFunded(50_000_000_000n)
  const order = orderFor(address)
  const prepared = await chain.prepare(order)
  const raw = await sign(keypair, prepared.swap)
  const { hash } = await chain.readSigned(raw)
  await chain.broadcast(raw)
  tick()
  const { fees: paid } = await chain.listPaidFees({ from: 1, to: 1, feeTo: [feeTo] })
  expect(paid).toMatchObject([{ hash, height: 1, ref, sender: address, token: usdc, feeTo }])
  expect(paid[0]?.units).toBe(await chain.readBalance(feeTo, usdc))
  expect(await chain.readBalance(address, usdc)).toBe(prepared.simulatedOut)
  expect(await chain.listPaidFees({ from: 1, to: 1, feeTo: [address] })).toEqual({ fees: [], to: 1 })
  const { action } = (await chain.findTransaction(hash)) ?? {}
  const { swaps: _, account: __, ...terms } = order
  expect(action).toMatchObject({
    ...terms,
    kind: 'swap',
    callHash: chain.hashCall(order),
    pools: [order.swaps[0]?.pool.id],
  })
})

test('a transaction that we cannot read, but that pays the fee address, hides no fee', async () => {
  const { chain, node, createFunded, orderFor, tick } = await start()
  const [user, other] = [createFunded(50_000_000_000n), createFunded(50_000_000_000n)]
  const raw = await sign(user.keypair, (await chain.prepare(orderFor(user.address))).swap)
  const { swap } = await chain.prepare(orderFor(other.address, { by: 'epoch', at: 0 }))
  for (const signed of [await sign(other.keypair, swap), raw]) await chain.broadcast(signed)
  tick()
  const honest = createSuiNode('node', node.url)
  // Valid until the epoch 2^64 - 1, which is no exact number; and a version of transactions that does not exist yet.
  const endless = Uint8Array.from(fromBase64(swap)).fill(0xff, -8)
  for (const bytes of [endless, Uint8Array.of(7, 7)]) {
    const foreign: typeof honest = {
      ...honest,
      readTransactions: async (height) =>
        ((await honest.readTransactions(height)) ?? []).map((execution) =>
          toBase64(execution.bytes) === swap ? { ...execution, bytes } : execution,
        ),
    }
    expect((await foreign.readTransactions(1))?.map((one) => one.bytes)).toContain(bytes)
    const { hash } = await chain.readSigned(raw)
    expect(await listPaidFees([foreign], { from: 1, to: 1, feeTo: [feeTo] })).toMatchObject({ fees: [{ hash }] })
  }
})

test('names of tokens are short and printable, and two nodes confirm the decimals', async () => {
  const [first, second] = [await startSui(['cetus']), await startSui(['cetus'])]
  const described = { symbol: 'T\u202eKN', description: '', iconUrl: null }
  const type = (name: string) => `0x${'aa'.repeat(32)}::${name}::T`
  const [long, huge, nameless] = [type('long'), type('huge'), type('nameless')]
  for (const { node } of [first, second]) {
    node.createCoinType(long, { ...described, name: `\u0007${'n'.repeat(10_000)}`, decimals: 9 })
    node.createCoinType(huge, { ...described, name: 'Huge', decimals: 255 })
    node.createCoinType(nameless, { ...described, name: '', symbol: '\u200b', decimals: 9 })
  }
  const urls = [first.node.url, second.node.url]
  const chain = createSuiSwapChain({ network, rpcUrls: urls })
  expect(await chain.readToken(long)).toEqual({ name: 'n'.repeat(64), symbol: 'TKN', decimals: 9 })
  expect(await chain.readToken(huge)).toBeNull()
  expect(await chain.readToken(nameless)).toBeNull()
  second.node.createCoinType(long, { ...described, name: 'Token', decimals: 8 })
  await expect(chain.readToken(long)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
  const halfClosed = createSuiSwapChain({ network, rpcUrls: ['http://127.0.0.1:9', first.node.url] })
  expect(await halfClosed.readToken(long)).toMatchObject({ decimals: 9 })
})

test('the hash of a call binds everything but the reference and the coins of the user', async () => {
  const { chain, node, createFunded, orderFor } = await start()
  const { address } = createFunded()
  const order = orderFor(address)
  const hash = chain.hashCall(order)
  expect(chain.hashCall({ ...order, ref: feeTo } as SwapOrder)).toBe(hash)
  const changes: readonly Partial<SwapOrder>[] = [
    ...[{ recipient: feeTo }, { amountIn: order.amountIn + 1n }, { minReceived: 1n }, { feePpm: 1 }, { feeTo: ref }],
    { swaps: order.swaps.map((swap) => ({ ...swap, share: 1 << 23 })) },
    { swaps: order.swaps.map((swap) => ({ ...swap, pool: { ...swap.pool, id: ref } })) },
  ]
  for (const change of changes) expect(chain.hashCall({ ...order, ...change })).not.toBe(hash)
  const tokenOrder = { ...order, tokenIn: usdc, tokenOut: SUI, amountIn: 3_000_000n, minReceived: 1n }
  const back = tokenOrder.swaps.map((swap) => ({ ...swap, tokenIn: 1, tokenOut: 0 }))
  const needed = { ...tokenOrder, swaps: back }
  for (const coins of [1, 3]) {
    const { keypair, address: account } = createFunded()
    for (let n = 0; n < coins; n++) node.mint(account, 3_000_000n / BigInt(coins) + 1n, usdc)
    const { swap } = await chain.prepare({ ...needed, account, recipient: account })
    const { action } = await chain.readSigned(await sign(keypair, swap))
    expect(action).toMatchObject({ callHash: chain.hashCall({ ...needed, account, recipient: account }) })
  }
})

test('the hash of a call binds each command, with the same inputs', async () => {
  const { chain, createFunded, orderFor } = await start()
  const { keypair, address } = createFunded(50_000_000_000n)
  const order = orderFor(address)
  const data = bcs.TransactionData.parse(fromBase64((await chain.prepare(order)).swap)).V1
  const { inputs = [], commands = [] } = data?.kind.ProgrammableTransaction ?? {}
  const sameHash = async (changed: readonly unknown[]): Promise<boolean> => {
    const kind = { ProgrammableTransaction: { inputs, commands: changed } }
    const bytes = bcs.TransactionData.serialize({ V1: { ...data, kind } } as never).toBytes()
    const { action } = await chain.readSigned(await sign(keypair, toBase64(bytes)))
    return action?.kind === 'swap' && action.callHash === chain.hashCall(order)
  }
  expect(await sameHash(commands)).toBe(true)
  // To the fee address in place of the recipient.
  const toOther = { TransferObjects: { ...commands.at(-1)?.TransferObjects, address: { Input: 4 } } }
  expect(await sameHash([...commands.slice(0, -1), toOther])).toBe(false)
  for (let place = 0; place < commands.length; place++)
    expect(await sameHash(commands.filter((_, n) => n !== place)), `without command ${place}`).toBe(false)
})

test('a pool is read again when it changes, and keeps its identity when it does not', async () => {
  const { pools, chain, createFunded, orderFor, tick } = await start()
  const before = pools.current()
  await pools.advance()
  expect(pools.current()?.pools).toBe(before?.pools)
  const { keypair, address } = createFunded(50_000_000_000n)
  await chain.broadcast(await sign(keypair, (await chain.prepare(orderFor(address))).swap))
  tick()
  await pools.advance()
  const after = pools.current()
  expect(after?.block.height).toBe(1)
  expect(after?.pools[0]).not.toBe(before?.pools[0])
  expect(after?.pools[1]).toBe(before?.pools[1])
  expect(pools.liquidity().get(usdc)).toBeGreaterThan(100_000)
  pools.pause([`dex:cetus@sui`])
  expect(pools.current()?.pools).toEqual([])
})

test('refuses a second signature, a sponsor, other bytes and text that is no transaction', async () => {
  const { chain, client, createFunded, orderFor } = await start()
  const { keypair, address } = createFunded(50_000_000_000n)
  const sponsor = createFunded()
  const { swap } = await chain.prepare(orderFor(address))
  const { bytes, signature } = await keypair.signTransaction(fromBase64(swap))
  const refused = (raw: string) =>
    expect(
      Promise.resolve().then(() => chain.readSigned(raw)),
      raw.slice(0, 40),
    ).rejects.toMatchObject({
      code: 'RAW_TX_INVALID',
    })
  await refused(JSON.stringify({ bytes: `${bytes}AAAA`, signature }))
  await refused(JSON.stringify({ bytes, signature: `${signature.slice(0, -8)}AAAAAAA=` }))
  await refused(JSON.stringify({ bytes }))
  for (const text of ['', '{', '[]', 'null', 'AAAA', '0x02f8b1', `${bytes}`]) await refused(text)
  const sponsored = Transaction.from(fromBase64(swap))
  sponsored.setGasOwner(sponsor.address)
  const { id: objectId, version, digest } = sponsor.coin
  sponsored.setGasPayment([{ objectId, version: version.toString(), digest }])
  sponsored.setGasBudget(10_000_000)
  const paidByOther = await sponsored.build({ client })
  await refused(JSON.stringify(await keypair.signTransaction(paidByOther)))
})

test('a swap is built by the node that answers; what a swap did needs every node', async () => {
  const { node, createFunded, orderFor, tick } = await start()
  const { keypair, address } = createFunded(50_000_000_000n)
  const closed = 'http://127.0.0.1:9'
  for (const rpcUrls of [
    [closed, node.url],
    [node.url, closed],
  ]) {
    const chain = createSuiSwapChain({ network, rpcUrls })
    const { simulations } = await chain.prepare(orderFor(address))
    expect(simulations).toHaveLength(1)
    await expect(chain.observe('1'.repeat(32))).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
  }
  const both = createSuiSwapChain({ network, rpcUrls: [node.url, node.url] })
  const { swap, simulations } = await both.prepare(orderFor(address))
  expect(simulations).toHaveLength(2)
  const raw = await sign(keypair, swap)
  // The calls of a send, in its order.
  for (const rpcUrls of [
    [closed, node.url],
    [node.url, closed],
  ]) {
    const halfClosed = createSuiSwapChain({ network, rpcUrls })
    const expiry = await halfClosed.readExpiry(await halfClosed.readSigned(raw))
    expect(await halfClosed.isExpired(expiry, 0)).toBe(false)
    expect(await halfClosed.isExpired({ by: 'epoch', at: 0 }, 0)).toBe(false)
    expect(await halfClosed.broadcast(raw)).toEqual({ kind: 'accepted' })
  }
  await expect(
    createSuiSwapChain({ network, rpcUrls: [closed] }).isExpired({ by: 'epoch', at: 0 }, 0),
  ).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
  tick()
  expect(await both.observe((await both.readSigned(raw)).hash)).toMatchObject({ kind: 'included', ok: true })
})

test('nodes that show different chains are not believed', async () => {
  const [first, second] = [await start(), await start()]
  const { keypair, address } = first.createFunded(50_000_000_000n)
  const raw = await sign(keypair, (await first.chain.prepare(first.orderFor(address))).swap)
  await first.chain.broadcast(raw)
  for (const { tick } of [first, second]) tick()
  const both = createSuiSwapChain({ network, rpcUrls: [first.node.url, second.node.url] })
  const { hash } = await both.readSigned(raw)
  // One node alone may claim a payment.
  expect(await both.observe(hash)).toEqual({ kind: 'pending' })
  await expect(both.listPaidFees({ from: 1, to: 1, feeTo: [feeTo] })).rejects.toMatchObject({
    code: 'NETWORK_UNAVAILABLE',
  })
})

test('signatures of passkeys are checked, and zkLogin is refused where no node checks it', async () => {
  const { chain, node, orderFor } = await start()
  const passkey = await createPasskey()
  const address = passkey.toSuiAddress()
  node.mint(address, 50_000_000_000n)
  const { swap } = await chain.prepare(orderFor(address))
  const { bytes, signature } = await passkey.signTransaction(fromBase64(swap))
  const { signature: foreign } = await (await createPasskey()).signTransaction(fromBase64(swap))
  await expect(chain.readSigned(JSON.stringify({ bytes, signature: foreign }))).rejects.toMatchObject({
    ...{ code: 'RAW_TX_INVALID', message: expect.stringContaining('not that of the sender') },
  })
  const raw = JSON.stringify({ bytes, signature })
  expect(await chain.readSigned(raw)).toMatchObject({ signer: address, action: { kind: 'swap' } })
  expect(await chain.broadcast(raw)).toEqual({ kind: 'accepted' })

  const zkLogin = createZkLogin()
  node.mint(zkLogin.address, 50_000_000_000n)
  const { swap: other } = await chain.prepare(orderFor(zkLogin.address))
  const signed = { bytes: other, signature: await zkLogin.sign(fromBase64(other)) }
  await expect(chain.readSigned(JSON.stringify(signed))).rejects.toMatchObject({
    ...{ code: 'RAW_TX_INVALID', message: expect.stringContaining('no node of this network checks zkLogin') },
  })
})

test('a node decides whether a zkLogin signature is that of the sender', async () => {
  const { chain: direct, node, orderFor } = await start()
  const proxy = await startNodeProxy(node.url)
  onTestFinished(proxy.stop)
  const chain = createSuiSwapChain({ network, rpcUrls: [proxy.url] })
  const { address, sign: signAs } = createZkLogin()
  node.mint(address, 50_000_000_000n)
  const { swap } = await direct.prepare(orderFor(address))
  const signature = await signAs(fromBase64(swap))
  const raw = JSON.stringify({ bytes: swap, signature })

  proxy.hooks.signatures = 'valid'
  expect(await chain.readSigned(raw)).toMatchObject({ signer: address, action: { kind: 'swap' } })
  expect(proxy.hooks.verified).toMatchObject([
    {
      ...{ address, message: { name: 'TransactionData', value: fromBase64(swap) } },
      signature: { bcs: { value: fromBase64(signature) } },
    },
  ])
  proxy.hooks.signatures = 'invalid'
  await expect(chain.readSigned(raw)).rejects.toMatchObject({
    ...{ code: 'RAW_TX_INVALID', message: expect.stringContaining('not that of the sender') },
  })
  proxy.hooks.signatures = 'unavailable'
  const failure = await Promise.resolve(chain.readSigned(raw)).catch((error: unknown) => error)
  expect(failure).toMatchObject({
    ...{ code: 'NETWORK_UNAVAILABLE', message: expect.stringContaining('check the signature'), retryable: true },
  })
  expect(statusOf((failure as AppError).code)).toBe(503)
  // Another node answers in its place.
  const answering = await startNodeProxy(node.url)
  onTestFinished(answering.stop)
  answering.hooks.signatures = 'valid'
  const both = createSuiSwapChain({ network, rpcUrls: [proxy.url, answering.url] })
  expect(await both.readSigned(raw)).toMatchObject({ signer: address })
})
