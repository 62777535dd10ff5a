import { randomUUID } from 'node:crypto'
import type { PayoutRelease, ReleasedTransaction, SignerJournal } from '../../../src/exchange/ports/signer.ts'

/** The signer's journal with these transactions, which the database may lack. */
export function createReleasedJournal(
  releases: readonly PayoutRelease[],
  transactions: readonly ReleasedTransaction[],
): SignerJournal {
  const id = randomUUID()
  return {
    id: () => id,
    recordName: () => Promise.reject(new Error('it has a name')),
    generation: () => null,
    recordGeneration: async () => undefined,
    newestReleases: () => releases,
    async *allReleases() {
      yield releases
    },
    async *releasedTransactions(select) {
      const selected = await select(transactions.map(({ txHash }) => txHash))
      yield transactions.filter(({ txHash }) => selected.has(txHash))
    },
    bytes: () => 0,
    position: () => ({ segments: 1, bytes: 1 }),
  }
}
