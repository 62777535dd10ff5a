import type { AlarmStore } from '../../core/ports/store/alarms.ts'
import type { Log } from '../../lib/log.ts'
import type { SwapNetworks } from '../networks.ts'
import type { FeeAccounts } from '../ports/store/fee-accounts.ts'

export type ReconcileFeesDeps = Readonly<{
  networks: Pick<SwapNetworks, 'find'>
  feeAccounts: Pick<FeeAccounts, 'listHeldFees'>
  alarms: Pick<AlarmStore, 'raise' | 'clear'>
  log: Pick<Log, 'error'>
}>

/**
 * Compares the operator's fee addresses with the ledger. Less on the chain than in the ledger raises an alarm: a transfer out
 * was not booked. It must persist for two runs, because a block may arrive between the two reads. More on the chain is
 * normal: the operator may receive other transfers there.
 */
export function createReconcileFees({ networks, feeAccounts, alarms, log }: ReconcileFeesDeps): () => Promise<void> {
  const suspected = new Set<string>()
  return async () => {
    for (const { address, assetId, units } of await feeAccounts.listHeldFees()) {
      const at = assetId.indexOf('@')
      const chain = networks.find(assetId.slice(at + 1))?.chain
      if (chain === undefined) continue
      const onChain = units === 0n ? 0n : await chain.readBalance(address, assetId.slice(0, at))
      const subject = `fees:${assetId}:${address}`
      if (onChain >= units) {
        suspected.delete(subject)
        await alarms.clear(subject)
      } else if (suspected.has(subject)) {
        const detail = { ledger: units.toString(), held: onChain.toString(), address, asset: assetId }
        log.error(detail, 'fees of partners are missing')
        await alarms.raise(subject, 'fees of partners are missing', detail)
      } else {
        suspected.add(subject)
      }
    }
  }
}
