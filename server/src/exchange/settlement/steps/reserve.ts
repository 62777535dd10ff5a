import type { Asset } from '../../../core/domain/asset.ts'
import { isSameHolder } from '../../orders/same-holder.ts'
import type { Destination } from '../../ports/chain.ts'
import type { Execution } from '../../ports/store/execution.ts'
import { type Act, endsOf, getChain } from './context.ts'

/** What leaves the house for an execution. `heldMs`: how long it waits in the queue at least; null = not at all. */
type Outgoing = Readonly<{
  id: string
  purpose: 'payout' | 'refund'
  asset: Pick<Asset, 'id' | 'network'>
  to: Destination
  units: bigint
  heldMs: number | null
}>

/** The same for every attempt of one step: by it the signer knows what it has signed. */
export const payoutIdOf = async ({ deps, tx, execution }: Act): Promise<string> =>
  deps.signer.payoutId(await tx.signingJournal.readPayoutOrigin(execution.deposit.id, execution.leg))

/** The wait that was drawn for this leg of a private exchange. */
export const drawnDelayMs = ({ context: { exchange }, execution: { leg } }: Act): number | null =>
  exchange.plan === undefined ? null : (exchange.plan.delaysMs[leg] ?? 0)

/** The least that a network carries of an asset as one output. */
export function minOutputUnits({ deps }: Act, { contract, network }: Pick<Asset, 'contract' | 'network'>): bigint {
  return contract === null ? (getChain(deps, network).network.bitcoin?.dustUnits ?? 1n) : 1n
}

/**
 * Where a refund goes: as was said at the create, or to whoever paid, where the chain names one. Of a private exchange
 * never to the recipient: the source's chain would show who is paid.
 */
export function refundDestination({ deps, context: { exchange }, execution: { payer } }: Act): Destination | null {
  const to = exchange.refund ?? (payer === null ? null : { address: payer, memo: null })
  if (to === null || exchange.plan === undefined || exchange.recipient === null) return to
  const { from, to: target } = endsOf(exchange)
  const ends = [
    { network: from.network, address: to.address },
    { network: target.network, address: exchange.recipient.address },
  ] as const
  return isSameHolder(deps.chains, ...ends) ? null : to
}

/** Puts it into the queue of its network. */
export async function reserve(act: Act, { id, purpose, asset, to, units, heldMs }: Outgoing): Promise<Execution> {
  const {
    tx,
    execution,
    context: { exchange },
  } = act
  await tx.payouts.insert({
    id,
    exchangeId: exchange.id,
    executionId: execution.id,
    depositId: execution.deposit.id,
    leg: execution.leg,
    purpose,
    network: asset.network,
    assetId: asset.id,
    from: 'hot',
    address: to.address,
    memo: to.memo,
    units,
    ...(heldMs === null ? {} : { heldMs }),
  })
  await tx.wake([{ kind: 'dispatch', id: asset.network }])
  return { ...execution, payout: { id, purpose, state: 'reserved', attention: null, units, txHash: null } }
}
