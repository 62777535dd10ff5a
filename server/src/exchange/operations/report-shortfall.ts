import { largest, smallest } from '../../lib/bigint.ts'
import type { MissingUnits } from '../ports/store/reconciliation.ts'
import type { Store } from '../ports/store/store.ts'

/** What a wallet or an address lacks at least and at most, in units: transactions between the two readings make a range. */
type Shortfall = Readonly<{ least: bigint; most: bigint }>

type Report = Readonly<{
  network: string
  /** Subject and text of the alarm. */
  subject: string
  alarm: string
  detail: Readonly<Record<string, unknown>>
  shortfall: Shortfall
}>

/**
 * Raises the alarm about a shortfall, and pauses the network's payouts. An operator who resumes them acknowledges the units
 * that are missing then: as long as no more is certainly missing, the alarm stays without a pause. If coins come back, the
 * acknowledged units fall with the shortfall, so that a later loss pauses again.
 */
export async function reportShortfall(
  store: Store,
  { network, subject, alarm, detail, shortfall }: Report,
): Promise<void> {
  await store.transaction(async (tx) => {
    const acknowledged = smallest(await readAcknowledged(tx, subject), largest(shortfall.most, 0n))
    if (shortfall.least > acknowledged) await tx.pauses.pause(`payouts:${network}`, alarm, 'reconciler')
    const shown = acknowledged > 0n ? { acknowledged: acknowledged.toString() } : {}
    await tx.alarms.raise(subject, alarm, { ...detail, ...shown })
  })
}

/** The units with which an operator resumed the payouts; 0 if none did. */
export async function readAcknowledged({ alarms }: Pick<Store, 'alarms'>, subject: string): Promise<bigint> {
  const units = (await alarms.find(subject))?.detail['acknowledged']
  return typeof units === 'string' ? BigInt(units) : 0n
}

/**
 * Acknowledges what is missing on a network, unless it is more than an operator has stated or acknowledged before: coins that
 * were lost since he looked must not be among it. `larger`: what he has to look at; then nothing is acknowledged.
 */
export async function acknowledgeShortfalls(
  { reconciliation }: Pick<Store, 'reconciliation'>,
  network: string,
  stated: ReadonlyMap<string, bigint>,
): Promise<Readonly<{ acknowledged: readonly MissingUnits[]; larger: readonly MissingUnits[] }>> {
  const missing = await reconciliation.listShortfalls(network)
  const isKnown = ({ subject, units, acknowledgedUnits }: MissingUnits) =>
    units <= largest(acknowledgedUnits, stated.get(subject) ?? 0n)
  if (!missing.every(isKnown)) return { acknowledged: [], larger: missing.filter((one) => !isKnown(one)) }
  await reconciliation.acknowledgeShortfalls(missing)
  return { acknowledged: missing, larger: [] }
}
