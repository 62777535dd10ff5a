import { randomUUID } from 'node:crypto'
import { type Asset, type AssetId, assetId } from '../domain/asset.ts'
import { fundingEntry } from '../domain/ledger/entries.ts'
import { getPrice, usdValue } from '../domain/price.ts'
import { AppError } from '../domain/errors.ts'
import { spendsInPlace } from '../domain/network.ts'
import { checkpoint } from '../lib/checkpoint.ts'
import type { Log } from '../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import type { Store, Sweepable } from '../ports/store.ts'
import type { BookSnapshot } from './book-snapshot.ts'

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

/** Counts what the operator brought to the hot wallet, once it is deep enough and every node agrees. */
export function createCountFundings(deps: SweepDeps) {
  return async function countFundings(chain: Chain): Promise<void> {
    for (const deposit of await deps.store.custody.fundings(chain.network.id, 100)) {
      if (!deposit.block || deposit.assetId === null || !(await chain.reader.agrees(deposit.block))) continue
      const units = await chain.reader.received(deposit, deposit.block)
      const { block, assetId: asset } = deposit
      await deps.store.transaction(async (tx) => {
        if ((await tx.chainLog.blockHash(chain.network.id, block.height)) !== block.hash) return
        const status = units > 0n ? 'credited' : 'rejected'
        await tx.chainLog.saveDeposit({ id: deposit.id, status, creditedUnits: units > 0n ? units : null, credits: 1, lost: false })
        if (units > 0n) await tx.ledger.post(fundingEntry(deposit.id, asset, units))
      })
      deps.log.info({ network: chain.network.id, asset, units: units.toString() }, 'funding counted')
    }
  }
}

/** Brings final deposits of account families to the hot wallet; a token's address is first supplied with gas. */
export function createSweepDeposits(deps: SweepDeps) {
  return async function sweepDeposits(chain: Chain): Promise<void> {
    if (spendsInPlace(chain.network)) return
    const fee = await chain.reader.feeRate()
    for (const found of await deps.store.custody.sweepable(chain.network.id, chain.network.finalityBlocks, SWEEPS_MAX)) {
      const asset = deps.assetById(found.assetId)
      const cost = chain.sender.payoutFee(asset, fee)
      if (!isWorth(deps, chain, found, cost)) continue
      if (asset.contract === null) await plan(deps, chain, found, found.units - cost * FEE_MARGIN)
      else if (await hasGas(deps, chain, found, cost)) await plan(deps, chain, found, found.units)
    }
  }
}

function isWorth({ books, priceKeyOf, assetById }: SweepDeps, chain: Chain, { assetId: swept, units }: Sweepable, cost: bigint): boolean {
  const native = nativeOf(chain)
  const { prices } = books.current()
  try {
    const value = usdValue(units, assetById(swept), getPrice(prices, priceKeyOf(swept)).bid, 'down')
    return value > WORTH * usdValue(cost, assetById(native), getPrice(prices, priceKeyOf(native)).ask, 'up')
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

/** True where the address can pay for its own sweep. Otherwise gas is on its way, once. */
async function hasGas({ store, assetById }: SweepDeps, chain: Chain, { address }: Sweepable, cost: bigint): Promise<boolean> {
  const native = assetById(nativeOf(chain))
  if ((await chain.reader.balance(address, native)) >= cost) return true
  if (await store.custody.supplying(chain.network.id, address)) return false
  await store.transaction(async (tx) => {
    await tx.payouts.insert({
      id: randomUUID(), exchangeId: null, executionId: null, depositId: null, leg: null, purpose: 'gas', network: chain.network.id,
      assetId: native.id, from: { branch: 'hot', index: 0 }, address, memo: null, units: cost * FEE_MARGIN,
    })
    await tx.wake([{ kind: 'dispatch', id: chain.network.id }])
  })
  return false
}

async function plan({ store, log }: SweepDeps, chain: Chain, { keyIndex, assetId: swept, depositIds, address }: Sweepable, units: bigint): Promise<void> {
  const id = randomUUID()
  await store.transaction(async (tx) => {
    await tx.payouts.insert({
      id, exchangeId: null, executionId: null, depositId: null, leg: null, purpose: 'sweep', network: chain.network.id,
      assetId: swept, from: { branch: 'deposit', index: keyIndex }, address: chain.addresses.hot(), memo: null, units,
    })
    await tx.custody.markSwept(depositIds, id)
    await tx.wake([{ kind: 'dispatch', id: chain.network.id }])
  })
  checkpoint('sweep.planned')
  log.info({ network: chain.network.id, address, asset: swept, units: units.toString() }, 'sweep planned')
}

const nativeOf = (chain: Chain): AssetId => assetId(chain.network.symbol.toLowerCase(), chain.network.id)
