import { generateMnemonic, mnemonicToSeedSync, validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { AppError } from '../../core/domain/errors.ts'
import { isToOurselves } from '../../core/domain/payout-purpose.ts'
import type { Addresses } from '../../exchange/ports/chain.ts'
import { type PayeeMacs, payoutPayee } from '../../exchange/ports/payee-macs.ts'
import {
  type FamilySigner,
  isCancel,
  type JournalingSigner,
  type KeySource,
  type PublicKeys,
  type SignedTransaction,
  type SignIntent,
  type StoredPayout,
} from '../../exchange/ports/signer.ts'
import type { Payment } from '../../exchange/ports/spend.ts'
import { assert } from '../../lib/assert.ts'
import { createKeySource, createPublicKeys, publicAccounts } from './keys.ts'
import {
  COST,
  decryptSeed,
  encryptSeed,
  readKeystoreFile,
  type ScryptCost,
  writeKeystoreFile,
} from './keystore-file.ts'
import { createOutflow, type OutflowLimits } from './outflow.ts'
import { createPayoutIds } from './payout-ids.ts'
import { openSigningJournal } from './signing-journal.ts'

/** Creates a keystore with accounts for these coin types. Returns its BIP-39 words, which are shown once, as the backup. */
export async function createKeystore(
  path: string,
  passphrase: string,
  coinTypes: readonly number[],
  words: string = generateMnemonic(wordlist, 256),
  cost: ScryptCost = COST,
): Promise<string> {
  if (!validateMnemonic(words, wordlist))
    throw new AppError('INTERNAL', 'these are not the words of a BIP-39 seed: one is misspelt, missing or out of order')
  const seed = mnemonicToSeedSync(words)
  const accounts = publicAccounts(seed, [...new Set(coinTypes)])
  await writeKeystoreFile(path, await encryptSeed(seed, passphrase, accounts, cost))
  return words
}

/** Writes the same accounts without the seed, for processes that only show addresses. */
export async function exportPublicKeys(path: string, to: string): Promise<void> {
  const { version, accounts } = readKeystoreFile(path)
  await writeKeystoreFile(to, { version, accounts, seed: null })
}

/** Reads the public keys, which needs no passphrase. */
export function openPublicKeys(path: string): PublicKeys {
  return createPublicKeys(readKeystoreFile(path).accounts)
}

type OwnAddresses = Pick<Addresses, 'hot' | 'deposit'>

export type SignerOptions = Readonly<{
  path: string
  passphrase: string
  /** One append-only file per signer, on its own disk: what it released, independent of any database (I-37). */
  journalPath: string
  signWith: Readonly<Record<string, FamilySigner>>
  /** SLIP-44 coin type of a network. */
  coinTypeOf(network: string): number
  /** Checks that this program wrote a stored payout (I-39). */
  macs: Pick<PayeeMacs, 'isValid'>
  /** The signer's own limits by asset; an asset without an entry has none. */
  limits?: OutflowLimits
  /** Addresses of these keys: sweeps and gas supplies go to these only. Payments to the hot wallet are no outflow. */
  addressesOf?(network: string): OwnAddresses | null
  /** The clock of the rolling limits. */
  now?(): number
}>

/** The local signer. It builds each transaction from the intent, and only if the stored payouts agree with it. */
export async function openSigner(
  options: SignerOptions,
): Promise<Required<JournalingSigner> & { close(): Promise<void> }> {
  const seed = await decryptSeed(readKeystoreFile(options.path), options.passphrase)
  const journal = await openSigningJournal(options.journalPath, options.now)
  const addressesOf = options.addressesOf ?? (() => null)
  const outflow = createOutflow({
    limits: options.limits ?? new Map(),
    isOwn: (network, address) => addressesOf(network)?.hot() === address,
    released: journal.outflows,
    now: options.now ?? Date.now,
  })
  const sources = new Map<number, KeySource>()
  const keysOf = (network: string): KeySource => {
    const coinType = options.coinTypeOf(network)
    const keys = sources.get(coinType) ?? createKeySource(seed, coinType)
    sources.set(coinType, keys)
    return keys
  }
  return {
    journal: journal.memory,
    payoutId: createPayoutIds(seed),
    walletKey: (coinType, index) => createKeySource(seed, coinType).privateKey({ branch: 'hot', index }),
    async sign(intent, stored): Promise<SignedTransaction> {
      const pays = paysOf(intent)
      assertStored(pays, stored)
      for (const payout of stored) {
        assertOwn(intent, payout, addressesOf(intent.network))
        assertAuthentic(options.macs, intent, payout)
      }
      const isCancelling = isCancel(intent)
      if (isCancelling) assert(intent.family === 'evm' && intent.from.branch === 'hot', 'the hot wallet alone cancels')
      await journal.check(pays, conflictKeyOf(intent))
      const signWith = options.signWith[intent.family]
      assert(signWith, `a signing function for ${intent.family}`)
      if (!isCancelling) outflow.take(pays, refundIdsOf(stored))
      return signWith(intent, keysOf(intent.network))
    },
    release(transaction) {
      const { intent } = transaction
      return journal.release(paysOf(intent), conflictKeyOf(intent), transaction, outflow.isRefund)
    },
    recordInvalidation: (payoutIds, proof) => journal.recordInvalidation(payoutIds, proof),
    close: () => journal.close(),
  }
}

const paysOf = (intent: SignIntent): readonly Payment[] => (intent.family === 'evm' ? [intent.pay] : intent.pays)

/** `purpose` is part of what the authentication code covers: write access to the database makes no payout a refund. */
const refundIdsOf = (stored: readonly StoredPayout[]): ReadonlySet<string> =>
  new Set(stored.flatMap(({ id, purpose }) => (purpose === 'refund' ? [id] : [])))

/** The resource that every replacement also uses: the first input, or the nonce of the key. */
function conflictKeyOf(intent: SignIntent): string {
  if (intent.family !== 'evm') return `${intent.network} ${intent.inputs[0]?.outpoint ?? ''}`
  return `${intent.network} ${intent.from.branch}/${intent.from.index}:${intent.nonce}`
}

/** Throws unless the intent pays each stored payout once, with the same destination, asset and units. */
function assertStored(pays: readonly Payment[], stored: readonly StoredPayout[]): void {
  assert(pays.length > 0 && pays.length === stored.length, 'each payment has its stored payout')
  const byId = new Map(stored.map((payout) => [payout.id, payout]))
  assert(byId.size === pays.length, 'a payout is paid once')
  for (const { payoutId, address, memo, asset, units } of pays) {
    const payout = byId.get(payoutId)
    assert(
      payout &&
        payout.address === address &&
        payout.memo === memo &&
        payout.assetId === asset.id &&
        payout.units === units,
      `the intent pays payout ${payoutId} as it is stored`,
    )
  }
}

/** Throws unless this program wrote the stored payout: write access to the database does not make its code. */
function assertAuthentic(macs: SignerOptions['macs'], { network }: SignIntent, payout: StoredPayout): void {
  if (isToOurselves(payout)) return
  assert(payout.network === network, `payout ${payout.id} is of ${network}`)
  assert(macs.isValid(payoutPayee(payout), payout.mac), `payout ${payout.id} was written by this program`)
}

/**
 * Throws unless a payout to ourselves goes to an address that the signer derives: a row in the database names an address,
 * and only the signer knows whether it is ours. Deposit addresses pay sweeps and nothing else.
 */
function assertOwn(intent: SignIntent, { id, purpose, toKeyIndex, address }: StoredPayout, own: OwnAddresses | null) {
  const isFromDeposit = intent.family === 'evm' && intent.from.branch === 'deposit'
  assert(isFromDeposit === (purpose === 'sweep'), `payout ${id}: deposit addresses pay sweeps, the hot wallet the rest`)
  if (purpose === 'sweep' || purpose === 'split' || purpose === 'consolidate')
    assert(own?.hot() === address, `${purpose} ${id} goes to the hot wallet of ${intent.network}`)
  if (purpose === 'gas')
    assert(
      toKeyIndex !== null && own?.deposit(toKeyIndex).address === address,
      `gas supply ${id} goes to a deposit address of ${intent.network}`,
    )
}
