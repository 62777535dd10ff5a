import type { Transfer } from '../../../exchange/ports/chain.ts'
import type { KeyPath } from '../../../exchange/ports/spend.ts'
import { present } from '../../../lib/assert.ts'
import { writeAddress } from './address.ts'
import { bytesOf, hashToPoint, keccak, NEUTRAL, readPoint, type Scalar, times, timesBase, toScalar } from './ed25519.ts'
import { derive, offsetOf, outputSecret, type Point, subaddressOf, viewTag, type WalletKeys } from './keys.ts'
import { fromHex, type Output, type Transaction, toHex, unmask } from './transaction.ts'

/** The second generator of commitments (Monero, rctTypes.h: H). */
const H = present(
  readPoint(fromHex('8b655970153799af2aeadc9ff1add0ea6c7251d54154cfa92c173a0dd39c1f94')),
  'the generator H',
)
const AMOUNT = Buffer.from('amount')
const MASK = Buffer.from('commitment_mask')
/** Unlock times below this are heights, others are seconds (CRYPTONOTE_MAX_BLOCK_NUMBER). */
const HEIGHT_MAX = 500_000_000n
const BLOCK_SECONDS = 120n
/** Seconds that a node adds to the chain's time (CRYPTONOTE_LOCKED_TX_ALLOWED_DELTA_SECONDS_V2). */
const DELTA_SECONDS = 120n
/** The maximum of the database column: the output never unlocks. */
const DEPTH_MAX = 2_147_483_647n

/** An output that our view key can open, with the secret that only sender and recipient know. Ours if its address is. */
export type OwnOutput = Readonly<{ transfer: Transfer; secret: Scalar }>

/** The block of a transaction, to compute its remaining lock. */
export type BlockPosition = Readonly<{ height: number; time: number }>

/** The head and time with which a node checks locks. `time`: seconds, from the median of its latest blocks. */
export type ChainTime = Readonly<{ headHeight: number; time: number }>

/**
 * The outputs that may be ours, with the address that each would pay; the store knows which addresses we assigned. One in
 * 256 outputs of others passes the view tag with a random address, and without view tags all do.
 *
 * Only amounts that match the commitment count, because the sender can state any encrypted amount.
 */
export function findOutputs(
  keys: WalletKeys,
  transaction: Transaction,
  position: BlockPosition | null,
): readonly OwnOutput[] {
  const shared = sharedSecrets(keys.view, transaction.publicKeys)
  const outputSecrets = transaction.outputs.map(({ vout }) => {
    const key = transaction.outputKeys[vout]
    return key === undefined ? [] : sharedSecrets(keys.view, [key])
  })
  const ownOutputs: OwnOutput[] = []
  for (const output of transaction.outputs) {
    for (const secret of [...shared, ...(outputSecrets[output.vout] ?? [])]) {
      const own = openOutput(keys, transaction, output, secret, position)
      if (own === null) continue
      ownOutputs.push(own)
      break
    }
  }
  return ownOutputs
}

/** Of bytes that are no point, Monero's wallets take the neutral point (wallet2.cpp: process_new_transaction). */
function sharedSecrets(view: Scalar, publicKeys: readonly Uint8Array[]): readonly Uint8Array[] {
  return publicKeys.map((bytes) => derive(readPoint(bytes) ?? NEUTRAL, view))
}

function openOutput(
  keys: WalletKeys,
  { txHash, unlockTime }: Transaction,
  output: Output,
  shared: Uint8Array,
  position: BlockPosition | null,
): OwnOutput | null {
  if (output.viewTag !== null && output.viewTag !== viewTag(shared, output.vout)) return null
  const key = readPoint(fromHex(output.key))
  if (key === null) return null
  const secret = outputSecret(shared, output.vout)
  const units = openAmount(output, secret)
  if (units === null || units === 0n) return null
  const address = addressFor(keys, key.subtract(timesBase(secret)))
  const lockedFor = position === null ? 0 : lockOf(unlockTime, position)
  const transfer: Transfer = {
    // The one-time key, not the output index: two outputs with the same key can never both be spent.
    identity: output.key,
    txHash,
    address,
    memo: null,
    contract: null,
    units,
    sender: null,
    ...(lockedFor === 0 ? {} : { lockConfirmations: lockedFor }),
  }
  return { transfer, secret }
}

/** The amount of an output if it matches the commitment, else null. */
export function openAmount({ amount, commitment }: Output, secret: Scalar): bigint | null {
  const bytes = bytesOf(secret, 32)
  const units = unmask(amount, keccak(AMOUNT, bytes))
  const committed = timesBase(toScalar(keccak(MASK, bytes))).add(times(H, units))
  return readPoint(commitment)?.equals(committed) ? units : null
}

function addressFor(keys: WalletKeys, spend: Point): string {
  if (spend.equals(keys.spendPoint)) return writeAddress('standard', spend.toBytes(), timesBase(keys.view).toBytes())
  return writeAddress('subaddress', spend.toBytes(), times(spend, keys.view).toBytes())
}

/** Confirmations until an output locked by its sender becomes spendable; an estimate if the lock is a time. */
export function lockOf(unlockTime: bigint, { height, time }: BlockPosition): number {
  if (unlockTime === 0n) return 0
  const blocks =
    unlockTime < HEIGHT_MAX ? unlockTime - BigInt(height) : (unlockTime - BigInt(time)) / BLOCK_SECONDS + 1n
  if (blocks <= 0n) return 0
  return Number(blocks > DEPTH_MAX ? DEPTH_MAX : blocks)
}

/**
 * Whether a node still refuses to spend an output (Blockchain::is_tx_spendtime_unlocked). For a lock by time it uses the
 * time of its latest blocks, which may lag behind the real time.
 */
export function isLocked(unlockTime: bigint, { headHeight, time }: ChainTime): boolean {
  return unlockTime < HEIGHT_MAX ? unlockTime > BigInt(headHeight) + 1n : unlockTime > BigInt(time) + DELTA_SECONDS
}

/** The key image of an output of ours, by which the chain identifies its spend. */
export function keyImageOf(keys: WalletKeys, { transfer, secret }: OwnOutput, path: KeyPath): string {
  const spend = present(keys.spend, 'the secret spend key')
  const own = secret + spend + offsetOf(keys.view, subaddressOf(path))
  const key = timesBase(own).toBytes()
  if (toHex(key) !== transfer.identity)
    throw new Error(`the output ${transfer.identity} does not belong to the given address`)
  return toHex(times(hashToPoint(key), own).toBytes())
}
