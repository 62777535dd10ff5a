import { setImmediate } from 'node:timers/promises'
import { scale } from '../../../core/domain/amount.ts'
import type { Asset } from '../../../core/domain/asset.ts'
import { countedUnits } from '../../domain/private-plan.ts'
import type { Destination } from '../../ports/chain.ts'
import type { PayoutRelease } from '../../ports/signer.ts'
import type { Execution } from '../../ports/store/execution.ts'
import { type Act, convertibleUnits, getChain, hasNextLeg, legOf } from './context.ts'
import { payoutIdOf } from './queue-payment.ts'

/** Indexes that are derived in the search for an address: those that were taken after the backup of a restored database. */
const SEARCHED_MAX = 10_000
/** A database that crashed may have skipped some indexes before the first of them. */
const SEARCHED_BELOW = 100
/** The event loop runs after this many derivations. */
const DERIVED_AT_ONCE = 100
/** Below the time after which Postgres ends an idle transaction: addresses of Monero take milliseconds each. */
const SEARCH_MAX_MS = 5_000

/**
 * What a signer released for the next payout of this execution, and this database lacks since it was restored; null = nothing. The
 * payout is then the same again, so that its transaction can be imported: a rate of now would give another amount.
 */
export async function findReleased(act: Act): Promise<PayoutRelease | null> {
  const released = await findRelease(act, legOf(act).to)
  return released === null || hasNextLeg(act) || isTo(released, act.context.exchange.recipient) ? released : null
}

/** The same for a refund of this asset to this address. */
export async function findReleasedRefund(
  act: Act,
  asset: Pick<Asset, 'id'>,
  to: Destination,
): Promise<PayoutRelease | null> {
  const released = await findRelease(act, asset)
  return released !== null && isTo(released, to) ? released : null
}

async function findRelease(act: Act, asset: Pick<Asset, 'id'>): Promise<PayoutRelease | null> {
  const { signingJournal } = act.tx
  if (!(await signingJournal.hasMissing())) return null
  const released = await signingJournal.findRelease(await payoutIdOf(act))
  return released?.assetId === asset.id ? released : null
}

const isTo = ({ address, memo }: PayoutRelease, to: Destination | null): boolean =>
  to?.address === address && to.memo === memo

/** Units before a private exchange withheld a part of them from the chain of the next leg. */
export const unitsBeforeWithholding = (act: Act, { units }: Pick<PayoutRelease, 'units'>): bigint => {
  const { plan } = act.context.exchange
  return plan !== undefined && hasNextLeg(act) ? countedUnits(plan, units) : units
}

/** What the rate of the released payout gives for the ordered amount, which the price guard of the next leg compares. */
export const orderedUnitsOfReleased = (
  act: Act,
  released: PayoutRelease,
): Pick<Execution, 'orderedUnits'> | undefined =>
  hasNextLeg(act)
    ? {
        orderedUnits: scale(
          unitsBeforeWithholding(act, released),
          act.context.exchange.fromUnits,
          convertibleUnits(act),
          'down',
        ),
      }
    : undefined

/**
 * The key index of our address that a released payment of this leg went to; null = it is not found, or an exchange has the address.
 * Only an address that is derived from our keys counts as ours. The index was taken after that of the newest exchange which the
 * database has from the time of the release.
 */
export async function findReleasedKeyIndex(act: Act, { address, at }: PayoutRelease): Promise<number | null> {
  const { deps, tx } = act
  const { network } = legOf(act).to
  if (await tx.wallets.isDepositAddress(network, address)) return null
  const { addresses } = getChain(deps, network)
  const newest = await tx.exchanges.newestKeyIndex(at)
  const first = Math.max(newest - SEARCHED_BELOW, 0)
  const startedAt = performance.now()
  for (let index = first; index < newest + SEARCHED_MAX; index++) {
    if (addresses.deposit(index).address === address) return index
    if (index % DERIVED_AT_ONCE !== 0) continue
    if (performance.now() - startedAt > SEARCH_MAX_MS) return null
    await setImmediate()
  }
  return null
}
