import { HDKey } from '@scure/bip32'
import { LRUCache } from 'lru-cache'
import type { KeySource, PublicKeys, ViewKeys } from '../../exchange/ports/signer.ts'
import type { KeyPath } from '../../exchange/ports/spend.ts'
import { assert, present } from '../../lib/assert.ts'
import { spendKeyOf, viewKeysOf } from '../chains/monero/view-keys.ts'
import { compressKey, createChildKeys } from './child-keys.ts'
import { createKeyThread, type KeyThread } from './key-thread.ts'

/** SLIP-44 coin types with BIP-44 accounts: networks without segwit, and EVM networks (60). */
const BIP44 = new Set([3, 60, 145])

/** Monero has one wallet for all addresses; its keys are derived from one key of the seed. */
const MONERO = 128
const MONERO_KEY: KeyPath = { branch: 'hot', index: 0 }
/** Account entry with the secret view key followed by the public spend key. */
const MONERO_ACCOUNT = 'monero'

/** Account 0 has the deposit addresses. Account 1 has the hot wallet (external chain) and change addresses (internal chain). */
export function accountPath(coinType: number, branch: KeyPath['branch']): string {
  return `m/${BIP44.has(coinType) ? 44 : 84}'/${coinType}'/${branch === 'deposit' ? 0 : 1}'`
}

const chainOf = (branch: KeyPath['branch']): number => (branch === 'change' ? 1 : 0)

/** The extended public keys of the accounts, from which all addresses are derived. */
export function publicAccounts(seed: Uint8Array, coinTypes: readonly number[]): Record<string, string> {
  const root = HDKey.fromMasterSeed(seed)
  const paths = coinTypes.flatMap((coinType) => [accountPath(coinType, 'deposit'), accountPath(coinType, 'hot')])
  const accounts = Object.fromEntries(paths.map((path) => [path, root.derive(path).publicExtendedKey]))
  if (!coinTypes.includes(MONERO)) return accounts
  const { view, spend } = viewKeysOf(spendKeyOf(createKeySource(seed, MONERO).privateKey(MONERO_KEY)))
  return { ...accounts, [MONERO_ACCOUNT]: Buffer.concat([view, spend]).toString('hex') }
}

export function createPublicKeys(accounts: Readonly<Record<string, string>>): PublicKeys {
  const branches = new Map<string, BranchKeys>()
  const thread = createKeyThread()

  function branchOf(coinType: number, branch: KeyPath['branch']): BranchKeys {
    const key = `${coinType}/${branch}`
    let keys = branches.get(key)
    if (!keys) {
      const account = present(
        accounts[accountPath(coinType, branch)],
        `the account of coin type ${coinType} in the keystore`,
      )
      keys = createBranchKeys(
        HDKey.fromExtendedKey(account).deriveChild(chainOf(branch)),
        thread,
        branch === 'deposit' ? BATCH_SIZE : 1,
      )
      branches.set(key, keys)
    }
    return keys
  }

  function plainKey(coinType: number, { branch, index }: KeyPath): Uint8Array {
    assertIndex(index)
    return branchOf(coinType, branch).get(index)
  }

  return {
    viewKeys: (coinType) => (coinType === MONERO ? readViewKeys(accounts[MONERO_ACCOUNT]) : null),
    uncompressedKey: plainKey,
    publicKey: (coinType, path) => compressKey(plainKey(coinType, path)),
    precompute: (coinType, branch, indexes) => {
      for (const index of indexes) assertIndex(index)
      branchOf(coinType, branch).expect(indexes)
    },
  }
}

function readViewKeys(text: string | undefined): ViewKeys | null {
  if (text === undefined) return null
  const bytes = new Uint8Array(Buffer.from(text, 'hex'))
  assert(bytes.length === 64, 'the keys of Monero in the keystore are two of 32 bytes')
  return { view: bytes.subarray(0, 32), spend: bytes.subarray(32) }
}

/** Deposit keys that are derived at once when a caller requests consecutive indexes; takes 10 ms. */
const BATCH_SIZE = 128
/** Maximum keys and expected indexes in memory, for several callers. */
const READY_MAX = 8_192

type BranchKeys = { get(index: number): Uint8Array; expect(indexes: readonly number[]): void }

/**
 * The uncompressed keys below one branch. A thread derives announced indexes (`expect`). Without an announcement, the
 * second of two consecutive requests derives a whole batch of the following keys.
 */
function createBranchKeys(branch: HDKey, thread: KeyThread, batchSize: number): BranchKeys {
  const parent = {
    publicKey: present(branch.publicKey, 'a public key'),
    chainCode: present(branch.chainCode, 'a chain code'),
  }
  const deriveChildren = createChildKeys(parent)
  const ready = new LRUCache<number, Uint8Array | 'next'>({ max: READY_MAX })
  return {
    get: (index) => {
      // Not `get`, which would mark a used key as recently used and evict keys that are still needed.
      const entry = ready.peek(index)
      if (entry instanceof Uint8Array) return entry
      // The index before this one was requested: the caller may request them in order.
      const count = entry === 'next' ? Math.min(batchSize, 2 ** 31 - index) : 1
      const [first, ...following] = deriveChildren(Array.from({ length: count }, (_, n) => index + n))
      following.forEach((key, n) => {
        ready.set(index + 1 + n, key)
      })
      if (!ready.peek(index + count)) ready.set(index + count, 'next')
      return present(first, 'a derived public key')
    },
    expect: (indexes) => {
      thread.derive(parent, indexes).then(
        (keys) => {
          for (const [n, key] of keys.entries()) ready.set(present(indexes[n], 'the index of a key'), key)
        },
        (error: unknown) =>
          process.emitWarning(`public keys are derived on request, because the key thread failed: ${String(error)}`),
      )
    },
  }
}

export function createKeySource(seed: Uint8Array, coinType: number): KeySource {
  const root = HDKey.fromMasterSeed(seed)
  // Caches the branch: four of the five derivation steps of a key.
  const branches = new Map<KeyPath['branch'], HDKey>()
  return {
    privateKey: ({ branch, index }) => {
      assertIndex(index)
      const parent = branches.get(branch) ?? root.derive(`${accountPath(coinType, branch)}/${chainOf(branch)}`)
      branches.set(branch, parent)
      return present(parent.deriveChild(index).privateKey, 'a derived private key')
    },
  }
}

/** BIP-32: indexes from 2^31 on are hardened, which are other keys. */
function assertIndex(index: number): void {
  assert(Number.isSafeInteger(index) && index >= 0 && index < 2 ** 31, 'a derivation index is below 2^31')
}
