import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addressOf, keyAddress, parametersOf } from '../../server/src/adapters/chains/bitcoin/address.ts'
import { createBitcoinChain } from '../../server/src/adapters/chains/bitcoin/chain.ts'
import { createBitcoinSigning } from '../../server/src/adapters/chains/bitcoin/sign.ts'
import type { Network } from '../../server/src/core/domain/network.ts'
import type { BlockRef } from '../../server/src/core/ports/chain.ts'
import type { ChainReader, SpendRequest, UnsignedTransaction } from '../../server/src/exchange/ports/chain.ts'
import type { Payment, Utxo } from '../../server/src/exchange/ports/spend.ts'
import { present } from '../../server/src/lib/assert.ts'
import { createAppKeys } from './app-keys.ts'

/** A node of the bitcoin family on regtest with its own data folder. */
export type TestNode = Readonly<{
  url: string
  /** True if the node has `validateaddress`. */
  canValidateAddresses: boolean
  call(method: string, ...params: readonly unknown[]): Promise<unknown>
  stop(): Promise<void>
}>

type Hashes = readonly string[]
const unavailable = expect.objectContaining({ code: 'NETWORK_UNAVAILABLE' })
const WHOLE = 100_000_000n
/** Blocks until a coinbase may be spent. */
const MATURITY = 100

/** The app's chain and keys on one node, with UTXOs that the tests mine. */
export function createTestApp(network: Network, node: TestNode, urls: readonly string[] = [node.url]) {
  const { keys, publicKeys } = createAppKeys(network.coinType)
  const chain = createBitcoinChain({ network, rpcUrls: urls, publicKeys, timeoutMs: 5000 })
  const sign = createBitcoinSigning([network])
  const parameters = parametersOf(network)
  let usedHeight = 0
  let changeIndex = 0

  const mine = async (count: number, address = chain.addresses.hot()) =>
    (await node.call('generatetoaddress', count, address)) as Hashes
  return {
    chain,
    mine,
    sign: (unsigned: UnsignedTransaction) => sign(unsigned.intent, keys),
    /** Returns an address that does not belong to the app. */
    externalAddress: (index: number) =>
      keyAddress(parameters, publicKeys.publicKey(0, { branch: 'deposit', index: 500_000 + index })),
    createPayment: (address: string, units: bigint, at = 0): Payment => ({
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
    /** Returns the next mature coinbase output, and mines blocks if necessary. */
    takeUtxo: async (): Promise<Utxo> => {
      const height = ++usedHeight
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
        changeIndex: changeIndex++,
        nonce: null,
        replaces: null,
        gasLimit: null,
        sweepAll: false,
        ...request,
      })
    },
  }
}

async function readBlock(reader: ChainReader, height: number) {
  const block = await reader.block(height)
  if (block === null) throw new Error(`no block ${height}`)
  return block
}

type Context = Readonly<{ network: Network; node: TestNode; app: ReturnType<typeof createTestApp> }>

/** Tests the adapter against a node of the family. The tests run in this order on one chain. */
export function describeBitcoinChain(name: string, network: Network, start: () => Promise<TestNode>): void {
  describe(name, () => {
    let context: Context

    beforeAll(async () => {
      const node = await start()
      context = { network, node, app: createTestApp(network, node) }
      await context.app.mine(MATURITY + 5)
    })

    afterAll(async () => {
      await context?.app.chain.close()
      await context?.node.stop()
    })

    test('reads blocks in order and ignores coinbase outputs (D5)', () => testBlocks(context))
    test('sends twenty payouts in one transaction and observes it until its inclusion', () => testPayouts(context))
    test('reads the received units of a transfer from its block, also of the second output to one address (D3)', () =>
      testReceivedUnits(context))
    test('drops the transfers of a reorganised block and reads them from their new block', () => testReorgs(context))
    test('reports a transaction that the node refuses as rejected', () => testRejections(context))
    test('invalidates a transaction when a conflicting spend is final, not before', () => testInvalidation(context))
    test.runIf(parametersOf(network).replaceable)(
      'replaces a transaction, and the node rejects the original (I-12)',
      () => testReplacements(context),
    )
    test('pays every accepted kind of address and reads it from the block', () => testAddressKinds(context))
    test('returns a fee rate between the relay minimum and the app’s maximum', () => testFeeRate(context))
    test('finds recorded outputs that the node does not have unspent (I-7)', () => testMissingUtxos(context))
    test('rejects balance reads, because the store sums the UTXOs', () => testBalances(context))
  })
}

async function testMissingUtxos({ app }: Context) {
  const { reader, sender } = app.chain
  const find = present(reader.findMissingUtxos, 'a UTXO network finds missing outputs')
  const [held, spent] = [await app.takeUtxo(), await app.takeUtxo()]
  expect(await find([held, spent])).toEqual([])
  const { raw } = app.sign(app.build({ utxos: [spent], payments: [app.createPayment(app.externalAddress(1), WHOLE)] }))
  expect(await sender.broadcast(raw)).toEqual({ kind: 'accepted' })
  // A spend in the mempool may still be replaced.
  expect(await find([held, spent])).toEqual([])
  await app.mine(1)
  const invented = { ...held, outpoint: `${'ab'.repeat(32)}:0` }
  const overstated = { ...held, units: held.units + 1n }
  expect(await find([held, spent, invented])).toEqual([spent.outpoint, invented.outpoint])
  expect(await find([overstated])).toEqual([held.outpoint])
}

async function testBlocks({ app, node }: Context) {
  const { reader } = app.chain
  const head = await reader.head()
  expect(head.height).toBe(await node.call('getblockcount'))
  expect(head.hash).toBe(await node.call('getbestblockhash'))
  const block = await readBlock(reader, head.height)
  const before = await readBlock(reader, head.height - 1)
  expect(block).toMatchObject({ ...head, parentHash: before.hash, transfers: [] })
  expect(block.transactions).toHaveLength(1)
  expect(Math.abs(block.time - Date.now() / 1000)).toBeLessThan(7200)
  expect(await reader.block(head.height + 1)).toBeNull()
  expect((await readBlock(reader, 0)).parentHash).toBe('0'.repeat(64))
}

async function testPayouts({ app }: Context) {
  const { reader, sender } = app.chain
  const utxos = [await app.takeUtxo(), await app.takeUtxo()]
  const payments = Array.from({ length: 20 }, (_, at) =>
    app.createPayment(app.externalAddress(at), WHOLE + BigInt(at), at),
  )
  const unsigned = app.build({ utxos, payments })
  const { raw, txHash } = app.sign(unsigned)
  await reader.mempool()

  expect(await sender.observe({ txHash, conflictKey: unsigned.conflictKey })).toEqual({ kind: 'unseen' })
  expect(await sender.broadcast(raw)).toEqual({ kind: 'accepted' })
  expect(await sender.broadcast(raw)).toEqual({ kind: 'known' })
  expect(await sender.observe({ txHash, conflictKey: unsigned.conflictKey })).toEqual({ kind: 'pending' })

  const unconfirmed = await reader.mempool()
  const expected = payments.map(({ address, units }, vout) => ({
    identity: `${txHash}:${vout}`,
    txHash,
    address,
    memo: null,
    contract: null,
    units,
    sender: null,
  }))
  expect(unconfirmed.slice(0, 20)).toEqual(expected)
  expect(unconfirmed[20]).toMatchObject({ address: unsigned.change?.address, units: unsigned.change?.units })
  expect(await reader.mempool()).toEqual([])

  await app.mine(1)
  const head = await reader.head()
  const block = await readBlock(reader, head.height)
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

async function testReceivedUnits({ app, node }: Context) {
  const { reader, sender } = app.chain
  const address = app.chain.addresses.deposit(3).address
  // Two outputs to one address are two transfers.
  const unsigned = app.build({
    utxos: [await app.takeUtxo()],
    payments: [app.createPayment(address, 70_000_000n), app.createPayment(address, 80_000_000n, 1)],
  })
  const { raw } = app.sign(unsigned)
  expect(await sender.broadcast(raw)).toEqual({ kind: 'accepted' })
  await app.mine(1)
  const head = await reader.head()
  const transfers = (await readBlock(reader, head.height)).transfers.filter((transfer) => transfer.address === address)
  const [first, second] = transfers
  if (first === undefined || second === undefined) throw new Error('two transfers are expected')
  expect([first.units, second.units]).toEqual([70_000_000n, 80_000_000n])

  expect(await reader.agrees(head)).toBe(true)
  expect(await reader.receivedUnits(first, head)).toBe(70_000_000n)
  expect(await reader.receivedUnits(second, head)).toBe(80_000_000n)
  expect(await reader.receivedUnits({ ...first, address: app.externalAddress(1) }, head)).toBe(0n)
  expect(await reader.receivedUnits({ ...first, identity: `${first.txHash}:9` }, head)).toBe(0n)
  const unknownTxHash = 'ab'.repeat(32)
  await expect(
    reader.receivedUnits({ ...first, identity: `${unknownTxHash}:0`, txHash: unknownTxHash }, head),
  ).rejects.toEqual(unavailable)
  const before: BlockRef = await readBlock(reader, head.height - 1)
  await expect(reader.receivedUnits(first, before)).rejects.toEqual(unavailable)
  expect(await reader.agrees({ ...head, hash: before.hash })).toBe(false)
  expect(await reader.agrees({ height: head.height + 50, hash: head.hash })).toBe(false)

  const block = (await node.call('getblock', head.hash)) as { tx: Hashes }
  const coinbase = block.tx[0] ?? ''
  const mined = { ...first, identity: `${coinbase}:0`, txHash: coinbase, address: app.chain.addresses.hot() }
  expect(await reader.receivedUnits(mined, head)).toBe(0n)
}

async function testReorgs({ app, node }: Context) {
  const { reader, sender } = app.chain
  const unsigned = app.build({
    utxos: [await app.takeUtxo()],
    payments: [app.createPayment(app.chain.addresses.deposit(4).address, WHOLE)],
  })
  const { raw, txHash } = app.sign(unsigned)
  const attempt = { txHash, conflictKey: unsigned.conflictKey }
  await sender.broadcast(raw)
  await app.mine(3)
  const head = await reader.head()
  const orphaned = await readBlock(reader, head.height - 2)
  const [transfer] = orphaned.transfers
  if (transfer === undefined) throw new Error('a transfer is expected')
  expect(await reader.receivedUnits(transfer, orphaned)).toBe(WHOLE)

  await node.call('invalidateblock', orphaned.hash)
  expect((await reader.head()).height).toBe(orphaned.height - 1)
  expect(await reader.block(orphaned.height)).toBeNull()
  expect(await reader.agrees(orphaned)).toBe(false)
  await expect(reader.receivedUnits(transfer, orphaned)).rejects.toEqual(unavailable)
  expect(await sender.observe(attempt)).toEqual({ kind: 'pending' })

  await app.mine(1, app.externalAddress(77))
  const newBlock = await readBlock(reader, orphaned.height)
  expect(newBlock.hash).not.toBe(orphaned.hash)
  expect(newBlock.transfers.map(({ identity }) => identity)).toContain(transfer.identity)
  expect(await sender.observe(attempt)).toMatchObject({ kind: 'included', block: { hash: newBlock.hash } })
  await expect(reader.receivedUnits(transfer, orphaned)).rejects.toEqual(unavailable)
  expect(await reader.receivedUnits(transfer, newBlock)).toBe(WHOLE)
}

async function testRejections({ app }: Context) {
  const { sender } = app.chain
  const utxo = await app.takeUtxo()
  const first = app.build({ utxos: [utxo], payments: [app.createPayment(app.externalAddress(1), WHOLE)] })
  expect(await sender.broadcast(app.sign(first).raw)).toEqual({ kind: 'accepted' })
  await app.mine(1)
  const second = app.build({ utxos: [utxo], payments: [app.createPayment(app.externalAddress(2), WHOLE)] })
  expect(await sender.broadcast(app.sign(second).raw)).toMatchObject({ kind: 'rejected' })
  const cheap = app.build({
    utxos: [await app.takeUtxo()],
    payments: [app.createPayment(app.externalAddress(2), WHOLE)],
    fee: { rate: 1n, tip: 0n },
  })
  expect(await sender.broadcast(app.sign(cheap).raw)).toMatchObject({ kind: 'rejected' })
  expect(await sender.broadcast('00')).toMatchObject({ kind: 'rejected' })
  expect(await sender.broadcast('nothing')).toMatchObject({ kind: 'rejected' })
}

async function testInvalidation({ app, network }: Context) {
  const { reader, sender } = app.chain
  const utxo = await app.takeUtxo()
  const [original, conflicting] = [1, 2].map((at) =>
    app.build({ utxos: [utxo], payments: [app.createPayment(app.externalAddress(at), WHOLE)] }),
  )
  if (original === undefined || conflicting === undefined) throw new Error('two transactions are expected')
  const attempt = { txHash: app.sign(original).txHash, conflictKey: original.conflictKey }
  const signed = app.sign(conflicting)
  await sender.broadcast(signed.raw)
  expect(await sender.observe(attempt)).toEqual({ kind: 'unseen' })
  await app.mine(1)
  const { height, hash } = await reader.head()
  await app.mine(network.finalityBlocks - 2)
  expect(await sender.observe(attempt)).toEqual({ kind: 'unseen' })
  await app.mine(1)
  const invalidated = {
    kind: 'invalidated',
    proof: { spentBy: signed.txHash, blockHash: hash, blockHeight: height },
  }
  expect(await sender.observe(attempt)).toEqual(
    parametersOf(network).bech32 === null ? { kind: 'unseen' } : invalidated,
  )
  expect(await sender.observe({ txHash: signed.txHash, conflictKey: conflicting.conflictKey })).toMatchObject({
    kind: 'included',
  })
}

async function testReplacements({ app, network }: Context) {
  const { sender } = app.chain
  const utxos = [await app.takeUtxo()]
  const first = app.build({
    utxos,
    payments: [app.createPayment(app.externalAddress(5), WHOLE)],
    fee: { rate: 2000n, tip: 0n },
  })
  const original = app.sign(first)
  expect(await sender.broadcast(original.raw)).toEqual({ kind: 'accepted' })
  const replaces = { intent: first.intent, feeUnits: first.feeUnits }
  // The node must accept the smallest fee increase of the builder.
  const next = app.build({ utxos, payments: [], fee: { rate: 2000n, tip: 0n }, replaces })
  const replacement = app.sign(next)
  expect(next.conflictKey).toBe(first.conflictKey)
  expect(await sender.broadcast(replacement.raw)).toEqual({ kind: 'accepted' })
  expect(await sender.broadcast(original.raw)).toMatchObject({ kind: 'rejected' })
  expect(await sender.observe({ txHash: original.txHash, conflictKey: first.conflictKey })).toEqual({
    kind: 'unseen',
  })
  // A replacement may spend more UTXOs.
  const moreUtxos = [...utxos, await app.takeUtxo()]
  const last = app.build({
    utxos: moreUtxos,
    payments: [],
    fee: { rate: 60_000n, tip: 0n },
    replaces: { intent: next.intent, feeUnits: next.feeUnits },
  })
  const final = app.sign(last)
  expect(await sender.broadcast(final.raw)).toEqual({ kind: 'accepted' })
  await app.mine(1)
  expect(await sender.observe({ txHash: final.txHash, conflictKey: first.conflictKey })).toMatchObject({
    kind: 'included',
  })
  expect(await sender.broadcast(original.raw)).toMatchObject({ kind: 'rejected' })
  expect(await sender.broadcast(replacement.raw)).toMatchObject({ kind: 'rejected' })
  await app.mine(network.finalityBlocks - 1)
  expect(await sender.observe({ txHash: original.txHash, conflictKey: first.conflictKey })).toMatchObject({
    kind: 'invalidated',
    proof: { spentBy: final.txHash },
  })
}

async function testAddressKinds({ app, node, network }: Context) {
  const { addresses, reader, sender } = app.chain
  const hash = '751e76e8199196d454941c45d1b3a323f1433bd6'
  // The generator point, because the key must be on the curve.
  const key = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'
  const scripts = [`76a914${hash}88ac`, `a914${hash}87`, `0014${hash}`, `0020${key}`, `5120${key}`]
  const formatted = scripts.flatMap((script) => addressOf(parametersOf(network), Buffer.from(script, 'hex')) ?? [])
  expect(formatted).toHaveLength(parametersOf(network).bech32 === null ? 2 : 5)
  expect(formatted.map(addresses.parse)).toEqual(formatted)
  for (const address of node.canValidateAddresses ? formatted : [])
    expect(await node.call('validateaddress', address)).toMatchObject({ isvalid: true, address })
  const unsigned = app.build({
    utxos: [await app.takeUtxo()],
    payments: formatted.map((address, at) => app.createPayment(address, WHOLE / 10n, at)),
  })
  expect(await sender.broadcast(app.sign(unsigned).raw)).toEqual({ kind: 'accepted' })
  await app.mine(1)
  const { transfers } = await readBlock(reader, (await reader.head()).height)
  expect(transfers.slice(0, formatted.length).map(({ address }) => address)).toEqual(formatted)
}

async function testFeeRate({ app, network }: Context) {
  const { rate, tip } = await app.chain.reader.feeRate()
  expect(tip).toBe(0n)
  expect(rate).toBeGreaterThanOrEqual(1000n)
  expect(rate).toBeLessThanOrEqual(4000n * parametersOf(network).dustUnits)
}

async function testBalances({ app }: Context) {
  await expect(app.chain.reader.balance(app.chain.addresses.hot(), app.createPayment('', 1n).asset)).rejects.toThrow(
    'sum the unspent outputs in the store',
  )
}
