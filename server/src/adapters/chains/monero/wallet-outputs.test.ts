import { expect, test } from 'vitest'
import { AppError } from '../../../core/domain/errors.ts'
import type { RecordedUtxo } from '../../../exchange/ports/spend.ts'
import { createOutputOrigins } from './output-origins.ts'
import type { Wallet, WalletOutput } from './wallet.ts'
import { createWalletOutputs } from './wallet-outputs.ts'

/** A wallet program that reads the outputs of some transactions only. `calls`: its slow work. */
function createFakeWallet() {
  const held = new Map<string, WalletOutput>()
  const calls: string[] = []
  const state = { rejected: new Set<string>(), spent: new Set<string>() }
  const wallet: Wallet = {
    outputs: async () => new Map(held),
    listSpent: async () => state.spent,
    extendLookahead: async () => undefined,
    scan: async (txHashes) => {
      calls.push(`scan ${txHashes.join(' ')}`)
      if (txHashes.some((txHash) => state.rejected.has(txHash))) throw new AppError('NETWORK_UNAVAILABLE', 'rejected')
    },
    rescan: async () => void calls.push('rescan'),
    setFrozen: async () => undefined,
    transfer: async () => {
      throw new Error('no payment')
    },
  }
  const hold = (keyImage: string, { height = 1, units = 1n } = {}) =>
    held.set(keyImage, { units, height, unlocked: true, frozen: true, txHash: '', index: 0 })
  return { wallet, calls, hold, ...state }
}

const utxo = (outpoint: string, txHash: string | null, height?: number): RecordedUtxo => ({
  outpoint,
  units: 1n,
  path: { branch: 'deposit', index: 7 },
  ...(height === undefined ? {} : { height }),
  deposit: txHash === null ? null : { identity: `key of ${outpoint}`, txHash },
})

const outputs = (now = () => 0) => createWalletOutputs(createOutputOrigins(), now)

test('D47: an output that the wallet program does not find in its transaction costs one scan of it, and no rescan', async () => {
  const { wallet, calls, hold } = createFakeWallet()
  const { read, repair, isUnreadable } = outputs()
  for (let turn = 0; turn < 3; turn++) {
    await read(wallet, [utxo('a', 'tx')])
    await repair(wallet)
  }
  expect(calls).toEqual(['scan tx'])
  expect(isUnreadable('key of a')).toBe(true)
  expect(isUnreadable('key of b')).toBe(false)
  // Another version of the wallet program.
  hold('a')
  await read(wallet, [utxo('a', 'tx')])
  expect(isUnreadable('key of a')).toBe(false)
})

test('a payment that selects a missing output does not forget its transaction', async () => {
  const { wallet, calls } = createFakeWallet()
  const { read, repair } = outputs()
  await read(wallet, [utxo('a', 'tx')])
  await read(wallet, [utxo('a', null)])
  await repair(wallet)
  expect(calls).toEqual(['scan tx'])
})

test('rescans the chain once for an output whose transaction is not known', async () => {
  const { wallet, calls } = createFakeWallet()
  const { read, repair } = outputs()
  for (let turn = 0; turn < 3; turn++) {
    await read(wallet, [utxo('a', null)])
    await repair(wallet)
  }
  expect(calls).toEqual(['rescan'])
})

test('a transaction that left the chain does not stop the scan of others', async () => {
  const { wallet, calls, rejected } = createFakeWallet()
  rejected.add('orphaned')
  const { read, repair, isUnreadable } = outputs()
  await read(wallet, [utxo('a', 'orphaned'), utxo('b', 'tx')])
  await repair(wallet)
  expect(calls).toEqual(['scan orphaned tx', 'scan orphaned', 'scan tx'])
  expect([isUnreadable('key of a'), isUnreadable('key of b')]).toEqual([false, true])
})

test('scans a transaction again later: at the first scan it may have been in no block', async () => {
  const { wallet, calls } = createFakeWallet()
  const time = { ms: 0 }
  const { read, repair, isRepairDue } = outputs(() => time.ms)
  const scanTimes: number[] = []
  for (time.ms = 0; time.ms <= 24 * 3_600_000; time.ms += 10_000) {
    await read(wallet, [utxo('a', 'tx')])
    if (!isRepairDue()) continue
    await repair(wallet)
    scanTimes.push(time.ms / 1_000)
  }
  expect(scanTimes.slice(0, 5)).toEqual([0, 10, 30, 70, 150])
  // Anyone can send such an output, so it costs one scan per hour.
  expect(scanTimes.length).toBeLessThan(9 + 24)
  expect(calls).toEqual(scanTimes.map(() => 'scan tx'))
})

test('rescans the chain once for an output that the wallet regards as spent', async () => {
  const { wallet, calls, spent } = createFakeWallet()
  const time = { ms: 0 }
  const { read, repair } = outputs(() => time.ms)
  spent.add('a')
  for (time.ms = 0; time.ms < 30_000; time.ms += 10_000) {
    await read(wallet, [utxo('a', 'tx'), utxo('b', 'tx')])
    await repair(wallet)
  }
  expect(calls).toEqual(['scan tx', 'rescan', 'scan tx'])
})

test('rescans the chain once for an output that the wallet has in another block in two reads', async () => {
  const { wallet, calls, hold } = createFakeWallet()
  const { read, repair, isRepairDue, isMisplaced } = outputs()
  hold('a', { height: 7 })
  hold('b', { height: 8 })
  const compare = async (height: number) => {
    await read(wallet, [utxo('a', 'tx', height), utxo('b', 'other', 8)])
    if (isRepairDue()) await repair(wallet)
    return calls.splice(0)
  }
  // The store follows a reorganisation later than the wallet, or earlier.
  expect([await compare(6), await compare(7), await compare(8)]).toEqual([[], [], []])
  expect([isMisplaced('a'), isMisplaced('b')]).toEqual([true, false])
  expect([await compare(8), await compare(8), await compare(8)]).toEqual([['rescan'], [], []])
  hold('a', { height: 8 })
  await compare(8)
  expect(isMisplaced('a')).toBe(false)
})

test('a larger output with the same key is in another block, and that is no reason for a rescan', async () => {
  const { wallet, hold } = createFakeWallet()
  const { read, isRepairDue } = outputs()
  hold('a', { height: 9, units: 2n })
  for (let turn = 0; turn < 3; turn++) await read(wallet, [utxo('a', 'tx', 7)])
  expect(isRepairDue()).toBe(false)
})
