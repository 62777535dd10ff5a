import type { Log } from '../../lib/log.ts'
import type { LedgerFault } from '../ports/store/reconciliation.ts'
import type { Store } from '../ports/store/store.ts'

export type CheckLedgerDeps = Readonly<{ store: Store; log: Log; onFaults(count: number): void }>

/** Faults read in one check, and faults in the alarm. */
const FAULTS_MAX = 100
const FAULTS_SHOWN = 10

/**
 * Checks the ledger against itself (I-1). A fault raises the alarm `ledger:faults` and pauses all payouts, because payouts
 * are backed by balances. Code never adjusts the ledger, and the operator ends the pause.
 */
export function createCheckLedger({ store, log, onFaults }: CheckLedgerDeps) {
  return async function checkLedger(): Promise<void> {
    const faults = await store.reconciliation.ledgerFaults(FAULTS_MAX)
    onFaults(faults.length)
    if (faults.length === 0) return store.alarms.clear('ledger:faults')
    const shown = faults.slice(0, FAULTS_SHOWN).map(describeFault)
    log.error({ faults: shown }, 'the ledger is inconsistent')
    await store.alarms.raise('ledger:faults', 'the ledger is inconsistent', { faults: shown })
    await store.pauses.pause('payouts:all', 'the ledger is inconsistent', 'reconciler')
  }
}

/** One fault in a sentence, in base units. */
export function describeFault(fault: LedgerFault): string {
  return fault.kind === 'sum'
    ? `the balances of ${fault.assetId} sum to ${fault.units}, not to 0`
    : `${fault.account} holds ${fault.stored} of ${fault.assetId}, and its postings sum to ${fault.posted}`
}
