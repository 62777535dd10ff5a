import { beforeEach, describe, expect, test } from 'vitest'
import { eth } from '../../../../networks/eth.ts'
import { resolveNetwork } from '../../../core/domain/network.ts'
import type { Chain, ScannedBlock, SpendRequest, Unsigned } from '../../../exchange/ports/chain.ts'
import { createMemoryChain } from './chain.ts'
import { createMemoryKeys } from './keys.ts'
import { signMemory } from './transaction.ts'
import { createMemoryWorld, type MemoryWorld } from './world.ts'

const network = resolveNetwork(eth, 'sandbox')
const keys = createMemoryKeys('house')
const coin = { id: 'eth@eth', ticker: 'eth', network: 'eth', decimals: 18, contract: null } as const
const token = {
  ...coin,
  id: 'usdt@eth',
  ticker: 'usdt',
  decimals: 6,
  contract: '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
} as const
/** From EIP-55. */
const stranger = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const COINS = 10n ** 18n
const unavailable = expect.objectContaining({ code: 'NETWORK_UNAVAILABLE' })

let world: MemoryWorld
let chain: Chain
let ours: string

beforeEach(() => {
  world = createMemoryWorld({ network })
  chain = createMemoryChain({ network, world, publicKeys: keys })
  ours = chain.addresses.deposit(0).address
  world.pay({ address: chain.addresses.hot(), units: 10n * COINS })
  world.mine()
})

async function build(
  parts: Partial<SpendRequest> & { units?: bigint; asset?: typeof coin | typeof token } = {},
): Promise<Unsigned> {
  const { units = COINS, asset = coin, ...more } = parts
  return chain.sender.build({
    pays: [{ payoutId: 'one', address: stranger, memo: null, asset, units }],
    from: { branch: 'hot', index: 0 },
    fee: parts.fee ?? (await chain.reader.feeRate()),
    coins: [],
    changeIndex: 0,
    nonce: 0,
    replaces: null,
    gasLimit: asset.contract === null ? 21_000n : 65_000n,
    sweepAll: false,
    ...more,
  })
}

async function sent(parts: Parameters<typeof build>[0] = {}) {
  const unsigned = await build(parts)
  const { raw, txHash } = signMemory(unsigned.intent, keys)
  return { raw, attempt: { txHash, conflictKey: unsigned.conflictKey }, result: await chain.sender.broadcast(raw) }
}

async function newest(): Promise<ScannedBlock> {
  const block = await chain.reader.block((await chain.reader.head()).height)
  if (!block) throw new Error('no block')
  return block
}

async function deposited() {
  world.pay({ address: ours, units: 5n })
  world.mine()
  const block = await newest()
  const transfer = block.transfers.find(({ address }) => address === ours)
  if (!transfer) throw new Error('no transfer')
  return { block, transfer }
}

describe('the ledger', () => {
  test('is its seed and its calls: two worlds that are treated alike are alike', () => {
    const make = (seed: string) => {
      const other = createMemoryWorld({ network, seed })
      other.pay([
        { address: ours, units: 7n },
        { address: stranger, units: 1n, contract: token.contract },
      ])
      other.mine(3)
      other.reorg(2)
      return other.mine()
    }
    expect(make('one')).toEqual(make('one'))
    expect(make('one').hash).not.toBe(make('two').hash)
  })

  test('takes nothing whose signature is not the sender’s', async () => {
    const { intent } = await build()
    const { raw } = signMemory(intent, keys)
    const [text, point, signature] = JSON.parse(Buffer.from(raw.slice(2), 'hex').toString()) as [string, string, string]
    const pack = (...parts: string[]) => `0x${Buffer.from(JSON.stringify(parts)).toString('hex')}`
    expect(pack(text, point, signature)).toBe(raw)
    const dearer = text.replace(String(COINS), String(2n * COINS))
    const foreign = signMemory(intent, createMemoryKeys('thief')).raw
    const [, theirPoint] = JSON.parse(Buffer.from(foreign.slice(2), 'hex').toString()) as [string, string, string]
    for (const forged of [
      pack(dearer, point, signature),
      pack(text, theirPoint, signature),
      pack(text, point, signature.replaceAll('a', 'b')),
      pack(` ${text}`, point, signature),
      `${raw}00`,
      '0x',
      'nonsense',
    ]) {
      expect(await chain.sender.broadcast(forged)).toEqual({ kind: 'rejected', reason: 'invalid transaction' })
    }
    // The thief's own signature is good, and his account is empty.
    expect(await chain.sender.broadcast(foreign)).toEqual({ kind: 'rejected', reason: 'insufficient funds' })
    world.mine(2)
    expect(world.balance(stranger)).toBe(0n)
  })

  test('mines nonces without gaps, and refuses those that are used', async () => {
    const [second, first] = [await sent({ nonce: 1 }), await build({ nonce: 0, units: 3n })]
    world.mine()
    expect(await chain.sender.observe(second.attempt)).toEqual({ kind: 'pending' })
    await chain.sender.broadcast(signMemory(first.intent, keys).raw)
    world.mine()
    expect(world.balance(stranger)).toBe(COINS + 3n)
    expect((await sent({ nonce: 1, units: 9n })).result).toEqual({ kind: 'rejected', reason: 'nonce too low' })
  })

  test('a transfer below the price waits, and one without the token fails and costs its gas', async () => {
    world.setBaseFee(10n ** 12n)
    const { attempt } = await sent({ fee: { rate: 2n * 10n ** 9n, tip: 0n } })
    world.mine()
    expect(await chain.sender.observe(attempt)).toEqual({ kind: 'pending' })
    world.setBaseFee(10n ** 9n)
    world.mine()
    expect(await chain.sender.observe(attempt)).toMatchObject({
      kind: 'included',
      ok: true,
      feeUnits: 21_000n * 10n ** 9n,
    })
    const before = world.balance(chain.addresses.hot())
    const failing = await sent({ nonce: 1, asset: token, units: 5n })
    world.mine()
    expect(await chain.sender.observe(failing.attempt)).toMatchObject({ kind: 'included', ok: false })
    expect((await newest()).transfers).toEqual([])
    expect(world.balance(chain.addresses.hot())).toBeLessThan(before)
  })

  test('a token that delivers less than it announces is received as what it delivered', async () => {
    world.pay({ address: ours, units: 100n, contract: token.contract, delivered: 97n })
    world.pay({ address: ours, units: 100n, contract: token.contract }, { fails: true })
    world.mine()
    const block = await newest()
    const [transfer, ...others] = block.transfers
    if (!transfer) throw new Error('no transfer')
    expect([transfer.units, others]).toEqual([100n, []])
    expect(await chain.reader.received(transfer, block)).toBe(97n)
    expect(await chain.reader.balance(ours, token)).toBe(97n)
  })

  test.each([
    ['mined', 1, COINS],
    ['pending', 0, COINS],
    ['dropped', 0, 0n],
  ] as const)('a reorganisation leaves what it replaces %s', async (keep, included, later) => {
    const { attempt } = await sent()
    world.mine(2)
    const before = world.head()
    const after = world.reorg(2, { keep })
    expect(after.height).toBe(before.height + 1)
    expect(await chain.reader.agrees(before)).toBe(false)
    expect((await chain.sender.observe(attempt)).kind === 'included').toBe(included === 1)
    world.mine()
    expect(world.balance(stranger)).toBe(later)
  })

  test('a spend whose funds a reorganisation dropped waits for them', async () => {
    const { attempt } = await sent()
    world.mine()
    world.reorg(2, { keep: (txHash) => (txHash === attempt.txHash ? 'mined' : 'dropped') })
    world.mine(2)
    expect([world.balance(stranger), world.balance(chain.addresses.hot())]).toEqual([0n, 0n])
    world.pay({ address: chain.addresses.hot(), units: 2n * COINS })
    world.mine(2)
    expect(world.balance(stranger)).toBe(COINS)
  })
})

describe('a node', () => {
  test('that lags holds the head back, and does not agree with what it has not', async () => {
    const { block, transfer } = await deposited()
    world.setFaults('b', { lag: 2 })
    expect(await chain.reader.head()).toMatchObject({ height: block.height - 2 })
    expect(await chain.reader.agrees(block)).toBe(false)
    expect(await chain.reader.block(block.height)).toBeNull()
    await expect(chain.reader.received(transfer, block)).rejects.toEqual(unavailable)
    expect(await chain.reader.balance(ours, coin)).toBe(0n)
    world.setFaults('b')
    expect(await chain.reader.agrees(block)).toBe(true)
    expect(await chain.reader.received(transfer, block)).toBe(5n)
  })

  test('that forked keeps a deposit that the others lost, and nobody believes it', async () => {
    const { block, transfer } = await deposited()
    world.setFaults('b', { forks: true })
    world.reorg(1, { keep: 'dropped' })
    world.mine(3)
    const alone = createMemoryChain({ network, world, publicKeys: keys, nodes: ['b'] })
    expect(await alone.reader.received(transfer, block)).toBe(5n)
    expect((await alone.reader.head()).height).toBe(block.height + 3)
    expect(await chain.reader.head()).toMatchObject({ height: block.height - 1 })
    expect(await chain.reader.agrees(block)).toBe(false)
    await expect(chain.reader.received(transfer, block)).rejects.toEqual(unavailable)
    world.setFaults('b')
    expect((await chain.reader.head()).height).toBe(world.head().height)
    expect(world.balance(ours)).toBe(0n)
  })

  test('that hides a transaction leaves it pending, however deep it is', async () => {
    const { attempt } = await sent()
    world.setFaults('a', { hides: (txHash) => txHash === attempt.txHash })
    world.mine(20)
    expect(await chain.sender.observe(attempt)).toEqual({ kind: 'pending' })
    world.setFaults('a')
    expect(await chain.sender.observe(attempt)).toMatchObject({ kind: 'included', ok: true })
  })

  test('that took the bytes and did not answer leaves a doubt, and the same bytes pay once', async () => {
    for (const name of ['a', 'b']) world.setFaults(name, { offers: 'unanswered' })
    const { raw, attempt, result } = await sent()
    expect(result.kind).toBe('unknown')
    expect(await chain.sender.observe(attempt)).toEqual({ kind: 'pending' })
    for (const name of ['a', 'b']) world.setFaults(name)
    expect(await chain.sender.broadcast(raw)).toEqual({ kind: 'known' })
    world.mine(2)
    expect(world.balance(stranger)).toBe(COINS)
  })

  test('that lost the bytes leaves the same doubt, and nothing is paid', async () => {
    for (const name of ['a', 'b']) world.setFaults(name, { offers: 'lost' })
    const { attempt, result } = await sent()
    expect(result.kind).toBe('unknown')
    world.mine(2)
    expect(await chain.sender.observe(attempt)).toEqual({ kind: 'unseen' })
    expect(world.balance(stranger)).toBe(0n)
  })

  test('that keeps what it took to itself passes it on when it is well again', async () => {
    world.setFaults('a', { offers: 'withheld' })
    world.setFaults('b', { offers: 'refused' })
    const { attempt, result } = await sent()
    expect(result).toEqual({ kind: 'accepted' })
    world.mine(3)
    expect(await chain.sender.observe(attempt)).toEqual({ kind: 'pending' })
    world.setFaults('a')
    world.mine()
    expect(world.balance(stranger)).toBe(COINS)
  })

  test('that is silent stops every statement, and no payment', async () => {
    world.setFaults('b', { silent: true })
    await expect(chain.reader.head()).rejects.toEqual(unavailable)
    await expect(chain.reader.agrees(world.head())).rejects.toEqual(unavailable)
    const alone = createMemoryChain({ network, world, publicKeys: keys, nodes: ['a'] })
    const unsigned = await build({ fee: await alone.reader.feeRate() })
    const { raw, txHash } = signMemory(unsigned.intent, keys)
    expect(await chain.sender.broadcast(raw)).toEqual({ kind: 'accepted' })
    await expect(chain.sender.observe({ txHash, conflictKey: null })).rejects.toEqual(unavailable)
  })

  test('that is behind delays the proof of a death', async () => {
    const first = await sent()
    const second = await sent({ fee: { rate: 10n ** 10n, tip: 10n ** 9n } })
    expect(second.result).toEqual({ kind: 'accepted' })
    world.mine(network.finalityBlocks + 1)
    world.setFaults('b', { lag: 1 })
    expect(await chain.sender.observe(first.attempt)).toEqual({ kind: 'unseen' })
    world.setFaults('b')
    expect(await chain.sender.observe(first.attempt)).toMatchObject({
      kind: 'dead',
      proof: { rival: second.attempt.txHash },
    })
  })

  test('that inflates what it tells is overruled by an honest one', async () => {
    world.setFaults('a', { inflates: 1_000n })
    const { block, transfer } = await deposited()
    expect(transfer.units).toBe(5_000n)
    expect(await chain.reader.received(transfer, block)).toBe(5n)
  })

  test('that says it took the bytes and forgets them has paid nothing', async () => {
    for (const name of ['a', 'b']) world.setFaults(name, { offers: 'forgotten' })
    const { attempt, result } = await sent()
    expect(result).toEqual({ kind: 'accepted' })
    world.mine(2)
    expect(await chain.sender.observe(attempt)).toEqual({ kind: 'unseen' })
  })
})
