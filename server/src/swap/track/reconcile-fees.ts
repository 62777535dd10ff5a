import type { AlarmStore } from '../../core/ports/store/alarms.ts'
import type { Log } from '../../lib/log.ts'
import type { SwapNetworks } from '../networks.ts'
import type { SwapDesk } from '../ports/store/swaps.ts'

export type ReconcileFeesDeps = Readonly<{
  networks: Pick<SwapNetworks, 'find'>
  desk: Pick<SwapDesk, 'fees'>
  alarms: Pick<AlarmStore, 'raise' | 'clear'>
  log: Pick<Log, 'error'>
}>

/**
 * Compares the addresses that take fees for partners with the ledger. Less on the chain is an alarm: something left, and no
 * partner's account with it. It must stand in two runs, because blocks come in between the two sides. More is nobody's
 * fault: the address is the operator's, and may take other things.
 */
export function createReconcileFees({ networks, desk, alarms, log }: ReconcileFeesDeps): () => Promise<void> {
  const suspected = new Set<string>()
  return async () => {
    for (const { address, assetId, units } of await desk.fees()) {
      const at = assetId.indexOf('@')
      const chain = networks.find(assetId.slice(at + 1))?.chain
      if (chain === undefined) continue
      const held = units === 0n ? 0n : await chain.balance(address, assetId.slice(0, at))
      const subject = `fees:${assetId}:${address}`
      if (held >= units) {
        suspected.delete(subject)
        await alarms.clear(subject)
      } else if (suspected.has(subject)) {
        const detail = { ledger: units.toString(), held: held.toString(), address, asset: assetId }
        log.error(detail, 'fees of partners are missing')
        await alarms.raise(subject, 'fees of partners are missing', detail)
      } else {
        suspected.add(subject)
      }
    }
  }
}
