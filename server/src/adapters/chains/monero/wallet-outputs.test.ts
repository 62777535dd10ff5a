import { expect, test } from 'vitest'
import { AppError } from '../../../core/domain/errors.ts'
import type { RecordedUtxo } from '../../../exchange/ports/spend.ts'
import { createOutputOrigins } from './output-origins.ts'
import type { Wallet, WalletOutput } from './wallet.ts'
import { createWalletOutputs } from './wallet-outputs.ts'

/**
 * A wallet program that reads the outputs of some transactions only, and its daemon. `calls`: the wallet's slow work. `chain`: the keys
 * of all outputs of the chain, by place.
 */
function startFakes(now = () => 0) {
  const held = new Map<string, WalletOutput>()
  const calls: string[] = []
  const state = { rejected: new Set<string>(), inWalletSpent: new Map<string, number>(), spent: new Set<string>() }
  const chain: string[] = []
  const wallet: Wallet = {
    outputs: async () => new Map(held),
    listSpent: async (indexes) =>
      new Set([...state.inWalletSpent].flatMap(([image, index]) => (indexes.includes(index) ? [image] : []))),
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
  const node = {
    areSpent: async (images: readonly string[]) => images.map((image) => state.spent.has(image)),
    outputs: async (places: readonly bigint[]) =>
      places.some((place) => place >= chain.length)
        ? null
        : places.map((place) => ({ key: chain[Number(place)] ?? '', height: 1, unlocked: true })),
  }
  const hold = (image: string, globalIndex = 0n, key = `key of ${image}`) =>
    held.set(image, { units: 1n, globalIndex, key, unlocked: true, frozen: true, txHash: '', index: 0 })
  const outputs = createWalletOutputs({ origins: createOutputOrigins(), nodes: [node], now })
  return { wallet, calls, hold, chain, ...state, ...outputs }
}

/** Of the deposit address whose subaddress has the index 8. */
const utxo = (outpoint: string, txHash: string | null): RecordedUtxo => ({
  outpoint,
  units: 1n,
  path: { branch: 'deposit', index: 7 },
  deposit: txHash === null ? null : { identity: `key of ${outpoint}`, txHash },
})

test('D47: an output that the wallet program does not find in its transaction costs one scan of it, and no rescan', async () => {
  const { wallet, calls, hold, read, repair, isUnreadable } = startFakes()
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
  const { wallet, calls, read, repair } = startFakes()
  await read(wallet, [utxo('a', 'tx')])
  await read(wallet, [utxo('a', null)])
  await repair(wallet)
  expect(calls).toEqual(['scan tx'])
})

test('rescans the chain once for an output whose transaction is not known', async () => {
  const { wallet, calls, read, repair } = startFakes()
  for (let turn = 0; turn < 3; turn++) {
    await read(wallet, [utxo('a', null)])
    await repair(wallet)
  }
  expect(calls).toEqual(['rescan'])
})

test('a transaction that left the chain does not stop the scan of others', async () => {
  const { wallet, calls, rejected, read, repair, isUnreadable } = startFakes()
  rejected.add('orphaned')
  await read(wallet, [utxo('a', 'orphaned'), utxo('b', 'tx')])
  await repair(wallet)
  expect(calls).toEqual(['scan orphaned tx', 'scan orphaned', 'scan tx'])
  expect([isUnreadable('key of a'), isUnreadable('key of b')]).toEqual([false, true])
})

test('scans a transaction again later: at the first scan it may have been in no block', async () => {
  const time = { ms: 0 }
  const { wallet, calls, compare } = startFakes(() => time.ms)
  const scanTimes: number[] = []
  for (time.ms = 0; time.ms <= 24 * 3_600_000; time.ms += 10_000) {
    await compare(wallet, [utxo('a', 'tx')])
    if (calls.length > scanTimes.length) scanTimes.push(time.ms / 1_000)
  }
  expect(scanTimes.slice(0, 5)).toEqual([0, 10, 30, 70, 150])
  // Anyone can send such an output, so it costs one scan per hour.
  expect(scanTimes.length).toBeLessThan(9 + 24)
  expect(calls).toEqual(scanTimes.map(() => 'scan tx'))
})

test('an output is readable as soon as a later scan finds it', async () => {
  const time = { ms: 0 }
  const { wallet, hold, chain, compare, isUnreadable } = startFakes(() => time.ms)
  chain.push('key of a')
  await compare(wallet, [utxo('a', 'tx')])
  expect(isUnreadable('key of a')).toBe(true)
  time.ms = 10_000
  const scan = wallet.scan
  await compare({ ...wallet, scan: (txHashes) => scan(txHashes).then(() => void hold('a')) }, [utxo('a', 'tx')])
  expect(isUnreadable('key of a')).toBe(false)
})

test('rescans the chain once for an output that the wallet regards as spent and no node does', async () => {
  const time = { ms: 0 }
  const { wallet, calls, inWalletSpent, compare } = startFakes(() => time.ms)
  inWalletSpent.set('a', 8)
  for (time.ms = 0; time.ms < 30_000; time.ms += 10_000) await compare(wallet, [utxo('a', 'tx'), utxo('b', 'tx')])
  expect(calls).toEqual(['scan tx', 'rescan', 'scan tx'])
})

test('does not rescan the chain for an output that the nodes regard as spent, too', async () => {
  const { wallet, calls, inWalletSpent, spent, read, repair } = startFakes()
  inWalletSpent.set('a', 8)
  spent.add('a')
  await read(wallet, [utxo('a', 'tx')])
  await repair(wallet)
  expect(calls).toEqual(['scan tx'])
})

test('rescans the chain for an output in whose place the daemon has another one', async () => {
  const { wallet, calls, hold, chain, compare } = startFakes()
  const compareAll = async () => {
    await compare(wallet, [utxo('a', 'tx'), utxo('b', 'tx'), utxo('c', 'tx')])
    return calls.splice(0)
  }
  chain.push('key of another', 'key of a', 'key of b', 'key of c')
  for (const [n, image] of ['a', 'b', 'c'].entries()) hold(image, BigInt(n + 1))
  expect(await compareAll()).toEqual([])
  // After the reorganisation they are one place earlier, and the last place is beyond the end of the chain.
  chain.shift()
  expect(await compareAll()).toEqual(['rescan'])
  // The rescan did not help: it is not repeated, because it takes hours.
  expect(await compareAll()).toEqual([])
  for (const [n, image] of ['a', 'b', 'c'].entries()) hold(image, BigInt(n))
  expect(await compareAll()).toEqual([])
})

test('does not rescan the chain if the wallet reads the reorganisation itself meanwhile', async () => {
  const { wallet, calls, hold, chain, compare } = startFakes()
  chain.push('key of a')
  hold('a', 1n)
  const late: Wallet = {
    ...wallet,
    outputs: async (refresh) => {
      if (refresh === 'slow') hold('a', 0n)
      return wallet.outputs()
    },
  }
  await compare(late, [utxo('a', 'tx')])
  expect(calls).toEqual([])
})

test('of two outputs with one key, the wallet may hold the other one (D41)', async () => {
  const { wallet, calls, hold, chain, compare } = startFakes()
  chain.push('key of a', 'key of another', 'key of a')
  for (const place of [0n, 2n]) {
    hold('a', place)
    await compare(wallet, [utxo('a', 'tx')])
  }
  expect(calls).toEqual([])
})
