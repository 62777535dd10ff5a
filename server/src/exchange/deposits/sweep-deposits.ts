import { type Asset, type AssetId, nativeId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import { isUtxoFamily } from '../../core/domain/network.ts'
import { getPrice, usdValue } from '../../core/domain/price.ts'
import { type FeeRate, sweepRate } from '../../core/ports/chain.ts'
import { checkpoint } from '../../core/services/checkpoint.ts'
import { smallest } from '../../lib/bigint.ts'
import { timeOrderedId } from '../../lib/id.ts'
import type { Log } from '../../lib/log.ts'
import { noExchange } from '../payouts/payment.ts'
import { supplyGas } from '../payouts/supply-gas.ts'
import type { Chain } from '../ports/chain.ts'
import type { Store } from '../ports/store/store.ts'
import type { Sweepable, WalletStore } from '../ports/store/wallets.ts'
import type { BookSnapshot } from '../quotes/book-snapshot.ts'

export type SweepDeps = Readonly<{
  store: Store
  assetById(id: AssetId): Asset
  priceKeyOf(id: AssetId): string
  books: BookSnapshot
  log: Log
}>

/** New addresses per run, and as many that were postponed. */
const SWEEPS_MAX = 20
/** A sweep must bring more than this many times its cost. */
const WORTH_FACTOR = 3n
/** Above this many times its cost a sweep does not wait for a lower fee. */
const URGENT_FACTOR = 100n
/** A sweep that is worth its cost waits this long for a lower fee. */
const PATIENCE_MS = 24 * 3_600_000
/** How long an address that waits for a lower fee, or for prices, is not read again. */
const RECHECK_MS = 5 * 60_000
/** The usual fee rate is an average over about this many runs, half a day. */
const AVERAGE_RUNS = 10_000n
/** It is stored once in so many runs, and at the first. */
const STORE_RUNS = 20
/** A fee rate up to this percentage of the usual one is low enough. */
const LOW_PERCENT = 105n

/**
 * Plans sweeps of final deposits to the hot wallet (account families). Supplies an address with gas before a token sweep.
 * Small amounts wait for a low fee and are swept together with later deposits of their address; not while payouts or refunds of
 * their asset wait for it.
 */
export function createSweepDeposits(deps: SweepDeps) {
  const usualRateOf = createUsualRates(deps.store.wallets)
  return async function sweepDeposits(chain: Chain): Promise<void> {
    if (isUtxoFamily(chain.network)) return
    const { id: network, finalityBlocks } = chain.network
    const fee = await chain.reader.feeRate()
    const rate = fee.least ?? fee.rate
    const usual = await usualRateOf(network, rate)
    const isLow = rate * 100n <= usual * LOW_PERCENT
    const rests = await deps.store.wallets.releaseSweptRests(network)
    if (rests > 0) deps.log.warn({ network, rests }, 'deposits were swept in part: the rest is swept, too')
    const sweepables = await deps.store.wallets.listSweepable(network, finalityBlocks, SWEEPS_MAX)
    if (sweepables.length === 0) return
    const short = await deps.store.wallets.listShortAssets(network)
    for (const sweepable of sweepables) {
      const isUrgent = isLow || short.has(sweepable.assetId)
      const delayMs = await judge(deps, chain, sweepable, { fee, isUrgent })
      await deps.store.wallets.postponeSweep(sweepable, finalityBlocks, delayMs)
    }
  }
}

/** Adds a rate to the average of its network, which a restarted process goes on with, and returns it. */
function createUsualRates(wallets: Pick<WalletStore, 'usualFeeRate' | 'setUsualFeeRate'>) {
  const known = new Map<string, Readonly<{ rate: bigint; runs: number }>>()
  return async (network: string, rate: bigint): Promise<bigint> => {
    const before = known.get(network) ?? { rate: (await wallets.usualFeeRate(network)) ?? rate, runs: 0 }
    const usual = (before.rate * (AVERAGE_RUNS - 1n) + rate) / AVERAGE_RUNS
    if (before.runs % STORE_RUNS === 0) await wallets.setUsualFeeRate(network, usual)
    known.set(network, { rate: usual, runs: before.runs + 1 })
    return usual
  }
}

/** Plans what is worth a sweep. Returns when to look at the address again; null = nothing is worth one. */
async function judge(
  deps: SweepDeps,
  chain: Chain,
  sweepable: Sweepable,
  { fee, isUrgent }: Readonly<{ fee: FeeRate; isUrgent: boolean }>,
): Promise<number | null> {
  const { assetId } = sweepable
  const asset = deps.assetById(assetId)
  const costUnits = chain.sender.depositFee?.(asset, fee) ?? chain.sender.payoutFee(asset, fee)
  const costs = valuesOf(deps, chain, assetId, costUnits)
  if (costs === null) return RECHECK_MS
  // Dust stays out: a deposit below the cost of its own sweep only adds the risk of a reorganisation.
  const deposits = sweepable.deposits.filter(({ units }) => costs.valueOf(units) > costs.costUsd)
  const units = deposits.reduce((sum, deposit) => sum + deposit.units, 0n)
  if (costs.valueOf(units) <= WORTH_FACTOR * costs.costUsd) return null
  const isPatient = !isUrgent && sweepable.waitedMs <= PATIENCE_MS
  if (isPatient && costs.valueOf(units) <= URGENT_FACTOR * costs.costUsd) return RECHECK_MS
  // An address that cannot be swept must not stop the others of its page.
  await sweepAddress(deps, chain, { ...sweepable, deposits }, { units, fee }).catch((err: unknown) =>
    deps.log.warn({ network: chain.network.id, address: sweepable.address, err }, 'a deposit address was not swept'),
  )
  // It waits for gas, or other deposits of it are left.
  return 0
}

type Plan = Readonly<{ units: bigint; fee: FeeRate }>

/** Plans the sweep of one address, or first the supply of its gas. */
async function sweepAddress(deps: SweepDeps, chain: Chain, sweepable: Sweepable, { units, fee }: Plan): Promise<void> {
  const { store, assetById } = deps
  const { address, assetId, keyIndex } = sweepable
  const asset = assetById(assetId)
  const isNative = asset.contract === null
  const balanceUnits = await chain.reader.balance(address, assetById(nativeId(chain.network)))
  const payment = { payoutId: '', address: chain.addresses.hot(), memo: null, asset, units: isNative ? 1n : units }
  const gasLimit = await chain.sender
    .gasLimit(payment, { branch: 'deposit', index: keyIndex })
    .catch((error: unknown) => refusedOf(error))
  // The dispatcher holds it for the operator, with the reason.
  if (gasLimit === 'refused')
    return planSweep(deps, chain, sweepable, isNative ? units - chain.sender.payoutFee(asset, fee) : units)
  if (gasLimit === null) return
  const feeUnits = gasLimit * sweepRate(fee) + (fee.l1Fee ?? 0n)
  if (isNative) {
    const sweptUnits = smallest(units, balanceUnits) - feeUnits
    if (sweptUnits > 0n) await planSweep(deps, chain, sweepable, sweptUnits)
  } else if (balanceUnits >= feeUnits) await planSweep(deps, chain, sweepable, units)
  else await supplyGas(store, chain, address, feeUnits - balanceUnits)
}

/** `refused`: the transfer would revert. Null: the nodes do not show the deposits yet. */
function refusedOf(error: unknown): 'refused' | null {
  if (!(error instanceof AppError) || error.retryable) throw error
  return error.code === 'INSUFFICIENT_LIQUIDITY' ? null : 'refused'
}

/** The cost of a sweep and the values of amounts, in US dollars scaled by 10^12. Null without current prices. */
function valuesOf({ books, priceKeyOf, assetById }: SweepDeps, chain: Chain, assetId: AssetId, costUnits: bigint) {
  const native = nativeId(chain.network)
  const { prices } = books.current()
  try {
    const { bid } = getPrice(prices, priceKeyOf(assetId))
    const costUsd = usdValue(costUnits, assetById(native), getPrice(prices, priceKeyOf(native)).ask, 'up')
    return { costUsd, valueOf: (units: bigint) => usdValue(units, assetById(assetId), bid, 'down') }
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

async function planSweep(
  { store, log }: SweepDeps,
  chain: Chain,
  { keyIndex, assetId, address, deposits }: Sweepable,
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
  log.info({ network: chain.network.id, payoutId: id, address, assetId, units: units.toString() }, 'sweep planned')
}
