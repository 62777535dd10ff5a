import type { Command } from 'commander'
import type { Database } from '../adapters/postgres/core/database.ts'
import { createPartnerStore } from '../adapters/postgres/core/partners.ts'
import { createStore } from '../adapters/postgres/exchange/store.ts'
import { AppError } from '../core/domain/errors.ts'
import type { PauseStore } from '../core/ports/store/pauses.ts'
import { acknowledgeShortfalls } from '../exchange/operations/report-shortfall.ts'
import type { MissingUnits } from '../exchange/ports/store/reconciliation.ts'
import type { Store } from '../exchange/ports/store/store.ts'
import { type ReasonOption, toAuditNote, withReason, withRequiredReason } from './audit-note.ts'
import { printRows, withDatabase } from './database.ts'
import { findCurrency, findNetwork, findPausable } from './lookup.ts'
import { fail, print } from './print.ts'

/** `swapyard pause`, `pauses` and `resume`. */
export function addPauseCommands(program: Command): void {
  withRequiredReason(program.command('pause <scope>'))
    .description(
      'pauses a scope: all, network:btc, payouts:eth, asset:usdt@eth, partner:<name or id>; of swap routes: dex:sushiswap-v2@base, pool:<id>@base, token:<address>@base',
    )
    .action((text: string, options: ReasonOption) =>
      withDatabase(async (database) => {
        const scope = await readScope(text, database)
        const note = toAuditNote(options)
        await createStore(database).transaction(async (tx) => {
          const before = (await tx.pauses.list()).find((pause) => pause.scope === scope) ?? null
          await tx.pauses.announce(scope, note.reason, 'cli')
          await tx.auditLog.record({ ...note, act: 'pause', subject: scope, before, after: { scope, ...note } })
        })
        // In force from here on. What was being signed before ends within a moment, or is waited for.
        const isWaitedFor = await waitForSigners(createStore(database).pauses)
        print({ scope, paused: true, ...(isWaitedFor ? {} : { warning: STILL_SIGNING }) })
      }),
    )
  program
    .command('pauses')
    .description('lists pauses and their reasons')
    .action(() => printRows((database) => createStore(database).pauses.list()))
  withReason(program.command('resume <scope>'))
    .description('ends a pause; of payouts:NETWORK, acknowledges the coins that are missing there')
    .option('--missing <alarm=units...>', 'the missing coins that you have looked at, as the alarms state them')
    .action((text: string, { missing = [], ...options }: ReasonOption & Readonly<{ missing?: readonly string[] }>) =>
      withDatabase(async (database) => {
        const stated = new Map(missing.map(readMissing))
        const scope = await findPause(text, database)
        const acknowledged = await createStore(database).transaction(async (tx) => {
          const before = (await tx.pauses.list()).find((pause) => pause.scope === scope) ?? null
          const shortfalls = before === null ? [] : await acknowledgeMissing(tx, scope, stated)
          await tx.pauses.resume(scope)
          const note = { ...toAuditNote(options), act: 'resume', subject: scope, before, after: null }
          await tx.auditLog.record(shortfalls.length > 0 ? { ...note, detail: { acknowledged: shortfalls } } : note)
          return shortfalls
        })
        print({ scope, paused: false, ...(acknowledged.length > 0 ? { acknowledged } : {}) })
      }),
    )
}

/** `difference:usdt@eth=7`: an alarm and base units. */
function readMissing(text: string): [subject: string, units: bigint] {
  const [, subject = '', units] = /^(.+)=(\d+)$/s.exec(text) ?? []
  return [
    subject,
    BigInt(units ?? fail(`--missing ${text} is no alarm with its base units, as in difference:usdt@eth=7`)),
  ]
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
    fail(`coins are missing: look at their alarms, then state them with --missing ${larger.map(toText).join(' ')}`)
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
async function findPause(text: string, database: Database): Promise<string> {
  const paused = await createStore(database).pauses.list()
  return paused.some(({ scope }) => scope === text) ? text : readScope(text, database)
}

/** The scope in the form that signing looks up. Partners are found by name or id. */
async function readScope(text: string, database: Database): Promise<string> {
  if (text === 'all' || text === 'payouts:all') return text
  const [, kind, name = ''] = /^(network|payouts|asset|partner|dex|pool|token):(.+)$/s.exec(text) ?? []
  if (kind === 'dex' || kind === 'pool' || kind === 'token') return `${kind}:${findPausable(kind, name)}`
  if (kind === 'network' || kind === 'payouts') return `${kind}:${findNetwork(name)}`
  if (kind === 'asset') return `asset:${findCurrency(name)}`
  if (kind !== 'partner') fail('the scope is all, network:…, payouts:…, asset:…, partner:…, dex:…, pool:… or token:…')
  const partners = await createPartnerStore(database).list()
  const partner = partners.find((one) => one.id === name || one.name === name)
  return `partner:${partner?.id ?? fail(`there is no partner ${name}; \`swapyard partners list\` lists them`)}`
}
