import type { Transfer } from '../../../exchange/ports/chain.ts'
import type { KeyPath } from '../../../exchange/ports/spend.ts'
import { present } from '../../../lib/assert.ts'
import { writeAddress } from './address.ts'
import { bytesOf, hashToPoint, keccak, readPoint, type Scalar, times, timesBase, toScalar } from './ed25519.ts'
import { derive, type WalletKeys, offsetOf, outputSecret, type Point, subaddressOf, viewTag } from './keys.ts'
import { fromHex, type Output, type Transaction, toHex, unmask } from './transaction.ts'

/** The second generator of commitments (Monero, rctTypes.h: H). */
const H = present(
  readPoint(fromHex('8b655970153799af2aeadc9ff1add0ea6c7251d54154cfa92c173a0dd39c1f94')),
  'the generator H',
)
const AMOUNT = Buffer.from('amount')
const MASK = Buffer.from('commitment_mask')
/** Unlock times below this are heights, from it on seconds (CRYPTONOTE_MAX_BLOCK_NUMBER). */
const HEIGHT_MAX = 500_000_000n
const BLOCK_SECONDS = 120n
/** What a node adds to the chain's time (CRYPTONOTE_LOCKED_TX_ALLOWED_DELTA_SECONDS_V2). */
const DELTA_SECONDS = 120n
/** What a column of depths holds: never. */
const DEPTH_MAX = 2_147_483_647n

/** An output that is ours if its address is, with the secret that only sender and recipient know. */
export type OwnOutput = Readonly<{ transfer: Transfer; secret: Scalar }>

/** Where a transaction stands: what its lock is counted from. */
export type BlockPosition = Readonly<{ height: number; time: number }>

/** What a node holds locks against. `time`: seconds, by the median of its latest blocks. */
export type ChainTime = Readonly<{ headHeight: number; time: number }>

/**
 * Every output of a transaction that may be ours, with the address that it would be for: which addresses were given out,
 * the store knows. One in 256 outputs of others looks like one to an address that nobody has; without view tags, all.
 *
 * An amount counts only where the commitment opens to it: what a sender says of it binds nobody.
 */
export function findOutputs(keys: WalletKeys, transaction: Transaction, place: BlockPosition | null): readonly OwnOutput[] {
  const shared = sharedSecrets(keys.view, transaction.publicKeys)
  const single = transaction.outputs.map(({ vout }) => {
    const key = transaction.outputKeys[vout]
    return key === undefined ? [] : sharedSecrets(keys.view, [key])
  })
  const found: OwnOutput[] = []
  for (const output of transaction.outputs) {
    for (const secrets of [...shared, ...(single[output.vout] ?? [])]) {
      const one = open(keys, transaction, output, secrets, place)
      if (one === null) continue
      found.push(one)
      break
    }
  }
  return found
}

function sharedSecrets(view: Scalar, publicKeys: readonly Uint8Array[]): readonly Uint8Array[] {
  return publicKeys.flatMap((bytes) => {
    const point = readPoint(bytes)
    return point === null ? [] : [derive(point, view)]
  })
}

function open(
  keys: WalletKeys,
  { txHash, unlockTime }: Transaction,
  output: Output,
  shared: Uint8Array,
  place: BlockPosition | null,
): OwnOutput | null {
  if (output.viewTag !== null && output.viewTag !== viewTag(shared, output.vout)) return null
  const key = readPoint(fromHex(output.key))
  if (key === null) return null
  const secret = outputSecret(shared, output.vout)
  const units = openAmount(output, secret)
  if (units === null || units === 0n) return null
  const address = addressFor(keys, key.subtract(timesBase(secret)))
  const lockedFor = place === null ? 0 : lockOf(unlockTime, place)
  const transfer: Transfer = {
    // Not the place in a transaction: a second output with this key can never be spent beside the first.
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

/** The amount of an output, where its commitment says the same. */
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

/** Confirmations that an output needs before the chain lets it be spent, where its sender locked it. */
export function lockOf(unlockTime: bigint, { height, time }: BlockPosition): number {
  if (unlockTime === 0n) return 0
  const blocks =
    unlockTime < HEIGHT_MAX ? unlockTime - BigInt(height) : (unlockTime - BigInt(time)) / BLOCK_SECONDS + 1n
  if (blocks <= 0n) return 0
  return Number(blocks > DEPTH_MAX ? DEPTH_MAX : blocks)
}

/**
 * Whether a node still refuses to let an output be spent (Blockchain::is_tx_spendtime_unlocked). A lock by the clock is held
 * against the time that the chain's own blocks tell, which falls behind where they are slow: ours says nothing of it.
 */
export function isLocked(unlockTime: bigint, { headHeight, time }: ChainTime): boolean {
  return unlockTime < HEIGHT_MAX ? unlockTime > BigInt(headHeight) + 1n : unlockTime > BigInt(time) + DELTA_SECONDS
}

/** The name by which the chain says that an output of ours is spent. */
export function keyImageOf(keys: WalletKeys, { transfer, secret }: OwnOutput, path: KeyPath): string {
  const spend = present(keys.spend, 'the secret spend key')
  const own = secret + spend + offsetOf(keys.view, subaddressOf(path))
  const key = timesBase(own).toBytes()
  if (toHex(key) !== transfer.identity) throw new Error(`the output ${transfer.identity} is not of the address named`)
  return toHex(times(hashToPoint(key), own).toBytes())
}
