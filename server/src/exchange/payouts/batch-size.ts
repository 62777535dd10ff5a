import type { Utxo } from '../ports/spend.ts'

/**
 * Number of payouts for the next transaction on a network where sharing a transaction links its payouts: as few as possible,
 * such that half of the outputs that can pay any of them suffice for the queue. The other half stays for later payouts,
 * because change is locked for several blocks.
 */
export function batchSize(payouts: readonly Readonly<{ units: bigint }>[], utxos: readonly Utxo[]): number {
  const sufficient = utxos.filter((utxo) => payouts.every(({ units }) => units < utxo.units)).length
  return Math.ceil(payouts.length / Math.max(1, Math.floor(sufficient / 2)))
}
