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
  const state = { rejected: new Set<string>() }
  const wallet: Wallet = {
    outputs: async () => new Map(held),
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
  const hold = (keyImage: string) =>
    held.set(keyImage, { units: 1n, unlocked: true, frozen: true, txHash: '', index: 0 })
  return { wallet, calls, hold, rejected: state.rejected }
}

const utxo = (outpoint: string, txHash: string | null): RecordedUtxo => ({
  outpoint,
  units: 1n,
  path: { branch: 'deposit', index: 7 },
  deposit: txHash === null ? null : { identity: `key of ${outpoint}`, txHash },
})

const outputs = () => createWalletOutputs(createOutputOrigins())

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
