import { beforeEach, describe, expect, test } from 'vitest'
import { eth } from '../../networks/eth.ts'
import { resolveNetwork } from '../../src/core/domain/network.ts'
import type { Chain, ScannedBlock, SpendRequest, UnsignedTransaction } from '../../src/exchange/ports/chain.ts'
import { createMemoryChain } from './chain.ts'
import { createMemoryKeys } from './keys.ts'
import { createMemoryNetwork, type MemoryNetwork } from './network.ts'
import { signMemory } from './transaction.ts'

const network = resolveNetwork(eth, 'sandbox')
const keys = createMemoryKeys('test')
const native = { id: 'eth@eth', ticker: 'eth', network: 'eth', decimals: 18, contract: null } as const
const token = {
  ...native,
  id: 'usdt@eth',
  ticker: 'usdt',
  decimals: 6,
  contract: '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
} as const
/** Example address of EIP-55. */
const stranger = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const ONE_ETHER = 10n ** 18n
const unavailable = expect.objectContaining({ code: 'NETWORK_UNAVAILABLE' })

let memoryNetwork: MemoryNetwork
let chain: Chain
let ours: string

beforeEach(() => {
  memoryNetwork = createMemoryNetwork({ network })
  chain = createMemoryChain({ network, memoryNetwork, publicKeys: keys })
  ours = chain.addresses.deposit(0).address
  memoryNetwork.pay({ address: chain.addresses.hot(), units: 10n * ONE_ETHER })
  memoryNetwork.mine()
})

async function build(
  parts: Partial<SpendRequest> & { units?: bigint; asset?: typeof native | typeof token } = {},
): Promise<UnsignedTransaction> {
  const { units = ONE_ETHER, asset = native, ...more } = parts
  return chain.sender.build({
    payments: [{ payoutId: 'one', address: stranger, memo: null, asset, units }],
    from: { branch: 'hot', index: 0 },
    fee: parts.fee ?? (await chain.reader.feeRate()),
    utxos: [],
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
  memoryNetwork.pay({ address: ours, units: 5n })
  memoryNetwork.mine()
  const block = await newest()
  const transfer = block.transfers.find(({ address }) => address === ours)
  if (!transfer) throw new Error('no transfer')
  return { block, transfer }
}

describe('the simulated chain', () => {
  test('is deterministic: the same seed and calls give the same blocks', () => {
    const make = (seed: string) => {
      const other = createMemoryNetwork({ network, seed })
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

  test('rejects a transaction with an invalid signature', async () => {
    const { intent } = await build()
    const { raw } = signMemory(intent, keys)
    const [text, point, signature] = JSON.parse(Buffer.from(raw.slice(2), 'hex').toString()) as [string, string, string]
    const pack = (...parts: string[]) => `0x${Buffer.from(JSON.stringify(parts)).toString('hex')}`
    expect(pack(text, point, signature)).toBe(raw)
    const inflated = text.replace(String(ONE_ETHER), String(2n * ONE_ETHER))
    const foreign = signMemory(intent, createMemoryKeys('attacker')).raw
    const [, foreignPoint] = JSON.parse(Buffer.from(foreign.slice(2), 'hex').toString()) as [string, string, string]
    for (const forged of [
      pack(inflated, point, signature),
      pack(text, foreignPoint, signature),
      pack(text, point, signature.replaceAll('a', 'b')),
      pack(` ${text}`, point, signature),
      `${raw}00`,
      '0x',
      'nonsense',
    ]) {
      expect(await chain.sender.broadcast(forged)).toEqual({ kind: 'rejected', reason: 'invalid transaction' })
    }
    // The other key's signature is valid, but its account is empty.
    expect(await chain.sender.broadcast(foreign)).toEqual({ kind: 'rejected', reason: 'insufficient funds' })
    memoryNetwork.mine(2)
    expect(memoryNetwork.balance(stranger)).toBe(0n)
  })

  test('mines consecutive nonces and rejects a used nonce', async () => {
    const [second, first] = [await sent({ nonce: 1 }), await build({ nonce: 0, units: 3n })]
    memoryNetwork.mine()
    expect(await chain.sender.observe(second.attempt)).toEqual({ kind: 'pending' })
    await chain.sender.broadcast(signMemory(first.intent, keys).raw)
    memoryNetwork.mine()
    expect(memoryNetwork.balance(stranger)).toBe(ONE_ETHER + 3n)
    expect((await sent({ nonce: 1, units: 9n })).result).toEqual({ kind: 'rejected', reason: 'nonce too low' })
  })

  test('keeps a transfer below the base fee pending; a token transfer without balance fails and pays gas', async () => {
    memoryNetwork.setBaseFee(10n ** 12n)
    const { attempt } = await sent({ fee: { rate: 2n * 10n ** 9n, tip: 0n } })
    memoryNetwork.mine()
    expect(await chain.sender.observe(attempt)).toEqual({ kind: 'pending' })
    memoryNetwork.setBaseFee(10n ** 9n)
    memoryNetwork.mine()
    expect(await chain.sender.observe(attempt)).toMatchObject({
      kind: 'included',
      ok: true,
      feeUnits: 21_000n * 10n ** 9n,
    })
    const before = memoryNetwork.balance(chain.addresses.hot())
    const failing = await sent({ nonce: 1, asset: token, units: 5n })
    memoryNetwork.mine()
    expect(await chain.sender.observe(failing.attempt)).toMatchObject({ kind: 'included', ok: false })
    expect((await newest()).transfers).toEqual([])
    expect(memoryNetwork.balance(chain.addresses.hot())).toBeLessThan(before)
  })

  test('reports the units that a fee-on-transfer token delivered', async () => {
    memoryNetwork.pay({ address: ours, units: 100n, contract: token.contract, deliveredUnits: 97n })
    memoryNetwork.pay({ address: ours, units: 100n, contract: token.contract }, { fails: true })
    memoryNetwork.mine()
    const block = await newest()
    const [transfer, ...others] = block.transfers
    if (!transfer) throw new Error('no transfer')
    expect([transfer.units, others]).toEqual([100n, []])
    expect(await chain.reader.receivedUnits(transfer, block)).toBe(97n)
    expect(await chain.reader.balance(ours, token)).toBe(97n)
  })

  test.each([
    ['mined', 1, ONE_ETHER],
    ['pending', 0, ONE_ETHER],
    ['dropped', 0, 0n],
  ] as const)('a reorganisation leaves replaced transactions %s', async (orphans, included, later) => {
    const { attempt } = await sent()
    memoryNetwork.mine(2)
    const before = memoryNetwork.head()
    const after = memoryNetwork.reorg(2, { orphans })
    expect(after.height).toBe(before.height + 1)
    expect(await chain.reader.agrees(before)).toBe(false)
    expect((await chain.sender.observe(attempt)).kind === 'included').toBe(included === 1)
    memoryNetwork.mine()
    expect(memoryNetwork.balance(stranger)).toBe(later)
  })

  test('a transaction whose funding was dropped by a reorganisation stays pending until it is funded again', async () => {
    const { attempt } = await sent()
    memoryNetwork.mine()
    memoryNetwork.reorg(2, { orphans: (txHash) => (txHash === attempt.txHash ? 'mined' : 'dropped') })
    memoryNetwork.mine(2)
    expect([memoryNetwork.balance(stranger), memoryNetwork.balance(chain.addresses.hot())]).toEqual([0n, 0n])
    memoryNetwork.pay({ address: chain.addresses.hot(), units: 2n * ONE_ETHER })
    memoryNetwork.mine(2)
    expect(memoryNetwork.balance(stranger)).toBe(ONE_ETHER)
  })
})

describe('a node', () => {
  test('that lags limits the agreed head and does not agree on newer blocks', async () => {
    const { block, transfer } = await deposited()
    memoryNetwork.setFaults('b', { lag: 2 })
    expect(await chain.reader.head()).toMatchObject({ height: block.height - 2 })
    expect(await chain.reader.agrees(block)).toBe(false)
    expect(await chain.reader.block(block.height)).toBeNull()
    await expect(chain.reader.receivedUnits(transfer, block)).rejects.toEqual(unavailable)
    expect(await chain.reader.balance(ours, native)).toBe(0n)
    memoryNetwork.setFaults('b')
    expect(await chain.reader.agrees(block)).toBe(true)
    expect(await chain.reader.receivedUnits(transfer, block)).toBe(5n)
  })

  test('on a fork keeps an orphaned deposit, which is not reported as received', async () => {
    const { block, transfer } = await deposited()
    memoryNetwork.setFaults('b', { isForked: true })
    memoryNetwork.reorg(1, { orphans: 'dropped' })
    memoryNetwork.mine(3)
    const alone = createMemoryChain({ network, memoryNetwork, publicKeys: keys, nodes: ['b'] })
    expect(await alone.reader.receivedUnits(transfer, block)).toBe(5n)
    expect((await alone.reader.head()).height).toBe(block.height + 3)
    expect(await chain.reader.head()).toMatchObject({ height: block.height - 1 })
    expect(await chain.reader.agrees(block)).toBe(false)
    await expect(chain.reader.receivedUnits(transfer, block)).rejects.toEqual(unavailable)
    memoryNetwork.setFaults('b')
    expect((await chain.reader.head()).height).toBe(memoryNetwork.head().height)
    expect(memoryNetwork.balance(ours)).toBe(0n)
  })

  test('that hides a transaction leaves it pending at any depth', async () => {
    const { attempt } = await sent()
    memoryNetwork.setFaults('a', { isHidden: (txHash) => txHash === attempt.txHash })
    memoryNetwork.mine(20)
    expect(await chain.sender.observe(attempt)).toEqual({ kind: 'pending' })
    memoryNetwork.setFaults('a')
    expect(await chain.sender.observe(attempt)).toMatchObject({ kind: 'included', ok: true })
  })

  test('that accepts a broadcast without an answer gives `unknown`; a repeated broadcast pays once', async () => {
    for (const name of ['a', 'b']) memoryNetwork.setFaults(name, { broadcast: 'unanswered' })
    const { raw, attempt, result } = await sent()
    expect(result.kind).toBe('unknown')
    expect(await chain.sender.observe(attempt)).toEqual({ kind: 'pending' })
    for (const name of ['a', 'b']) memoryNetwork.setFaults(name)
    expect(await chain.sender.broadcast(raw)).toEqual({ kind: 'known' })
    memoryNetwork.mine(2)
    expect(memoryNetwork.balance(stranger)).toBe(ONE_ETHER)
  })

  test('that loses a broadcast gives `unknown`, and nothing is paid', async () => {
    for (const name of ['a', 'b']) memoryNetwork.setFaults(name, { broadcast: 'lost' })
    const { attempt, result } = await sent()
    expect(result.kind).toBe('unknown')
    memoryNetwork.mine(2)
    expect(await chain.sender.observe(attempt)).toEqual({ kind: 'unseen' })
    expect(memoryNetwork.balance(stranger)).toBe(0n)
  })

  test('that withholds a transaction relays it after the fault ends', async () => {
    memoryNetwork.setFaults('a', { broadcast: 'withheld' })
    memoryNetwork.setFaults('b', { broadcast: 'refused' })
    const { attempt, result } = await sent()
    expect(result).toEqual({ kind: 'accepted' })
    memoryNetwork.mine(3)
    expect(await chain.sender.observe(attempt)).toEqual({ kind: 'pending' })
    memoryNetwork.setFaults('a')
    memoryNetwork.mine()
    expect(memoryNetwork.balance(stranger)).toBe(ONE_ETHER)
  })

  test('that is silent blocks all reads but not a broadcast', async () => {
    memoryNetwork.setFaults('b', { isSilent: true })
    await expect(chain.reader.head()).rejects.toEqual(unavailable)
    await expect(chain.reader.agrees(memoryNetwork.head())).rejects.toEqual(unavailable)
    const alone = createMemoryChain({ network, memoryNetwork, publicKeys: keys, nodes: ['a'] })
    const unsigned = await build({ fee: await alone.reader.feeRate() })
    const { raw, txHash } = signMemory(unsigned.intent, keys)
    expect(await chain.sender.broadcast(raw)).toEqual({ kind: 'accepted' })
    await expect(chain.sender.observe({ txHash, conflictKey: null })).rejects.toEqual(unavailable)
  })

  test('that lags delays a conflict proof', async () => {
    const first = await sent()
    const second = await sent({ fee: { rate: 10n ** 10n, tip: 10n ** 9n } })
    expect(second.result).toEqual({ kind: 'accepted' })
    memoryNetwork.mine(network.finalityBlocks + 1)
    memoryNetwork.setFaults('b', { lag: 1 })
    expect(await chain.sender.observe(first.attempt)).toEqual({ kind: 'unseen' })
    memoryNetwork.setFaults('b')
    expect(await chain.sender.observe(first.attempt)).toMatchObject({
      kind: 'invalidated',
      proof: { conflictingTxHash: second.attempt.txHash },
    })
  })

  test('that inflates amounts does not change the received units', async () => {
    memoryNetwork.setFaults('a', { inflationFactor: 1_000n })
    const { block, transfer } = await deposited()
    expect(transfer.units).toBe(5_000n)
    expect(await chain.reader.receivedUnits(transfer, block)).toBe(5n)
  })

  test('that accepts and forgets a transaction pays nothing', async () => {
    for (const name of ['a', 'b']) memoryNetwork.setFaults(name, { broadcast: 'forgotten' })
    const { attempt, result } = await sent()
    expect(result).toEqual({ kind: 'accepted' })
    memoryNetwork.mine(2)
    expect(await chain.sender.observe(attempt)).toEqual({ kind: 'unseen' })
  })
})
