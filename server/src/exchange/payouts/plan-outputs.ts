import { type AssetId, nativeId } from '../../core/domain/asset.ts'
import { accounts } from '../../core/domain/ledger/entries.ts'
import type { AuditNote } from '../../core/services/audit-note.ts'
import { refused, requireReason } from '../../core/services/audit-note.ts'
import { timeOrderedId } from '../../lib/id.ts'
import type { Log } from '../../lib/log.ts'
import {
  type OutputPlan,
  type OutputSettings,
  planConsolidation,
  planSplit,
  usefulUnits,
  type WalletOutputs,
} from '../domain/output-plan.ts'
import type { Chain } from '../ports/chain.ts'
import type { Utxo } from '../ports/spend.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'
import type { ServiceSettings } from '../settings.ts'
import { noExchange } from './payment.ts'
import { listSmall } from './select-batch.ts'

export type OutputDeps = Readonly<{
  store: Store
  settings: Pick<ServiceSettings, 'outputs'>
  assetById(id: AssetId): Parameters<Chain['sender']['payoutFee']>[0]
  log: Log
  /** The clock, in ms. */
  now?(): number
}>

/** Between two plans for one wallet, so that a plan that fails costs little. */
const PLAN_MS = 3_600_000
/** Block intervals for which most of a wallet must be unspendable before the alarm, and the least time. */
const LOCKED_BLOCKS = 6
const LOCKED_MS_MIN = 600_000

/**
 * Keeps the wallets of the bitcoin family in useful outputs: splits a wallet with few, so that payouts need not wait for each
 * other's change, and merges many small ones while fees are low. A plan is a payout to our own hot wallet; it is signed,
 * replaced and followed as any other. Raises an alarm if little of a wallet can be spent.
 */
export function createPlanOutputs({ store, settings, assetById, log, now = Date.now }: OutputDeps) {
  const lockedSince = new Map<string, number>()
  return async function planOutputs(chain: Chain): Promise<void> {
    const { id: network, bitcoin } = chain.network
    if (!bitcoin) return
    await watchSpendable(store, chain, lockedSince, now())
    const { outputs } = settings
    const fee = await chain.reader.feeRate()
    const inputFeeUnits = chain.sender.depositFee?.(assetById(nativeId(chain.network)), fee) ?? 0n
    const isCheap = fee.rate <= BigInt(outputs.cheapRates.get(network) ?? 0) * 1_000n
    await store.transaction(async (tx) => {
      await tx.transactions.lockLane(network, chain.addresses.hot(), 0)
      // One that cannot be signed for so long would delay splits.
      const voided = await tx.outputs.voidOverdueConsolidations(network, PLAN_MS)
      if (voided.length > 0) {
        await tx.alarms.clear(...voided.map((id) => `payout:${id}`))
        log.warn({ network, payoutIds: voided }, 'consolidation was not signed in time: cancelled')
      }
      if (await tx.outputs.isPlanned(network, PLAN_MS)) return
      const wallet = await readWallet(tx, chain.network, inputFeeUnits, outputs)
      const plan =
        planSplit(wallet, outputs) ??
        (isCheap ? planConsolidation(unitsOf(await listSmall(tx, chain, wallet, outputs)), outputs) : null)
      if (plan === null) return
      await queuePlan(tx, chain, plan)
      log.info({ network, purpose: plan.purpose, outputs: plan.outputs }, 'outputs of the hot wallet planned')
    })
  }
}

const unitsOf = (utxos: readonly Utxo[]): readonly bigint[] => utxos.map(({ units }) => units)

type Wallet = Pick<Chain, 'network'> & { addresses: Pick<Chain['addresses'], 'hot'> }

/** Queues a split or consolidation that the operator wants now, whatever the fee rate is; its cost stays bounded. */
export async function planNow(
  store: Store,
  wallet: Wallet,
  purpose: OutputPlan['purpose'],
  settings: OutputSettings,
  note: AuditNote,
): Promise<OutputPlan & Readonly<{ payoutIds: readonly string[] }>> {
  const { network, addresses } = wallet
  return store.transaction(async (tx) => {
    requireReason(note)
    if (!network.bitcoin) throw refused(`${network.name} has no outputs to split or merge`)
    await tx.transactions.lockLane(network.id, addresses.hot(), 0)
    if (await tx.outputs.isPlanned(network.id, 0))
      throw refused(`a split or consolidation of ${network.name} is not confirmed yet`)
    // Without a node there is no fee rate: an output of some dust limits is taken as useful, and the worker checks the fee.
    const outputs = await readWallet(tx, network, network.bitcoin.dustUnits, settings)
    const plan =
      purpose === 'split'
        ? planSplit(outputs, settings)
        : planConsolidation(unitsOf(await listSmall(tx, wallet, outputs, settings)), { ...settings, smallMax: 1 })
    if (plan === null)
      throw refused(
        purpose === 'split'
          ? `the wallet has ${outputs.useful} useful outputs, more than half of bitcoin.outputsReady, or too little for more`
          : 'the wallet has fewer than two small outputs',
      )
    const payoutIds = await queuePlan(tx, wallet, plan)
    await tx.auditLog.record({
      ...note,
      act: `treasury ${purpose}`,
      subject: network.id,
      detail: { ...plan, payoutIds },
    })
    return { ...plan, payoutIds }
  })
}

async function readWallet(
  tx: StoreTx,
  network: Chain['network'],
  inputFeeUnits: bigint,
  settings: OutputSettings,
): Promise<WalletOutputs> {
  const walletUnits = await tx.ledger.balance(accounts.wallet, nativeId(network))
  const useful = await tx.outputs.countUseful(network.id, usefulUnits(inputFeeUnits, settings))
  return { walletUnits, useful, inputFeeUnits }
}

async function queuePlan(
  tx: StoreTx,
  { network, addresses }: Wallet,
  { purpose, outputs, units }: OutputPlan,
): Promise<readonly string[]> {
  const payoutIds = Array.from({ length: outputs }, () => timeOrderedId())
  for (const id of payoutIds)
    await tx.payouts.insert({
      id,
      ...noExchange,
      purpose,
      network: network.id,
      assetId: nativeId(network),
      from: 'hot',
      address: addresses.hot(),
      units,
    })
  await tx.wake([{ kind: 'dispatch', id: network.id }])
  return payoutIds
}

/**
 * The ledger offers what the wallet holds, and payouts can only spend what is free. Raises an alarm if that is less than half
 * of it for several blocks.
 */
async function watchSpendable(
  { ledger, outputs, alarms }: Store,
  { network }: Chain,
  lockedSince: Map<string, number>,
  now: number,
): Promise<void> {
  const walletUnits = await ledger.balance(accounts.wallet, nativeId(network))
  const freeUnits = await outputs.freeUnits(network.id)
  const subject = `spendable:${network.id}`
  if (freeUnits * 2n >= walletUnits) {
    lockedSince.delete(network.id)
    return alarms.clear(subject)
  }
  const since = lockedSince.get(network.id) ?? now
  lockedSince.set(network.id, since)
  if (now - since >= Math.max(LOCKED_BLOCKS * network.blockTimeMs, LOCKED_MS_MIN))
    await alarms.raise(subject, 'less than half of what the ledger offers can be spent now', {
      network: network.id,
      walletUnits: walletUnits.toString(),
      freeUnits: freeUnits.toString(),
    })
}
