import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addressOf, keyAddress, parametersOf } from '../../server/src/adapters/chains/bitcoin/address.ts'
import { createBitcoinChain } from '../../server/src/adapters/chains/bitcoin/chain.ts'
import { createBitcoinSigning } from '../../server/src/adapters/chains/bitcoin/sign.ts'
import type { Network } from '../../server/src/core/domain/network.ts'
import type { BlockRef } from '../../server/src/core/ports/chain.ts'
import type { ChainReader, SpendRequest, UnsignedTransaction } from '../../server/src/exchange/ports/chain.ts'
import type { Payment, Utxo } from '../../server/src/exchange/ports/spend.ts'
import { createAppKeys } from './app-keys.ts'

/** A node of the bitcoin family on regtest, in a state of its own. */
export type TestNode = Readonly<{
  url: string
  /** Whether it can tell a valid address (`validateaddress`). */
  validates: boolean
  call(method: string, ...params: readonly unknown[]): Promise<unknown>
  stop(): Promise<void>
}>

type Hashes = readonly string[]
const unavailable = expect.objectContaining({ code: 'NETWORK_UNAVAILABLE' })
const WHOLE = 100_000_000n
/** Blocks until a coinbase may be spent. */
const MATURITY = 100

/** The app on one node: its chain, its keys, and its coins, which it mines for itself. */
export function createTestApp(network: Network, node: TestNode, urls: readonly string[] = [node.url]) {
  const { keys, publicKeys } = createAppKeys(network.coinType)
  const chain = createBitcoinChain({ network, rpcUrls: urls, publicKeys, timeoutMs: 5000 })
  const sign = createBitcoinSigning([network])
  const parameters = parametersOf(network)
  let used = 0
  let change = 0

  const mine = async (count: number, address = chain.addresses.hot()) =>
    (await node.call('generatetoaddress', count, address)) as Hashes
  return {
    chain,
    mine,
    sign: (unsigned: UnsignedTransaction) => sign(unsigned.intent, keys),
    /** An address that is not ours. */
    stranger: (index: number) =>
      keyAddress(parameters, publicKeys.publicKey(0, { branch: 'deposit', index: 500_000 + index })),
    pay: (address: string, units: bigint, at = 0): Payment => ({
      payoutId: `payout-${at}`,
      address,
      memo: null,
      asset: {
        id: `${network.id}@${network.id}`,
        ticker: network.id,
        network: network.id,
        decimals: 8,
        contract: null,
      },
      units,
    }),
    /** The next coin that the app mined and did not spend. */
    coin: async (): Promise<Utxo> => {
      const height = ++used
      if (((await node.call('getblockcount')) as number) < height + MATURITY) await mine(MATURITY)
      const block = (await node.call('getblock', await node.call('getblockhash', height))) as { tx: Hashes }
      const txid = block.tx[0] ?? ''
      const { vout } = (await node.call('getrawtransaction', txid, true)) as { vout: { value: unknown }[] }
      const [whole = '0', fraction = ''] = String(vout[0]?.value).split('.')
      return {
        outpoint: `${txid}:0`,
        units: BigInt(whole + fraction.padEnd(8, '0')),
        path: { branch: 'hot', index: 0 },
      }
    },
    build: (request: Pick<SpendRequest, 'utxos' | 'payments'> & Partial<SpendRequest>) => {
      return chain.sender.build({
        from: { branch: 'hot', index: 0 },
        fee: { rate: 20_000n, tip: 0n },
        changeIndex: change++,
        nonce: null,
        replaces: null,
        gasLimit: null,
        sweepAll: false,
        ...request,
      })
    },
  }
}

async function read(reader: ChainReader, height: number) {
  const block = await reader.block(height)
  if (block === null) throw new Error(`no block ${height}`)
  return block
}

type Context = Readonly<{ network: Network; node: TestNode; app: ReturnType<typeof createTestApp> }>

/** What every node of the family must let our adapter do, in this order. */
export function describeBitcoinChain(name: string, network: Network, start: () => Promise<TestNode>): void {
  describe(name, () => {
    let context: Context

    beforeAll(async () => {
      const node = await start()
      context = { network, node, app: createTestApp(network, node) }
      await context.app.mine(MATURITY + 5)
    }, 60_000)

    afterAll(async () => {
      await context?.app.chain.close()
      await context?.node.stop()
    })

    test('blocks are read in their order, and a coinbase is no deposit (D5)', () => readsBlocks(context))
    test('twenty payouts leave in one transaction and are followed to finality', () => followsPayouts(context))
    test('what a transfer brought is read again from its block', () => readsAgain(context))
    test('a block that leaves the chain takes its transfers along, and the transaction comes back', () =>
      followsReorgs(context))
    test('what the node refuses is rejected, and never taken for sent', () => tellsRefusals(context))
    test('invalidates a transaction once the spend of its input by another is final, not before', () =>
      provesInvalidation(context))
    test.runIf(parametersOf(network).replaceable)(
      'a replacement conflicts, and the original is refused after it (I-12)',
      () => replacesPayouts(context),
    )
    test('every kind of address that is accepted can be paid, and is recognised in the block', () =>
      paysEveryAddress(context))
    test('the fee rate lies above what the node relays and below what the app pays', () => knowsTheFee(context))
    test('balances are summed by the store', () => keepsNoBalances(context))
  })
}

async function readsBlocks({ app, node }: Context) {
  const { reader } = app.chain
  const head = await reader.head()
  expect(head.height).toBe(await node.call('getblockcount'))
  expect(head.hash).toBe(await node.call('getbestblockhash'))
  const block = await read(reader, head.height)
  const before = await read(reader, head.height - 1)
  expect(block).toMatchObject({ ...head, parentHash: before.hash, transfers: [] })
  expect(block.transactions).toHaveLength(1)
  expect(Math.abs(block.time - Date.now() / 1000)).toBeLessThan(7200)
  expect(await reader.block(head.height + 1)).toBeNull()
  expect((await read(reader, 0)).parentHash).toBe('0'.repeat(64))
}

async function followsPayouts({ app }: Context) {
  const { reader, sender } = app.chain
  const coins = [await app.coin(), await app.coin()]
  const pays = Array.from({ length: 20 }, (_, at) => app.pay(app.stranger(at), WHOLE + BigInt(at), at))
  const unsigned = app.build({ utxos: coins, payments: pays })
  const { raw, txHash } = app.sign(unsigned)
  await reader.mempool()

  expect(await sender.observe({ txHash, conflictKey: unsigned.conflictKey })).toEqual({ kind: 'unseen' })
  expect(await sender.broadcast(raw)).toEqual({ kind: 'accepted' })
  expect(await sender.broadcast(raw)).toEqual({ kind: 'known' })
  expect(await sender.observe({ txHash, conflictKey: unsigned.conflictKey })).toEqual({ kind: 'pending' })

  const sighted = await reader.mempool()
  const expected = pays.map(({ address, units }, vout) => ({
    identity: `${txHash}:${vout}`,
    txHash,
    address,
    memo: null,
    contract: null,
    units,
    sender: null,
  }))
  expect(sighted.slice(0, 20)).toEqual(expected)
  expect(sighted[20]).toMatchObject({ address: unsigned.change?.address, units: unsigned.change?.units })
  expect(await reader.mempool()).toEqual([])

  await app.mine(1)
  const head = await reader.head()
  const block = await read(reader, head.height)
  expect(block.transfers.slice(0, 20)).toEqual(expected)
  const mined = block.transactions.find((transaction) => transaction.txHash === txHash)
  expect(mined?.spends).toEqual(unsigned.resources)
  expect(await sender.observe({ txHash, conflictKey: unsigned.conflictKey })).toEqual({
    kind: 'included',
    block: head,
    ok: true,
    feeUnits: null,
  })
  expect(await sender.broadcast(raw)).toEqual({ kind: 'known' })
}

async function readsAgain({ app, node }: Context) {
  const { reader, sender } = app.chain
  const address = app.chain.addresses.deposit(3).address
  // D3: two outputs to one address are two transfers.
  const unsigned = app.build({
    utxos: [await app.coin()],
    payments: [app.pay(address, 70_000_000n), app.pay(address, 80_000_000n, 1)],
  })
  const { raw } = app.sign(unsigned)
  expect(await sender.broadcast(raw)).toEqual({ kind: 'accepted' })
  await app.mine(1)
  const head = await reader.head()
  const transfers = (await read(reader, head.height)).transfers.filter((transfer) => transfer.address === address)
  const [first, second] = transfers
  if (first === undefined || second === undefined) throw new Error('two transfers are expected')
  expect([first.units, second.units]).toEqual([70_000_000n, 80_000_000n])

  expect(await reader.agrees(head)).toBe(true)
  expect(await reader.receivedUnits(first, head)).toBe(70_000_000n)
  expect(await reader.receivedUnits(second, head)).toBe(80_000_000n)
  expect(await reader.receivedUnits({ ...first, address: app.stranger(1) }, head)).toBe(0n)
  expect(await reader.receivedUnits({ ...first, identity: `${first.txHash}:9` }, head)).toBe(0n)
  const nowhere = 'ab'.repeat(32)
  await expect(reader.receivedUnits({ ...first, identity: `${nowhere}:0`, txHash: nowhere }, head)).rejects.toEqual(
    unavailable,
  )
  const before: BlockRef = await read(reader, head.height - 1)
  await expect(reader.receivedUnits(first, before)).rejects.toEqual(unavailable)
  expect(await reader.agrees({ ...head, hash: before.hash })).toBe(false)
  expect(await reader.agrees({ height: head.height + 50, hash: head.hash })).toBe(false)

  const block = (await node.call('getblock', head.hash)) as { tx: Hashes }
  const coinbase = block.tx[0] ?? ''
  const mined = { ...first, identity: `${coinbase}:0`, txHash: coinbase, address: app.chain.addresses.hot() }
  expect(await reader.receivedUnits(mined, head)).toBe(0n)
}

async function followsReorgs({ app, node }: Context) {
  const { reader, sender } = app.chain
  const unsigned = app.build({
    utxos: [await app.coin()],
    payments: [app.pay(app.chain.addresses.deposit(4).address, WHOLE)],
  })
  const { raw, txHash } = app.sign(unsigned)
  const attempt = { txHash, conflictKey: unsigned.conflictKey }
  await sender.broadcast(raw)
  await app.mine(3)
  const head = await reader.head()
  const lost = await read(reader, head.height - 2)
  const [transfer] = lost.transfers
  if (transfer === undefined) throw new Error('a transfer is expected')
  expect(await reader.receivedUnits(transfer, lost)).toBe(WHOLE)

  await node.call('invalidateblock', lost.hash)
  expect((await reader.head()).height).toBe(lost.height - 1)
  expect(await reader.block(lost.height)).toBeNull()
  expect(await reader.agrees(lost)).toBe(false)
  await expect(reader.receivedUnits(transfer, lost)).rejects.toEqual(unavailable)
  expect(await sender.observe(attempt)).toEqual({ kind: 'pending' })

  await app.mine(1, app.stranger(77))
  const again = await read(reader, lost.height)
  expect(again.hash).not.toBe(lost.hash)
  expect(again.transfers.map(({ identity }) => identity)).toContain(transfer.identity)
  expect(await sender.observe(attempt)).toMatchObject({ kind: 'included', block: { hash: again.hash } })
  await expect(reader.receivedUnits(transfer, lost)).rejects.toEqual(unavailable)
  expect(await reader.receivedUnits(transfer, again)).toBe(WHOLE)
}

async function tellsRefusals({ app }: Context) {
  const { sender } = app.chain
  const coin = await app.coin()
  const first = app.build({ utxos: [coin], payments: [app.pay(app.stranger(1), WHOLE)] })
  expect(await sender.broadcast(app.sign(first).raw)).toEqual({ kind: 'accepted' })
  await app.mine(1)
  const second = app.build({ utxos: [coin], payments: [app.pay(app.stranger(2), WHOLE)] })
  expect(await sender.broadcast(app.sign(second).raw)).toMatchObject({ kind: 'rejected' })
  const cheap = app.build({
    utxos: [await app.coin()],
    payments: [app.pay(app.stranger(2), WHOLE)],
    fee: { rate: 1n, tip: 0n },
  })
  expect(await sender.broadcast(app.sign(cheap).raw)).toMatchObject({ kind: 'rejected' })
  expect(await sender.broadcast('00')).toMatchObject({ kind: 'rejected' })
  expect(await sender.broadcast('nothing')).toMatchObject({ kind: 'rejected' })
}

async function provesInvalidation({ app, network }: Context) {
  const { reader, sender } = app.chain
  const coin = await app.coin()
  const [one, other] = [1, 2].map((at) => app.build({ utxos: [coin], payments: [app.pay(app.stranger(at), WHOLE)] }))
  if (one === undefined || other === undefined) throw new Error('two are expected')
  const attempt = { txHash: app.sign(one).txHash, conflictKey: one.conflictKey }
  const conflicting = app.sign(other)
  await sender.broadcast(conflicting.raw)
  expect(await sender.observe(attempt)).toEqual({ kind: 'unseen' })
  await app.mine(1)
  const { height, hash } = await reader.head()
  await app.mine(network.finalityBlocks - 2)
  expect(await sender.observe(attempt)).toEqual({ kind: 'unseen' })
  await app.mine(1)
  const invalidated = {
    kind: 'invalidated',
    proof: { spentBy: conflicting.txHash, blockHash: hash, blockHeight: height },
  }
  expect(await sender.observe(attempt)).toEqual(
    parametersOf(network).bech32 === null ? { kind: 'unseen' } : invalidated,
  )
  expect(await sender.observe({ txHash: conflicting.txHash, conflictKey: other.conflictKey })).toMatchObject({
    kind: 'included',
  })
}

async function replacesPayouts({ app, network }: Context) {
  const { sender } = app.chain
  const coins = [await app.coin()]
  const old = app.build({ utxos: coins, payments: [app.pay(app.stranger(5), WHOLE)], fee: { rate: 2000n, tip: 0n } })
  const original = app.sign(old)
  expect(await sender.broadcast(original.raw)).toEqual({ kind: 'accepted' })
  const replaces = { intent: old.intent, feeUnits: old.feeUnits }
  // The least that the builder lets a replacement rise must be enough for the node.
  const next = app.build({ utxos: coins, payments: [], fee: { rate: 2000n, tip: 0n }, replaces })
  const replacement = app.sign(next)
  expect(next.conflictKey).toBe(old.conflictKey)
  expect(await sender.broadcast(replacement.raw)).toEqual({ kind: 'accepted' })
  expect(await sender.broadcast(original.raw)).toMatchObject({ kind: 'rejected' })
  expect(await sender.observe({ txHash: original.txHash, conflictKey: old.conflictKey })).toEqual({
    kind: 'unseen',
  })
  // With further coins too.
  const more = [...coins, await app.coin()]
  const last = app.build({
    utxos: more,
    payments: [],
    fee: { rate: 60_000n, tip: 0n },
    replaces: { intent: next.intent, feeUnits: next.feeUnits },
  })
  const final = app.sign(last)
  expect(await sender.broadcast(final.raw)).toEqual({ kind: 'accepted' })
  await app.mine(1)
  expect(await sender.observe({ txHash: final.txHash, conflictKey: old.conflictKey })).toMatchObject({
    kind: 'included',
  })
  expect(await sender.broadcast(original.raw)).toMatchObject({ kind: 'rejected' })
  expect(await sender.broadcast(replacement.raw)).toMatchObject({ kind: 'rejected' })
  await app.mine(network.finalityBlocks - 1)
  expect(await sender.observe({ txHash: original.txHash, conflictKey: old.conflictKey })).toMatchObject({
    kind: 'invalidated',
    proof: { spentBy: final.txHash },
  })
}

async function paysEveryAddress({ app, node, network }: Context) {
  const { addresses, reader, sender } = app.chain
  const hash = '751e76e8199196d454941c45d1b3a323f1433bd6'
  // The generator point: a key that is on the curve.
  const key = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'
  const scripts = [`76a914${hash}88ac`, `a914${hash}87`, `0014${hash}`, `0020${key}`, `5120${key}`]
  const written = scripts.flatMap((script) => addressOf(parametersOf(network), Buffer.from(script, 'hex')) ?? [])
  expect(written).toHaveLength(parametersOf(network).bech32 === null ? 2 : 5)
  expect(written.map(addresses.parse)).toEqual(written)
  for (const address of node.validates ? written : [])
    expect(await node.call('validateaddress', address)).toMatchObject({ isvalid: true, address })
  const unsigned = app.build({
    utxos: [await app.coin()],
    payments: written.map((address, at) => app.pay(address, WHOLE / 10n, at)),
  })
  expect(await sender.broadcast(app.sign(unsigned).raw)).toEqual({ kind: 'accepted' })
  await app.mine(1)
  const { transfers } = await read(reader, (await reader.head()).height)
  expect(transfers.slice(0, written.length).map(({ address }) => address)).toEqual(written)
}

async function knowsTheFee({ app, network }: Context) {
  const { rate, tip } = await app.chain.reader.feeRate()
  expect(tip).toBe(0n)
  expect(rate).toBeGreaterThanOrEqual(1000n)
  expect(rate).toBeLessThanOrEqual(4000n * parametersOf(network).dustUnits)
}

async function keepsNoBalances({ app }: Context) {
  await expect(app.chain.reader.balance(app.chain.addresses.hot(), app.pay('', 1n).asset)).rejects.toThrow(
    'sum the unspent outputs in the store',
  )
}
