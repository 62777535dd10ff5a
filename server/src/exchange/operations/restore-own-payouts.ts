import { noExchange } from '../payouts/payment.ts'
import { isCancel, type PayoutRelease, type ReleasedTransaction } from '../ports/signer.ts'
import type { StoreTx } from '../ports/store/store.ts'

type Released = ReleasedTransaction & Readonly<{ releases: readonly PayoutRelease[] }>

/** Ids of sweeps and gas supplies are random (version 7). Those of payouts and refunds follow from their deposits (version 8). */
const isRandom = (id: string): boolean => id[14] === '7'

/**
 * Restores the payout row of a sweep or a gas supply of an account chain from the signer's journal: its id is random, so no
 * step requests it again. Returns why it cannot yet; null = it is restored, or it is another payout.
 */
export async function restoreOwnPayout(
  tx: StoreTx,
  { intent, releases, wallet, ...rest }: Released,
): Promise<string | null> {
  const [release] = releases
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
