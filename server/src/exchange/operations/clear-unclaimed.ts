import type { StoreTx } from '../ports/store/store.ts'

/** Clears the alarm about coins without an owner, once none of them is left at the hot wallet of this network. */
export async function clearUnclaimed(tx: StoreTx, network: string): Promise<void> {
  if (!(await tx.operator.hasUnclaimed(network))) await tx.alarms.clear(`unclaimed:${network}`)
}
