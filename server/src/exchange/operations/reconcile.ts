import { type Asset, type AssetId, nativeId } from '../../core/domain/asset.ts'
import { isUtxoFamily } from '../../core/domain/network.ts'
import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import type { RecordedUtxo } from '../ports/spend.ts'
import type { Store } from '../ports/store/store.ts'
import { createCompareDeposits } from './compare-deposits.ts'
import { createFindUnrecordedDeposits } from './find-unrecorded-deposits.ts'
import { readAcknowledged, reportShortfall } from './report-shortfall.ts'

export type ReconcileDeps = Readonly<{
  store: Store
  assetById(id: AssetId): Asset
  log: Log
  onDifference(asset: AssetId, units: bigint): void
  /** How often one process of all reads the deposit addresses of open exchanges. */
  addressesEveryMs: number
}>

/** Outputs looked up on the nodes in one run; the next run continues after them. */
const UTXOS_MAX = 2_000
/** Missing outputs that are looked up again in the next run, and named in the alarm. */
const MISSING_MAX = 500
const MISSING_SHOWN = 10
/** Consecutive runs with a difference, after which it is reported whatever its size. */
const RUNS_MAX = 3

/**
 * Compares the ledger with the wallets, as the nodes report them (I-7). A difference raises an alarm, and pauses the network's
 * payouts if funds are missing that no operator has acknowledged; code never adjusts the ledger. Funds move between the two readings, so the same difference
 * must be found in two consecutive runs, or differences of any size in three: somebody may take more each time.
 */
export function createReconcile(deps: ReconcileDeps) {
  const { store, assetById, onDifference } = deps
  const suspects = new Map<string, Readonly<{ difference: bigint; runs: number }>>()
  const findMissing = createFindMissing(store)
  const addresses = { ...deps, everyMs: deps.addressesEveryMs }
  const compareDeposits = createCompareDeposits(addresses)
  const findUnrecorded = createFindUnrecordedDeposits(addresses)

  async function compareWallet(chain: Chain): Promise<void> {
    // Read first: an output that is spent and recorded after this is part of the position, and is not missing.
    const positions = await store.reconciliation.positions(chain.network.id, nativeId(chain.network))
    const missing = await findMissing(chain)
    const missingUnits = missing.reduce((sum, { units }) => sum + units, 0n)
    for (const { assetId, low, high, utxoUnits } of positions) {
      const held = isUtxoFamily(chain.network)
        ? utxoUnits - missingUnits
        : await chain.reader.balance(chain.addresses.hot(), assetById(assetId))
      const difference = held < low ? held - low : held > high ? held - high : 0n
      onDifference(assetId, difference)
      const subject = `difference:${assetId}`
      if (difference === 0n) {
        suspects.delete(subject)
        // A shortfall that is smaller than the amounts in motion does not show. What an operator acknowledged of it stays known.
        if (held >= high || (await readAcknowledged(store, subject)) === 0n) await store.alarms.clear(subject)
      } else if (difference > 0n && (await isBehind(store, chain))) {
        // Nodes may have confirmed a payout in blocks that are not recorded yet; its outputs still count as held.
      } else {
        const before = suspects.get(subject)
        const runs = (before?.runs ?? 0) + 1
        suspects.set(subject, { difference, runs })
        if (difference === before?.difference || runs >= RUNS_MAX)
          await report(deps, chain, { assetId, difference, held, high, missing })
      }
    }
  }

  return async function reconcile(chain: Chain): Promise<void> {
    await compareWallet(chain)
    await store.reconciliation.recordComparison(chain.network.id)
    await compareDeposits(chain)
    await findUnrecorded(chain)
  }
}

/** Whether the recorded blocks are so old that a payout can be confirmed and not be among them. */
async function isBehind({ chainLog }: Store, { network, reader }: Chain): Promise<boolean> {
  const [cursor, head] = [await chainLog.cursor(network.id), await reader.head()]
  return cursor === null || head.height - cursor.height >= network.confirmations
}

type Difference = Readonly<{
  assetId: AssetId
  difference: bigint
  held: bigint
  high: bigint
  missing: readonly RecordedUtxo[]
}>

const ALARM = 'ledger and chain differ'

async function report({ store, log }: ReconcileDeps, { network }: Chain, found: Difference): Promise<void> {
  const { assetId, difference, held, high, missing } = found
  const outpoints = missing.slice(0, MISSING_SHOWN).map(({ outpoint }) => outpoint)
  log.error({ network: network.id, assetId, difference: difference.toString() }, ALARM)
  const subject = `difference:${assetId}`
  const detail = {
    difference: difference.toString(),
    held: held.toString(),
    ...(outpoints.length > 0 ? { missing: outpoints } : {}),
  }
  if (difference > 0n) return store.alarms.raise(subject, ALARM, detail)
  const shortfall = { least: -difference, most: high - held }
  await reportShortfall(store, { network: network.id, subject, alarm: ALARM, detail, shortfall })
}

/** Finds recorded outputs that a node does not have. A run reads a part of all outputs, and those that were missing before. */
function createFindMissing(store: Store) {
  const walks = new Map<string, { after: string; missing: readonly RecordedUtxo[] }>()
  return async ({ network: { id }, reader }: Chain): Promise<readonly RecordedUtxo[]> => {
    if (!reader.findMissingUtxos) return []
    const { after, missing: before } = walks.get(id) ?? { after: '', missing: [] }
    const page = await store.reconciliation.freeUtxos(id, after, UTXOS_MAX)
    const again = await store.reconciliation.freeUtxosAmong(
      id,
      before.slice(0, MISSING_MAX).map(({ outpoint }) => outpoint),
    )
    const utxos = [...new Map([...again, ...page].map((utxo) => [utxo.outpoint, utxo])).values()]
    const outpoints = new Set(await reader.findMissingUtxos(utxos))
    // A payout may have spent an output since it was read as free.
    const missing = outpoints.size === 0 ? [] : await store.reconciliation.freeUtxosAmong(id, [...outpoints])
    walks.set(id, { after: page.length < UTXOS_MAX ? '' : (page.at(-1)?.outpoint ?? ''), missing })
    return missing
  }
}
