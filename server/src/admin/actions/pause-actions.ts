import { AppError } from '../../core/domain/errors.ts'
import type { PauseStore } from '../../core/ports/store/pauses.ts'
import { refused } from '../../core/services/audit-note.ts'
import { HOLD_ACTOR, PAYOUTS_PAUSE } from '../../exchange/operations/compare-signing-journal.ts'
import { keepSigningHold } from '../../exchange/operations/end-signing-hold.ts'
import { acknowledgeShortfalls } from '../../exchange/operations/report-shortfall.ts'
import type { MissingUnits } from '../../exchange/ports/store/reconciliation.ts'
import type { Store } from '../../exchange/ports/store/store.ts'
import type { ActionContext, ActionsOf } from './action.ts'
import { findCurrency, findNetwork, findPausable } from './lookup.ts'

export const pauseActions: ActionsOf<'pauses-begin' | 'pauses-end'> = {
  'pauses-begin': {
    async run(context, { scope: text }) {
      const { store, note } = context
      const scope = await readScope(text, context)
      const before = (await store.pauses.list()).find((pause) => pause.scope === scope) ?? null
      await store.pauses.pause(scope, note.reason, note.actor)
      await store.auditLog.record({ ...note, act: 'pause', subject: scope, before, after: { scope, ...note } })
      return { scope, paused: true }
    },
    // In force from the commit on. What was being signed before ends within a moment, or is waited for.
    async afterCommit({ store }) {
      return (await waitForSigners(store.pauses)) ? {} : { warning: STILL_SIGNING }
    },
  },
  'pauses-end': {
    async run(context, { scope: text, missing = [] }) {
      const { store, note } = context
      const stated = new Map(missing.map(readMissing))
      const scope = await findPause(text, context)
      const before = await store.pauses.resume(scope)
      if (before === null) throw refused(`${scope} is not paused: swapyard pauses lists what is`)
      const isHeld = scope === PAYOUTS_PAUSE && (await keepSigningHold(store))
      if (isHeld && before.actor === HOLD_ACTOR)
        throw refused(`${scope} is paused because ${before.reason}: swapyard signer release ends that`)
      const acknowledged = await acknowledgeMissing(store, scope, stated)
      const after = isHeld ? { scope, actor: HOLD_ACTOR } : null
      const act = { ...note, act: 'resume', subject: scope, before, after }
      await store.auditLog.record(acknowledged.length > 0 ? { ...act, detail: { acknowledged } } : act)
      const next = isHeld ? { next: 'the signing journals hold payouts, too: swapyard signer release' } : {}
      return { scope, paused: isHeld, ...(acknowledged.length > 0 ? { acknowledged } : {}), ...next }
    },
  },
}

/** `difference:usdt@eth=7`: an alarm and base units. */
function readMissing(text: string): [subject: string, units: bigint] {
  const [, subject = '', units] = /^(.+)=(\d+)$/s.exec(text) ?? []
  if (units === undefined)
    throw refused(`--missing ${text} is no alarm with its base units, as in difference:usdt@eth=7`)
  return [subject, BigInt(units)]
}

/** Coins that are missing on the network of a pause of payouts. Refuses if more is missing than the operator has looked at. */
async function acknowledgeMissing(
  store: Pick<Store, 'reconciliation'>,
  scope: string,
  stated: ReadonlyMap<string, bigint>,
): Promise<readonly Readonly<{ subject: string; units: string }>[]> {
  const [, network = 'all'] = /^payouts:(.+)$/.exec(scope) ?? []
  if (network === 'all') return []
  const toText = ({ subject, units }: MissingUnits) => `${subject}=${units}`
  const { acknowledged, larger } = await acknowledgeShortfalls(store, network, stated)
  if (larger.length > 0)
    throw refused(
      `coins are missing: look at their alarms, then state them with --missing ${larger.map(toText).join(' ')}`,
    )
  return acknowledged.map(({ subject, units }) => ({ subject, units: units.toString() }))
}

/** Each wait ends after the lock timeout of five seconds. */
const WAITS_MAX = 12
const STILL_SIGNING =
  'a signature that began before the pause has not ended: look at the workers, and run the command again'

/** False if a signature that began before is still in progress: the pause is in force, and holds everything later. */
async function waitForSigners(pauses: PauseStore): Promise<boolean> {
  for (let n = 0; n < WAITS_MAX; n++) {
    try {
      await pauses.waitForSigners()
      return true
    } catch (error) {
      if (!(error instanceof AppError) || !error.retryable) throw error
    }
  }
  return false
}

/** A paused scope as `pauses` lists it can be resumed even if its network, asset or partner no longer exists. */
async function findPause(text: string, context: ActionContext): Promise<string> {
  const paused = await context.store.pauses.list()
  return paused.some(({ scope }) => scope === text) ? text : readScope(text, context)
}

/** The scope in the form that signing looks up. Partners are found by name or id. */
async function readScope(text: string, { deps, partners }: Pick<ActionContext, 'deps' | 'partners'>): Promise<string> {
  if (text === 'all' || text === 'payouts:all') return text
  const [, kind, name = ''] = /^(network|payouts|asset|partner|dex|pool|token):(.+)$/s.exec(text) ?? []
  if (kind === 'dex' || kind === 'pool' || kind === 'token') return `${kind}:${await findPausable(deps, kind, name)}`
  if (kind === 'network' || kind === 'payouts') return `${kind}:${findNetwork(name)}`
  if (kind === 'asset') return `asset:${findCurrency(name)}`
  if (kind !== 'partner')
    throw refused('the scope is all, network:…, payouts:…, asset:…, partner:…, dex:…, pool:… or token:…')
  const partnerId = await partners.findId(name)
  if (partnerId === null) throw refused(`there is no partner ${name}; \`swapyard partners list\` lists them`)
  return `partner:${partnerId}`
}
