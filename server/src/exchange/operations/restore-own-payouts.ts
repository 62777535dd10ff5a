import { noExchange } from '../payouts/payment.ts'
import { isCancel, type PayoutRelease, type ReleasedTransaction } from '../ports/signer.ts'
import type { StoreTx } from '../ports/store/store.ts'
import { findMismatch } from './find-mismatch.ts'

type Released = ReleasedTransaction & Readonly<{ releases: readonly PayoutRelease[] }>

/** Ids of sweeps and gas supplies are random (version 7). Those of payouts and refunds follow from their deposits (version 8). */
const isRandom = (id: string): boolean => id[14] === '7'

/**
 * Restores the payout rows of a sweep or a gas supply of an account family, and of splits and merges of the bitcoin family, from the
 * signer's journal: their ids are random, so no step requests them again. Returns why it cannot yet; null = they are restored, or
 * these are other payouts.
 */
export async function restoreOwnPayout(
  tx: StoreTx,
  { intent, releases, wallet, ...rest }: Released,
): Promise<string | null> {
  const [release] = releases
  if (intent.family === 'bitcoin') return restoreOutputs(tx, releases)
  if (intent.family !== 'evm' || isCancel(intent) || release === undefined || !isRandom(release.payoutId)) return null
  if ((await tx.payouts.find([release.payoutId])).length > 0) return null
  const { payoutId: id, network, assetId, address, units } = release
  const isNative = intent.pay.asset.contract === null
  const row = { id, ...noExchange, network, assetId, address, units }
  if (intent.from.branch === 'deposit') {
    // A token sweep takes whole deposits; a sweep of the native coin leaves its fee.
    const feeUnits = isNative ? rest.feeUnits : 0n
    const deposits = await tx.wallets.findSweptDeposits({ network, address: wallet, assetId, units, feeUnits })
    if (deposits.length === 0)
      return `the deposits of sweep ${id} at ${wallet} are not credited in the database, or another sweep has them`
    await tx.payouts.insert({ ...row, purpose: 'sweep', from: intent.from })
    await tx.wallets.markSwept(deposits, id)
  } else if (isNative && (await tx.wallets.isDepositAddress(network, address)))
    await tx.payouts.insert({ ...row, purpose: 'gas', from: 'hot' })
  return null
}

/**
 * A merge is restored as a split: both move the wallet's own coins, and only the planner distinguishes them. Payouts in the same
 * transaction must be importable: a split without its transaction would be signed again.
 */
async function restoreOutputs(tx: StoreTx, releases: readonly PayoutRelease[]): Promise<string | null> {
  const own: PayoutRelease[] = []
  for (const release of releases)
    if (isRandom(release.payoutId) && (await tx.wallets.isHotAddress(release.network, release.address)))
      own.push(release)
  const others = releases.filter((release) => !own.includes(release))
  const mismatch = findMismatch(others, await tx.payouts.find(others.map(({ payoutId }) => payoutId)))
  if (mismatch !== null) return mismatch
  const known = new Set((await tx.payouts.find(own.map(({ payoutId }) => payoutId))).map(({ id }) => id))
  for (const { payoutId: id, network, assetId, address, units } of own.filter(({ payoutId }) => !known.has(payoutId)))
    await tx.payouts.insert({ id, ...noExchange, purpose: 'split', network, assetId, from: 'hot', address, units })
  return null
}
