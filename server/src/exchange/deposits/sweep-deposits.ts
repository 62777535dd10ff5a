import { type Asset, type AssetId, nativeId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import { spendsInPlace } from '../../core/domain/network.ts'
import { getPrice, usdValue } from '../../core/domain/price.ts'
import { checkpoint } from '../../core/services/checkpoint.ts'
import { timeOrderedId } from '../../lib/id.ts'
import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import type { Store } from '../ports/store/store.ts'
import type { Sweepable } from '../ports/store/wallets.ts'
import type { BookSnapshot } from '../quotes/book-snapshot.ts'

export type SweepDeps = Readonly<{
  store: Store
  assetById(id: AssetId): Asset
  priceKeyOf(id: AssetId): string
  books: BookSnapshot
  log: Log
}>

/** Addresses per run. */
const SWEEPS_MAX = 20
/** A sweep must bring more than this many times its cost. */
const WORTH_FACTOR = 3n
/** A native sweep leaves this many times its cost for the fee, which may rise before the signature. */
const FEE_MARGIN = 2n

/** Of payouts to ourselves. */
const noExchange = { exchangeId: null, executionId: null, depositId: null, leg: null, memo: null } as const

/** Plans sweeps of final deposits to the hot wallet (account families). Supplies an address with gas before a token sweep. */
export function createSweepDeposits(deps: SweepDeps) {
  /** Cursor of the next run by network, so that addresses not worth a sweep do not block the others. */
  const cursors = new Map<string, bigint>()
  return async function sweepDeposits(chain: Chain): Promise<void> {
    if (spendsInPlace(chain.network)) return
    const { id: network, finalityBlocks } = chain.network
    const fee = await chain.reader.feeRate()
    const page = await deps.store.wallets.listSweepable(network, finalityBlocks, SWEEPS_MAX, cursors.get(network) ?? 0n)
    cursors.set(network, page.length < SWEEPS_MAX ? 0n : (page.at(-1)?.cursor ?? 0n))
    for (const sweepable of page) {
      const { assetId } = sweepable
      const asset = deps.assetById(assetId)
      const costUnits = chain.sender.payoutFee(asset, fee)
      // Dust stays out: a deposit below the cost of its own sweep only adds the risk of a reorganisation.
      const deposits = sweepable.deposits.filter(({ units }) => exceedsCost(deps, chain, { assetId, units }, costUnits))
      const units = deposits.reduce((sum, deposit) => sum + deposit.units, 0n)
      if (!exceedsCost(deps, chain, { assetId, units }, WORTH_FACTOR * costUnits)) continue
      if (asset.contract === null) await planSweep(deps, chain, sweepable, deposits, units - costUnits * FEE_MARGIN)
      else if (await hasGas(deps, chain, sweepable, costUnits)) await planSweep(deps, chain, sweepable, deposits, units)
    }
  }
}

/** Whether an amount is worth more than a cost in the native asset. False without current prices. */
function exceedsCost(
  { books, priceKeyOf, assetById }: SweepDeps,
  chain: Chain,
  { assetId, units }: Readonly<{ assetId: AssetId; units: bigint }>,
  costUnits: bigint,
): boolean {
  const native = nativeId(chain.network)
  const { prices } = books.current()
  try {
    const value = usdValue(units, assetById(assetId), getPrice(prices, priceKeyOf(assetId)).bid, 'down')
    return value > usdValue(costUnits, assetById(native), getPrice(prices, priceKeyOf(native)).ask, 'up')
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

/** Whether the address can pay for its own sweep. If not, plans one gas supply. */
async function hasGas(
  { store, assetById }: SweepDeps,
  chain: Chain,
  { address }: Sweepable,
  costUnits: bigint,
): Promise<boolean> {
  const native = assetById(nativeId(chain.network))
  if ((await chain.reader.balance(address, native)) >= costUnits) return true
  await store.transaction(async (tx) => {
    // Locks the lane of the address, so that a concurrent run finds the supply that this one plans.
    await tx.transactions.lockLane(chain.network.id, address)
    if (await tx.wallets.isGasSupplyPending(chain.network.id, address)) return
    await tx.payouts.insert({
      id: timeOrderedId(),
      ...noExchange,
      purpose: 'gas',
      network: chain.network.id,
      assetId: native.id,
      from: 'hot',
      address,
      units: costUnits * FEE_MARGIN,
    })
    await tx.wake([{ kind: 'dispatch', id: chain.network.id }])
  })
  return false
}

async function planSweep(
  { store, log }: SweepDeps,
  chain: Chain,
  { keyIndex, assetId, address }: Sweepable,
  deposits: Sweepable['deposits'],
  units: bigint,
): Promise<void> {
  const id = timeOrderedId()
  await store.transaction(async (tx) => {
    await tx.payouts.insert({
      id,
      ...noExchange,
      purpose: 'sweep',
      network: chain.network.id,
      assetId,
      from: { branch: 'deposit', index: keyIndex },
      address: chain.addresses.hot(),
      units,
    })
    // If another process sweeps one of them, this plan is rolled back.
    const ids = deposits.map((deposit) => deposit.id)
    if (!(await tx.wallets.markSwept(ids, id)))
      throw new AppError('OVERLOADED', 'another sweep has one of the deposits')
    await tx.wake([{ kind: 'dispatch', id: chain.network.id }])
  })
  checkpoint('sweep.planned')
  log.info({ network: chain.network.id, address, asset: assetId, units: units.toString() }, 'sweep planned')
}
