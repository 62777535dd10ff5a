import type { Asset } from '../../../core/domain/asset.ts'
import { endsOf } from '../../domain/exchange.ts'
import { type Destination, isSameHolder } from '../../ports/chain.ts'
import type { Execution } from '../../ports/store/execution.ts'
import { type Act, holdFor, type MarketDeps } from './context.ts'

/** A payout or refund of an execution. `delayMs`: minimum time in the queue; null = none. */
type QueuedPayment = Readonly<{
  id: string
  purpose: 'payout' | 'refund'
  asset: Pick<Asset, 'id' | 'network'>
  to: Destination
  units: bigint
  delayMs: number | null
}>

/** Each repeat of the step gives the same id, so the signer recognises a payout that it released (I-37). */
export const payoutIdOf = async ({ deps, tx, execution }: Act): Promise<string> =>
  deps.signer.payoutId(await tx.signingJournal.readPayoutOrigin(execution.deposit.id, execution.leg))

/** Random delay that was drawn for this leg of a private exchange; null for standard exchanges. */
export const drawnDelayMs = ({ context: { exchange }, execution: { leg } }: Act): number | null =>
  exchange.plan === undefined ? null : (exchange.plan.delaysMs[leg] ?? 0)

/** Smallest output of an asset that its network relays. */
export function minOutputUnits(
  { deps }: Readonly<{ deps: Pick<MarketDeps, 'currencyOf'> }>,
  { id, contract }: Pick<Asset, 'id' | 'contract'>,
): bigint {
  return contract === null ? (deps.currencyOf(id)?.network.bitcoin?.dustUnits ?? 1n) : 1n
}

/**
 * Refund destination: the address that was named, or else the sender if the partner allows it and the chain names one: a
 * sender may be an exchange's shared wallet, where the refund is lost to the customer. Null for a private exchange if it
 * belongs to the recipient, because the source chain would reveal the recipient.
 */
export function refundDestination({
  deps,
  context: { exchange, refundToSender },
  execution: { payer },
}: Readonly<{ deps: Pick<MarketDeps, 'chains'> }> & Pick<Act, 'context' | 'execution'>): Destination | null {
  const sender = refundToSender && payer !== null ? { address: payer, memo: null } : null
  const to = exchange.refund ?? sender
  if (to === null || exchange.plan === undefined || exchange.recipient === null) return to
  const { from, to: target } = endsOf(exchange)
  const ends = [
    { network: from.network, address: to.address },
    { network: target.network, address: exchange.recipient.address },
  ] as const
  return isSameHolder(deps.chains, ...ends) ? null : to
}

/** Whether this program wrote the payee, and nothing has changed it since (I-39). */
export function isAuthentic(
  { context: { exchange, authentic }, execution }: Pick<Act, 'context' | 'execution'>,
  payee: 'recipient' | 'refund',
): boolean {
  const isNamed = payee === 'recipient' || exchange.refund !== null
  return isNamed ? authentic[payee] : execution.isPayerAuthentic
}

/**
 * Holds an execution whose payee this program did not write, or that was changed in the database since (I-39). No release
 * pays it: the operator refunds it, or names another refund address. Null = the payee may be paid.
 */
export async function holdUnlessAuthentic(act: Act, payee: 'recipient' | 'refund'): Promise<Execution | null> {
  const { deps, tx, context } = act
  const { exchange } = context
  if (isAuthentic(act, payee)) return null
  const isNamed = payee === 'recipient' || exchange.refund !== null
  const detail = { payee: isNamed ? payee : 'sender', exchangeId: exchange.id }
  deps.log.error(detail, 'the payee of an exchange was changed outside of the program')
  await tx.alarms.raise(`payee:${exchange.id}`, 'the payee of an exchange was changed outside of the program', detail)
  return holdFor(act, 'OPERATOR', {}, detail)
}

/** Queues the payout or refund and wakes the dispatcher of its network. */
export async function queuePayment(
  act: Act,
  { id, purpose, asset, to, units, delayMs }: QueuedPayment,
): Promise<Execution> {
  const { tx, execution } = act
  const { exchange } = act.context
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
    ...(delayMs === null ? {} : { delayMs }),
  })
  await tx.wake([{ kind: 'dispatch', id: asset.network }])
  return { ...execution, payout: { id, purpose, state: 'reserved', attention: null, units, txHash: null } }
}
