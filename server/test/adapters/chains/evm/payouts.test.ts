import { getAddress, keccak256, parseTransaction } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signEvm } from '../../../../src/adapters/chains/evm/sign.ts'
import type { Asset } from '../../../../src/core/domain/asset.ts'
import type { Observation, SpendRequest, UnsignedTransaction } from '../../../../src/exchange/ports/chain.ts'
import type { KeyPath } from '../../../../src/exchange/ports/spend.ts'
import { type Anvil, call, hex, startAnvil } from './anvil.ts'
import { type FaultyNode, startFaultyNode } from './faulty-node.ts'
import { type ActorName, type Compiled, type TokenName, testActors, testTokens } from './tokens.ts'
import { chainOf, coin, keys, network, pay, token } from './wallet.ts'

const HOT: KeyPath = { branch: 'hot', index: 0 }

let anvil: Anvil
let second: FaultyNode
let tokens: Readonly<Record<TokenName, Compiled>>
let actors: Readonly<Record<ActorName, Compiled>>
let chain: ReturnType<typeof chainOf>
let nonce = 0
let next = 5000

beforeAll(async () => {
  ;[anvil, tokens, actors] = await Promise.all([startAnvil(), testTokens(), testActors()])
  second = await startFaultyNode(anvil.url)
  chain = chainOf([anvil.url, second.url])
  await anvil.sendAndMine({ to: chain.addresses.hot(), value: 100n * 10n ** 18n })
})
afterAll(async () => {
  await Promise.all([anvil.stop(), second.stop()])
})

const fresh = () => chain.addresses.deposit(next++).address

async function build(
  address: string,
  asset: Asset,
  units: bigint,
  parts: Partial<SpendRequest> = {},
): Promise<UnsignedTransaction> {
  const wanted = pay(address, asset, units)
  const from = parts.from ?? HOT
  const gasLimit = parts.gasLimit ?? (await chain.sender.gasLimit(wanted, from))
  const fee = await chain.reader.feeRate()
  const fixed = { utxos: [], changeIndex: 0, replaces: null, sweepAll: false, nonce: parts.nonce ?? nonce++ }
  return chain.sender.build({ payments: [wanted], from, fee, gasLimit, ...fixed, ...parts })
}

async function deploy(name: TokenName, ...more: bigint[]) {
  const { abi } = tokens[name]
  const contract = getAddress(await anvil.deploy(tokens[name], ['Test', 'TST', 6, ...more]))
  await anvil.sendAndMine({ to: contract, data: call(abi, 'mint', [chain.addresses.hot(), 10n ** 12n]) })
  return { abi, contract, asset: token(contract) }
}

const sign = ({ intent }: UnsignedTransaction) => signEvm(intent, keys)
const observe = (unsigned: UnsignedTransaction): Promise<Observation> =>
  chain.sender.observe({ txHash: sign(unsigned).txHash, conflictKey: unsigned.conflictKey })
const balance = (address: string, asset: Asset) => chain.reader.balance(address, asset)

describe('a payout', () => {
  test('of the coin is accepted, pending, included, and costs what the receipt says', async () => {
    const to = fresh()
    const before = await balance(chain.addresses.hot(), coin)
    const unsigned = await build(to, coin, 5n * 10n ** 17n)
    expect(unsigned.intent).toMatchObject({ gasLimit: 21_000n })
    const { raw, txHash } = sign(unsigned)
    expect(txHash).toBe(keccak256(raw as `0x${string}`))
    expect(await observe(unsigned)).toEqual({ kind: 'unseen' })
    expect(await chain.sender.broadcast(raw)).toEqual({ kind: 'accepted' })
    expect(await observe(unsigned)).toEqual({ kind: 'pending' })
    expect((await chain.sender.broadcast(raw)).kind).toBe('known')
    const height = await anvil.mine()
    const observed = await observe(unsigned)
    expect(observed).toMatchObject({ kind: 'included', ok: true, block: { height } })
    expect(await balance(to, coin)).toBe(5n * 10n ** 17n)
    const spent = before - (await balance(chain.addresses.hot(), coin)) - 5n * 10n ** 17n
    expect(observed).toMatchObject({ feeUnits: spent })
    expect(spent).toBeLessThanOrEqual(unsigned.feeUnits)
    expect(await chain.sender.broadcast(raw)).toEqual({ kind: 'known' })
  })

  test('that is in a block is read in its scan with its sender and nonce', async () => {
    const unsigned = await build(fresh(), coin, 1n)
    await chain.sender.broadcast(sign(unsigned).raw)
    const block = await chain.reader.block(await anvil.mine())
    const [only] = block?.transactions ?? []
    expect(only).toEqual({ txHash: sign(unsigned).txHash, sender: chain.addresses.hot(), nonce: nonce - 1, spends: [] })
    expect(unsigned.conflictKey).toBe(`${chain.addresses.hot()}:${nonce - 1}`)
  })

  test.each(['StandardToken', 'NoReturnToken', 'FalseToken'] as const)('of a %s arrives', async (name) => {
    const { asset } = await deploy(name)
    const to = fresh()
    const unsigned = await build(to, asset, 77n)
    expect((await chain.sender.broadcast(sign(unsigned).raw)).kind).toBe('accepted')
    await anvil.mine()
    expect(await observe(unsigned)).toMatchObject({ kind: 'included', ok: true })
    expect(await balance(to, asset)).toBe(77n)
  })

  test('that its token refuses by returning false is not paid, though its transaction succeeded (D20)', async () => {
    const { abi, contract, asset } = await deploy('FalseToken')
    const to = fresh()
    const unsigned = await build(to, asset, 77n)
    await anvil.sendAndMine({ to: contract, data: call(abi, 'refuse', [true]) })
    await chain.sender.broadcast(sign(unsigned).raw)
    await anvil.mine()
    expect(await observe(unsigned)).toMatchObject({ kind: 'included', ok: false })
    expect(await balance(to, asset)).toBe(0n)
    await expect(chain.sender.gasLimit(pay(to, asset, 77n), HOT)).rejects.toMatchObject({ code: 'SIMULATION_FAILED' })
  })

  test('from a blacklisted wallet would fail, and is not tried (D21)', async () => {
    const { abi, contract, asset } = await deploy('NoReturnToken')
    await anvil.sendAndMine({ to: contract, data: call(abi, 'addBlackList', [chain.addresses.hot()]) })
    await expect(chain.sender.gasLimit(pay(fresh(), asset, 1n), HOT)).rejects.toMatchObject({
      code: 'SIMULATION_FAILED',
      retryable: false,
    })
  })

  test('to a contract that takes no coin would fail; one that burns gas is too dear', async () => {
    const refuser = getAddress(await anvil.deploy(actors.Refuser, []))
    const eater = getAddress(await anvil.deploy(actors.GasEater, []))
    for (const address of [refuser, eater]) {
      await expect(chain.sender.gasLimit(pay(address, coin, 1n), HOT)).rejects.toMatchObject({
        code: 'SIMULATION_FAILED',
      })
    }
  })

  test('to a contract that takes coin has a margin of gas', async () => {
    const forwarder = getAddress(await anvil.deploy(actors.Forwarder, []))
    expect(await chain.sender.gasLimit(pay(forwarder, coin, 1n), HOT)).toBeGreaterThan(25_000n)
  })

  test('of more than the wallet holds waits for coins', async () => {
    const { asset } = await deploy('StandardToken')
    for (const [of, units] of [
      [asset, 10n ** 12n + 1n],
      [coin, 10n ** 21n],
    ] as const) {
      await expect(chain.sender.gasLimit(pay(fresh(), of, units), HOT)).rejects.toMatchObject({
        code: 'INSUFFICIENT_LIQUIDITY',
      })
    }
  })

  test('that reverts on chain is included and not ok', async () => {
    const { abi, contract, asset } = await deploy('NoReturnToken')
    const unsigned = await build(fresh(), asset, 1n)
    await anvil.sendAndMine({ to: contract, data: call(abi, 'addBlackList', [chain.addresses.hot()]) })
    await chain.sender.broadcast(sign(unsigned).raw)
    await anvil.mine()
    expect(await observe(unsigned)).toMatchObject({ kind: 'included', ok: false })
  })

  test('of a deposit address sweeps all but what the fee may take', async () => {
    const path: KeyPath = { branch: 'deposit', index: 4001 }
    const { address } = chain.addresses.deposit(path.index)
    await anvil.sendAndMine({ to: address, value: 10n ** 18n })
    const unsigned = await build(chain.addresses.hot(), coin, 10n ** 18n, { from: path, nonce: 0, sweepAll: true })
    expect((await chain.sender.broadcast(sign(unsigned).raw)).kind).toBe('accepted')
    await anvil.mine()
    expect(await observe(unsigned)).toMatchObject({ kind: 'included', ok: true })
    expect(await balance(address, coin)).toBeLessThan(unsigned.feeUnits)
  })
})

describe('a replacement', () => {
  test('takes the place of what it replaces, which is dead once that is final', async () => {
    const to = fresh()
    const first = await build(to, coin, 9n)
    expect((await chain.sender.broadcast(sign(first).raw)).kind).toBe('accepted')
    const replacement = await build(to, coin, 9n, { nonce: nonce - 1, replaces: first })
    expect(replacement.conflictKey).toBe(first.conflictKey)
    expect((await chain.sender.broadcast(sign(replacement).raw)).kind).toBe('accepted')
    const height = await anvil.mine()
    expect(await observe(replacement)).toMatchObject({ kind: 'included', ok: true, block: { height } })
    expect((await observe(first)).kind).toBe('unseen')
    expect(await chain.sender.broadcast(sign(first).raw)).toMatchObject({
      kind: 'rejected',
      reason: expect.stringMatching(/is used$/),
    })
    await anvil.mine(network.finalityBlocks - 1)
    expect((await observe(first)).kind).toBe('unseen')
    const top = await anvil.mine()
    const { hash } = (await chain.reader.block(height)) ?? {}
    expect(await observe(first)).toMatchObject({
      kind: 'invalidated',
      proof: { rival: sign(replacement).txHash, height, hash, finalHeight: top - network.finalityBlocks, nodes: 2 },
    })
    expect(await observe(replacement)).toMatchObject({ kind: 'included' })
    expect(await balance(to, coin)).toBe(9n)
  })

  test('without a higher fee is refused by the nodes', async () => {
    const first = await build(fresh(), coin, 9n)
    await chain.sender.broadcast(sign(first).raw)
    const same = await build(fresh(), coin, 10n, { nonce: nonce - 1 })
    expect(await chain.sender.broadcast(sign(same).raw)).toMatchObject({ kind: 'rejected' })
    await anvil.mine()
  })

  test('that a reorganization undoes leaves both alive', async () => {
    const to = fresh()
    const first = await build(to, coin, 3n)
    await chain.sender.broadcast(sign(first).raw)
    await anvil.mine()
    expect((await observe(first)).kind).toBe('included')
    await anvil.request('anvil_reorg', [1, []])
    expect((await observe(first)).kind).toBe('unseen')
    expect((await chain.sender.broadcast(sign(first).raw)).kind).toBe('accepted')
    await anvil.mine()
    expect(await balance(to, coin)).toBe(3n)
  })
})

describe('the proof of death', () => {
  async function replacedAndFinal() {
    const to = fresh()
    const first = await build(to, coin, 2n)
    const rival = await build(to, coin, 2n, { nonce: nonce - 1, replaces: first })
    await chain.sender.broadcast(sign(rival).raw)
    await anvil.mine(network.finalityBlocks + 2)
    return { first, rival }
  }

  test('is not had from nodes that merely know no receipt', async () => {
    const { rival } = await replacedAndFinal()
    const { txHash } = sign(rival)
    const forgetful = await startFaultyNode(anvil.url)
    forgetful.set(({ method, params }) =>
      params[0] === txHash && /Receipt$|ByHash$/.test(method) ? { result: null } : undefined,
    )
    const blind = chainOf([forgetful.url])
    expect(await blind.sender.observe({ txHash, conflictKey: rival.conflictKey })).toEqual({ kind: 'unseen' })
    await forgetful.stop()
  })

  test('is not had while one node lags behind finality', async () => {
    const { first } = await replacedAndFinal()
    const head = Number(await anvil.request('eth_blockNumber', []))
    second.set(({ method }) => (method === 'eth_blockNumber' ? { result: hex(head - 4) } : undefined))
    expect(await observe(first)).toEqual({ kind: 'unseen' })
    second.set(() => undefined)
    expect(await observe(first)).toMatchObject({ kind: 'invalidated' })
  })

  test('is not had where the nodes no longer have the state, and that is said', async () => {
    const { first } = await replacedAndFinal()
    second.set(({ method, params }) =>
      method === 'eth_getTransactionCount' && params[1] !== 'latest'
        ? { error: { code: -32000, message: 'missing trie node' } }
        : undefined,
    )
    chain.notes.length = 0
    expect(await observe(first)).toEqual({ kind: 'unseen' })
    expect(chain.notes).toContainEqual(expect.objectContaining({ kind: 'state-pruned' }))
    second.set(() => undefined)
  })

  test('is had without old states where a person names what used the nonce, and from no other name', async () => {
    const { first, rival } = await replacedAndFinal()
    const stranger = await anvil.send({ to: fresh(), value: 1n })
    await anvil.mine(network.finalityBlocks + 2)
    second.set(({ method, params }) =>
      method === 'eth_getTransactionCount' && params[1] !== 'latest'
        ? { error: { code: -32000, message: 'missing trie node' } }
        : undefined,
    )
    const watched = { txHash: sign(first).txHash, conflictKey: first.conflictKey }
    const named = (hash: string) => chain.sender.observe({ ...watched, conflictingTxHash: hash })
    for (const wrong of [stranger, watched.txHash, `0x${'0'.repeat(64)}`, 'nothing'])
      expect(await named(wrong)).toEqual({ kind: 'unseen' })
    const { txHash } = sign(rival)
    expect(await named(txHash)).toMatchObject({ kind: 'invalidated', proof: { rival: txHash } })
    second.set(({ params }) => (params[0] === txHash || params[1] === true ? { result: null } : undefined))
    expect((await named(txHash)).kind).not.toBe('invalidated')
    second.set(() => undefined)
  })

  test('is not had from a node that does not answer', async () => {
    const { first } = await replacedAndFinal()
    second.set(() => ({ status: 503 }))
    await expect(observe(first)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
    second.set(() => undefined)
  })
})

describe('a broadcast', () => {
  test('whose answers are lost is unknown, unless a node has it', async () => {
    const unsigned = await build(fresh(), coin, 1n)
    const { raw } = sign(unsigned)
    const alone = chainOf([second.url], { rpc: { timeoutMs: 500, attempts: 1 } })
    second.set(({ method }) => (method === 'eth_sendRawTransaction' ? 'silence' : undefined))
    expect((await alone.sender.broadcast(raw)).kind).toBe('unknown')
    // Taken, but the answer is lost.
    second.set(async ({ method }, forward) => {
      if (method !== 'eth_sendRawTransaction') return undefined
      await forward()
      return { status: 502 }
    })
    expect(await alone.sender.broadcast(raw)).toEqual({ kind: 'known' })
    second.set(() => undefined)
    await anvil.mine()
    expect((await observe(unsigned)).kind).toBe('included')
  })

  test('that one node takes is accepted, whatever the other says', async () => {
    const unsigned = await build(fresh(), coin, 1n)
    second.set(({ method }) =>
      method === 'eth_sendRawTransaction' ? { error: { code: -32000, message: 'no' } } : undefined,
    )
    expect((await chain.sender.broadcast(sign(unsigned).raw)).kind).toBe('accepted')
    second.set(() => undefined)
    await anvil.mine()
  })

  test('that one node refuses, and another leaves in doubt, is unknown', async () => {
    const unsigned = await build(fresh(), coin, 1n)
    nonce--
    const refusing = await startFaultyNode(anvil.url)
    refusing.set(({ method }) =>
      method === 'eth_sendRawTransaction' ? { error: { code: -32000, message: 'no' } } : undefined,
    )
    second.set(({ method }) =>
      method === 'eth_sendRawTransaction' ? { error: { code: -32603, message: 'oops' } } : undefined,
    )
    const both = chainOf([refusing.url, second.url])
    expect((await both.sender.broadcast(sign(unsigned).raw)).kind).toBe('unknown')
    second.set(() => undefined)
    await refusing.stop()
  })
})

describe('fees', () => {
  test('are twice the next base fee and a tip, and never above the cap', async () => {
    const { baseFeePerGas } = await anvil.request<{ baseFeePerGas: string[] }>('eth_feeHistory', ['0x1', 'latest', []])
    const { rate, tip } = await chain.reader.feeRate()
    expect(rate).toBe(2n * BigInt(baseFeePerGas.at(-1) ?? 0) + tip)
    const capped = chainOf([anvil.url], { caps: { rate: 10n ** 18n, tip: 5n } })
    expect((await capped.reader.feeRate()).tip).toBe(5n)
    const tight = chainOf([anvil.url], { caps: { rate: 1n, tip: 1n } })
    await expect(tight.reader.feeRate()).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
  })

  test('of a chain without EIP-1559 are its gas price and a quarter, and its transfers are of the old form', async () => {
    const evm = { chainId: network.evm?.chainId ?? 0, finalityTag: null, dynamicFees: false }
    const old = chainOf([anvil.url], { network: { ...network, evm } })
    const fee = await old.reader.feeRate()
    const price = BigInt(await anvil.request('eth_gasPrice', []))
    expect(fee.tip).toBe(0n)
    expect(fee.rate).toBe(((price * 5n) / 8n) * 2n)
    const unsigned = old.sender.build({
      payments: [pay(fresh(), coin, 1n)],
      from: HOT,
      fee,
      nonce: nonce++,
      gasLimit: 21_000n,
      utxos: [],
      changeIndex: 0,
      replaces: null,
      sweepAll: false,
    })
    const { raw } = sign(unsigned)
    expect(parseTransaction(raw as `0x${string}`).type).toBe('legacy')
    expect((await old.sender.broadcast(raw)).kind).toBe('accepted')
    await anvil.mine()
    expect((await observe(unsigned)).kind).toBe('included')
  })

  test('of the OP stack hold what the first layer takes', async () => {
    const oracle = await anvil.deploy(actors.L1Oracle, [])
    const code = await anvil.request('eth_getCode', [oracle, 'latest'])
    const predeploy = '0x420000000000000000000000000000000000000F'
    await anvil.request('anvil_setCode', [predeploy, code])
    const fee = await chain.reader.feeRate()
    // 200 bytes at 1 gwei, and half of it as a margin.
    expect(fee.l1Fee).toBe(300n * 10n ** 9n)
    expect(chain.sender.payoutFee(coin, fee)).toBe(25_200n * fee.rate + 300n * 10n ** 9n)
    await anvil.request('anvil_setCode', [predeploy, '0x'])
    expect((await chain.reader.feeRate()).l1Fee).toBeUndefined()
  })
})
