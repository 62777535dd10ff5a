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

/** Addresses swept by one run. */
const SWEEPS_MAX = 20
/** A sweep is worth it where it brings this many times what it costs. */
const WORTH = 3n
/** Fees may rise between the plan and the signature: a native sweep leaves this many times its cost behind at most. */
const FEE_MARGIN = 2n

/** Brings final deposits of account families to the hot wallet; a token's address is first supplied with gas. */
export function createSweepDeposits(deps: SweepDeps) {
  /** Where the next run of a network goes on: what is not worth a sweep must not stand before what is. */
  const reached = new Map<string, bigint>()
  return async function sweepDeposits(chain: Chain): Promise<void> {
    if (spendsInPlace(chain.network)) return
    const { id: network, finalityBlocks } = chain.network
    const fee = await chain.reader.feeRate()
    const page = await deps.store.wallets.listSweepable(network, finalityBlocks, SWEEPS_MAX, reached.get(network) ?? 0n)
    reached.set(network, page.length < SWEEPS_MAX ? 0n : (page.at(-1)?.cursor ?? 0n))
    for (const found of page) {
      const asset = deps.assetById(found.assetId)
      const cost = chain.sender.payoutFee(asset, fee)
      // Dust is left where it lies: what is below the cost of its own sweep is a risk to the others, and worth nothing.
      const kept = found.deposits.filter(({ units }) => isWorth(deps, chain, found, units, cost))
      const units = kept.reduce((sum, deposit) => sum + deposit.units, 0n)
      if (!isWorth(deps, chain, found, units, WORTH * cost)) continue
      if (asset.contract === null) await plan(deps, chain, found, kept, units - cost * FEE_MARGIN)
      else if (await hasGas(deps, chain, found, cost)) await plan(deps, chain, found, kept, units)
    }
  }
}

function isWorth(
  { books, priceKeyOf, assetById }: SweepDeps,
  chain: Chain,
  { assetId: swept }: Sweepable,
  units: bigint,
  cost: bigint,
): boolean {
  const native = nativeId(chain.network)
  const { prices } = books.current()
  try {
    const value = usdValue(units, assetById(swept), getPrice(prices, priceKeyOf(swept)).bid, 'down')
    return value > usdValue(cost, assetById(native), getPrice(prices, priceKeyOf(native)).ask, 'up')
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

/** True where the address can pay for its own sweep. Otherwise gas is on its way, once. */
async function hasGas(
  { store, assetById }: SweepDeps,
  chain: Chain,
  { address }: Sweepable,
  cost: bigint,
): Promise<boolean> {
  const native = assetById(nativeId(chain.network))
  if ((await chain.reader.balance(address, native)) >= cost) return true
  await store.transaction(async (tx) => {
    // The address's own lane: of two that plan at once, the second finds the supply of the first.
    await tx.transactions.lockLane(chain.network.id, address)
    if (await tx.wallets.isGasSupplyPending(chain.network.id, address)) return
    await tx.payouts.insert({
      id: timeOrderedId(),
      exchangeId: null,
      executionId: null,
      depositId: null,
      leg: null,
      purpose: 'gas',
      network: chain.network.id,
      assetId: native.id,
      from: 'hot',
      address,
      memo: null,
      units: cost * FEE_MARGIN,
    })
    await tx.wake([{ kind: 'dispatch', id: chain.network.id }])
  })
  return false
}

async function plan(
  { store, log }: SweepDeps,
  chain: Chain,
  { keyIndex, assetId: swept, address }: Sweepable,
  deposits: Sweepable['deposits'],
  units: bigint,
): Promise<void> {
  const id = timeOrderedId()
  await store.transaction(async (tx) => {
    await tx.payouts.insert({
      id,
      exchangeId: null,
      executionId: null,
      depositId: null,
      leg: null,
      purpose: 'sweep',
      network: chain.network.id,
      assetId: swept,
      from: { branch: 'deposit', index: keyIndex },
      address: chain.addresses.hot(),
      memo: null,
      units,
    })
    // Another process plans the same: this plan is dropped with its transaction.
    const ids = deposits.map((deposit) => deposit.id)
    if (!(await tx.wallets.markSwept(ids, id))) throw new AppError('OVERLOADED', 'the deposits are being swept')
    await tx.wake([{ kind: 'dispatch', id: chain.network.id }])
  })
  checkpoint('sweep.planned')
  log.info({ network: chain.network.id, address, asset: swept, units: units.toString() }, 'sweep planned')
}
