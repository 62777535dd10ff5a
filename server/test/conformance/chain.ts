import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { isUtxoFamily } from '../../src/core/domain/network.ts'
import type { BlockRef } from '../../src/core/ports/chain.ts'
import type { Chain, Observation, ScannedBlock, UnsignedTransaction } from '../../src/exchange/ports/chain.ts'
import type { SignedTransaction } from '../../src/exchange/ports/signer.ts'
import {
  type ChainParts,
  createWallet,
  findTransfers,
  type IncludedTransfer,
  isReceivedUnknown,
  scan,
  startOf,
  type Wallet,
} from './wallet.ts'

type Context = ChainParts & Readonly<{ wallet: Wallet; start: number }>

/** Tests of the contract of `ports/chain.ts`, for one adapter and its chain. */
export function describeChain(name: string, make: () => Promise<ChainParts>): void {
  describe(name, () => {
    let context: Context

    beforeAll(async () => {
      const parts = await make()
      const [wallet, start] = [createWallet(parts), await startOf(parts.chain)]
      await wallet.fund(4)
      context = { ...parts, wallet, start }
    })
    afterAll(() => context?.stop())

    test('parses valid addresses to one canonical form and refuses invalid ones', () => checkAddresses(context))
    test('derives deterministic addresses, a different one for each index', () => checkDerivation(context))
    test('scans a deposit once, with a stable identity', () => checkScan(context))
    test('links each block to its parent, up to the head', () => checkBlockLinks(context))
    test('reports the received units of a transfer, 0 for another address, and fails for another block', () =>
      checkReceivedUnits(context))
    test('pays a payout once, also if it is broadcast repeatedly', () => checkPayout(context))
    test('refuses to build a payment above the balance', () => checkOverspend(context))
    test('confirms either a payout or its replacement, and proves the other invalidated at finality', () =>
      checkReplacement(context))
    test('does not report the units of an orphaned transfer', () => checkReorg(context))
    test('gives the same blocks to a second reader', () => checkRescan(context))
    test('reports finality tags at or below the head, or null', () => checkTags(context))
    test('gives a payable fee rate, and reports an unknown hash as unseen', () => checkFees(context))
  })
}

async function checkAddresses({ chain, encodings, invalidAddresses, createExternalAddress }: Context): Promise<void> {
  const { addresses } = chain
  for (const [written, canonical] of encodings) expect(addresses.parse(written), written).toBe(canonical)
  const own = [addresses.hot(), addresses.change(0), addresses.deposit(0).address, addresses.deposit(77).address]
  for (const address of [...own, await createExternalAddress()]) expect(addresses.parse(address)).toBe(address)
  const common = [
    '',
    ' ',
    '0',
    'not an address',
    `${addresses.hot()} `,
    ` ${addresses.hot()}`,
    addresses.hot().slice(0, -1),
    `${addresses.hot()}0`,
    'a'.repeat(10_000),
  ]
  for (const text of [...common, ...invalidAddresses]) expect(addresses.parse(text), text.slice(0, 100)).toBeNull()
  if (chain.network.memo === 'none') expect(addresses.parseMemo('1')).toBeNull()
}

async function checkDerivation({ chain, twin }: Context): Promise<void> {
  const indexes = [...Array.from({ length: 50 }, (_, index) => index), 1_000_000, 2 ** 31 - 1]
  const of = ({ addresses }: Chain) => indexes.map((index) => addresses.deposit(index))
  expect(of(chain)).toEqual(of(chain))
  expect(of(twin)).toEqual(of(chain))
  expect(twin.addresses.hot()).toBe(chain.addresses.hot())
  const destinations = of(chain).map(({ address, memo }) => `${address} ${memo ?? ''}`)
  const inPlace = isUtxoFamily(chain.network)
  const change = inPlace ? [0, 1, 2].map((index) => chain.addresses.change(index)) : []
  if (!inPlace) expect(chain.addresses.change(5)).toBe(chain.addresses.hot())
  const all = [...destinations, chain.addresses.hot(), ...change]
  expect(new Set(all).size).toBe(all.length)
}

/** Pays a new deposit address and waits until the payment is in a block. */
async function payDeposit(
  { chain, pay, blocks, units }: Context,
  index: number,
): Promise<IncludedTransfer & { from: number; txHash: string }> {
  const from = await startOf(chain)
  const { address } = chain.addresses.deposit(index)
  const txHash = await pay(address, units)
  await blocks(1)
  const [deposit] = await until('the deposit is in a block', async () => {
    const transfers = await findTransfers(chain, address, from)
    return transfers.length > 0 ? transfers : null
  })
  if (!deposit) throw new Error('the deposit is missing')
  return { ...deposit, from, txHash }
}

async function checkScan(context: Context): Promise<void> {
  const { chain, units, blocks } = context
  await chain.reader.mempool()
  const { transfer, from, txHash } = await payDeposit(context, 1)
  const { address } = chain.addresses.deposit(1)
  const expected = {
    identity: transfer.identity,
    txHash,
    address,
    memo: null,
    contract: null,
    units,
    sender: transfer.sender,
  }
  expect(transfer).toEqual(expected)
  // On Monero the identity is the one-time public key of the output.
  if (chain.reader.outpoint === undefined) expect(transfer.identity.startsWith(txHash)).toBe(true)
  else expect(transfer.identity).toMatch(/^[0-9a-f]{64}$/)
  if (transfer.sender !== null) expect(chain.addresses.parse(transfer.sender)).toBe(transfer.sender)
  await blocks(2)
  for (const reader of [chain, context.twin])
    expect((await findTransfers(reader, address, from)).map((one) => one.transfer)).toEqual([expected])
  // The mempool reader may miss the transfer; if it reports it, the transfer is the same.
  const sightings = (await chain.reader.mempool()).filter((sighting) => sighting.address === address)
  expect(sightings.length).toBeLessThanOrEqual(1)
  for (const sighting of sightings) expect(sighting).toEqual(expected)
}

async function checkBlockLinks({ chain, blocks, start }: Context): Promise<void> {
  await blocks(2)
  const scanned = await until('a scan without a reorganisation', () => scan(chain, start))
  expect(scanned.map(({ height }) => height)).toEqual(scanned.map((_, n) => start + n))
  for (const [n, block] of scanned.entries()) if (n > 0) expect(block.parentHash).toBe(scanned[n - 1]?.hash)
  expect(new Set(scanned.map(({ hash }) => hash)).size).toBe(scanned.length)
  const times = scanned.map(({ time }) => time)
  expect(times.every((time) => Number.isSafeInteger(time) && time > 1_500_000_000 && time < 10_000_000_000)).toBe(true)
  await until('the head is a block that all nodes agree on', async () => {
    const head = await chain.reader.head()
    const block = await chain.reader.block(head.height)
    return block?.hash === head.hash && (await chain.reader.agrees(head))
  })
  expect(await chain.reader.block((await chain.reader.head()).height + 1_000)).toBeNull()
}

async function checkReceivedUnits(context: Context): Promise<void> {
  const { chain, units } = context
  const { block, transfer } = await payDeposit(context, 2)
  expect(await chain.reader.agrees(block)).toBe(true)
  expect(await chain.reader.receivedUnits(transfer, block)).toBe(units)
  expect(await chain.reader.receivedUnits(transfer, block)).toBe(units)
  const other: BlockRef = { height: block.height - 1, hash: block.parentHash }
  expect(await chain.reader.agrees(other)).toBe(true)
  expect(await isReceivedUnknown(chain, { transfer, block: { ...block, ...other } })).toBe(true)
  expect(await chain.reader.agrees({ height: block.height, hash: other.hash })).toBe(false)
  expect(await chain.reader.agrees({ height: block.height + 1_000, hash: block.hash })).toBe(false)
  // 0 for another address; unknown for another transaction.
  const elsewhere = { ...transfer, address: chain.addresses.deposit(3).address }
  expect(await chain.reader.receivedUnits(elsewhere, block)).toBe(0n)
  const txHash = unknownHash(transfer.txHash)
  const invented = { ...transfer, txHash, identity: transfer.identity.replace(transfer.txHash, txHash) }
  expect(await isReceivedUnknown(chain, { transfer: invented, block })).toBe(true)
}

const attemptOf = ({ txHash }: SignedTransaction, { conflictKey }: UnsignedTransaction) => ({ txHash, conflictKey })
const unknownHash = (txHash: string) => `${txHash.slice(0, -8)}${txHash.endsWith('00000000') ? '11111111' : '00000000'}`

/** Waits until the transaction is in a block, and returns the observation and the scanned block. */
async function waitForInclusion(
  { chain }: Context,
  attempt: { txHash: string; conflictKey: string },
): Promise<{ inclusion: Extract<Observation, { kind: 'included' }>; block: ScannedBlock }> {
  return until('the transaction is in a block', async () => {
    const observation = await chain.sender.observe(attempt)
    if (observation.kind !== 'included') return null
    const block = await chain.reader.block(observation.block.height)
    return block?.hash === observation.block.hash ? { inclusion: observation, block } : null
  })
}

async function checkPayout(context: Context): Promise<void> {
  const { chain, wallet, blocks, sign, createExternalAddress, units } = context
  const { sender } = chain
  const [to, from] = [await createExternalAddress(), await startOf(chain)]
  const unsigned = await wallet.build(wallet.payTo(to))
  const signed = sign(unsigned)
  expect(sign(unsigned)).toEqual(signed)
  const attempt = attemptOf(signed, unsigned)
  expect(unsigned.resources).toContain(unsigned.conflictKey)
  expect(await sender.observe(attempt)).toEqual({ kind: 'unseen' })
  expect(await sender.broadcast(signed.raw)).toEqual({ kind: 'accepted' })
  expect(await sender.broadcast(signed.raw)).toEqual({ kind: 'known' })
  expect(['pending', 'included']).toContain((await sender.observe(attempt)).kind)
  await blocks(1)
  const { inclusion, block } = await waitForInclusion(context, attempt)
  for (const read of await chain.reader.blockOfEachNode(block.height)) expect(read).toEqual(block)
  expect(inclusion.ok).toBe(true)
  const own = block.transactions.filter(({ txHash }) => txHash === signed.txHash)
  const nonce = unsigned.intent.family === 'evm' ? unsigned.intent.nonce : null
  expect(own).toEqual([
    {
      txHash: signed.txHash,
      sender: nonce === null ? null : wallet.hot,
      nonce,
      spends: nonce === null ? unsigned.resources : [],
    },
  ])
  const fee = inclusion.feeUnits ?? inputsLessOutputs(unsigned, block, signed.txHash)
  expect(fee > 0n && fee <= unsigned.feeUnits).toBe(true)
  expect(await sender.broadcast(signed.raw)).toEqual({ kind: 'known' })
  await blocks(2)
  expect(
    (await findTransfers(context.recipientChain ?? chain, to, from)).map(({ transfer }) => [
      transfer.txHash,
      transfer.units,
    ]),
  ).toEqual([[signed.txHash, units]])
}

/** The fee, computed from the block: inputs less outputs, which are payments and change. */
function inputsLessOutputs({ intent }: UnsignedTransaction, block: ScannedBlock, txHash: string): bigint {
  const sum = (parts: readonly { units: bigint }[]) => parts.reduce((total, { units }) => total + units, 0n)
  const inputs = intent.family === 'bitcoin' ? sum(intent.inputs) : 0n
  return inputs - sum(block.transfers.filter((transfer) => transfer.txHash === txHash))
}

async function checkOverspend({ wallet, units, createExternalAddress }: Context): Promise<void> {
  const to = await createExternalAddress()
  await expect(wallet.build(wallet.payTo(to, 1_000n * units))).rejects.toMatchObject({ code: 'INSUFFICIENT_LIQUIDITY' })
}

async function checkReplacement(context: Context): Promise<void> {
  const { chain, wallet, blocks, sign, createExternalAddress, units } = context
  const { sender, reader } = chain
  const [to, from] = [await createExternalAddress(), await startOf(chain)]
  const payment = wallet.payTo(to)
  const fee = await reader.feeRate()
  const old = await wallet.build(payment, { fee })
  const next = await wallet.build(payment, { fee, replaces: { intent: old.intent, feeUnits: old.feeUnits } })
  expect(next.conflictKey).toBe(old.conflictKey)
  // Without replacement by fee, the second transaction spends the same inputs with any fee.
  if (chain.network.replaces !== 'unseen') expect(next.feeUnits).toBeGreaterThan(old.feeUnits)
  const pair = [
    { unsigned: old, signed: sign(old) },
    { unsigned: next, signed: sign(next) },
  ] as const
  expect(pair[0].signed.txHash).not.toBe(pair[1].signed.txHash)
  expect(await sender.broadcast(pair[0].signed.raw)).toEqual({ kind: 'accepted' })
  const { kind } = await sender.broadcast(pair[1].signed.raw)
  await blocks(1)
  // If the shared chain mined a block between the broadcasts, the first confirms and the second is rejected.
  const [winner, loser] = kind === 'accepted' ? [pair[1], pair[0]] : pair
  expect(['accepted', 'rejected']).toContain(kind)
  const { block } = await waitForInclusion(context, attemptOf(winner.signed, winner.unsigned))
  const losingAttempt = attemptOf(loser.signed, loser.unsigned)
  expect(['unseen', 'pending']).toContain((await sender.observe(losingAttempt)).kind)
  expect((await sender.broadcast(loser.signed.raw)).kind).toBe('rejected')
  await blocks(chain.network.finalityBlocks + 1)
  const invalidated = await until('the other one is proven invalidated', async () => {
    const observed = await sender.observe(losingAttempt)
    return observed.kind === 'invalidated' ? observed : null
  })
  expect(Object.values(invalidated.proof)).toContain(winner.signed.txHash)
  expect((await reader.head()).height - block.height).toBeGreaterThanOrEqual(chain.network.finalityBlocks - 1)
  expect((await sender.broadcast(loser.signed.raw)).kind).toBe('rejected')
  expect((await sender.observe(attemptOf(winner.signed, winner.unsigned))).kind).toBe('included')
  expect(
    (await findTransfers(context.recipientChain ?? chain, to, from)).map(({ transfer }) => [
      transfer.txHash,
      transfer.units,
    ]),
  ).toEqual([[winner.signed.txHash, units]])
}

async function checkReorg(context: Context): Promise<void> {
  const { chain, reorg, remainsAfterReorg, units, blocks } = context
  const { reader } = chain
  const { from, ...orphan } = await payDeposit(context, 4)
  const { address, identity } = orphan.transfer
  expect(await reader.receivedUnits(orphan.transfer, orphan.block)).toBe(units)
  // New blocks may precede the reorganisation: the next attempt reaches deeper.
  let reach = 1
  await until('the block is orphaned', async () => {
    if (!(await reader.agrees(orphan.block))) return true
    await reorg((await reader.head()).height - orphan.block.height + reach)
    reach += 1
    return false
  })
  expect(await reader.agrees(orphan.block)).toBe(false)
  expect(await isReceivedUnknown(chain, orphan)).toBe(true)
  expect((await reader.block(orphan.block.height))?.hash).not.toBe(orphan.block.hash)
  await blocks(2)
  const transfers = await findTransfers(chain, address, from)
  if (remainsAfterReorg) {
    const [again] = await until('the transfer is in another block', async () => {
      const remined = await findTransfers(chain, address, from)
      return remined.length > 0 ? remined : null
    })
    if (!again) throw new Error('the transfer is missing')
    expect(again.transfer).toEqual(orphan.transfer)
    expect(await reader.receivedUnits(again.transfer, again.block)).toBe(units)
  } else {
    expect(transfers).toEqual([])
  }
  expect(transfers.filter(({ transfer }) => transfer.identity === identity).length).toBeLessThanOrEqual(1)
  expect(await isReceivedUnknown(chain, orphan)).toBe(true)
}

async function checkRescan({ chain, twin, start }: Context): Promise<void> {
  const [first, second] = await until('two scans of one chain', async () => {
    const [one, other] = [await scan(chain, start), await scan(twin, start)]
    const length = Math.min(one?.length ?? 0, other?.length ?? 0)
    // Compare only if no other test reorganised the chain between the two scans.
    return one && other && length > 10 && one[length - 1]?.hash === other[length - 1]?.hash
      ? [one.slice(0, length), other.slice(0, length)]
      : null
  })
  expect(second).toEqual(first)
  const identities = (first ?? []).flatMap(({ transfers }) => transfers.map(({ identity }) => identity))
  expect(new Set(identities).size).toBe(identities.length)
}

async function checkTags({ chain }: Context): Promise<void> {
  const [finalized, safe] = [await chain.reader.tagHeight('finalized'), await chain.reader.tagHeight('safe')]
  const { height } = await chain.reader.head()
  for (const tagged of [finalized, safe]) if (tagged !== null) expect(tagged).toBeLessThanOrEqual(height)
  if (finalized !== null && safe !== null) expect(finalized).toBeLessThanOrEqual(safe)
  if (isUtxoFamily(chain.network)) expect([finalized, safe]).toEqual([null, null])
}

async function checkFees({ chain, asset, units, wallet, createExternalAddress, sign }: Context): Promise<void> {
  const fee = await chain.reader.feeRate()
  expect(fee.rate).toBeGreaterThan(0n)
  expect(fee.tip >= 0n && fee.tip <= fee.rate).toBe(true)
  const typical = chain.sender.payoutFee(asset, fee)
  expect(typical > 0n && typical < units).toBe(true)
  const unsigned = await wallet.build(wallet.payTo(await createExternalAddress()))
  const txHash = unknownHash(sign(unsigned).txHash)
  expect(await chain.sender.observe({ txHash, conflictKey: null })).toEqual({ kind: 'unseen' })
}
