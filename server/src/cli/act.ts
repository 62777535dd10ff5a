import { type AdminActionName, type AdminArguments, type AdminReadName, adminActions, adminReads } from '@swapyard/schema'
import type { Query, ReadContext } from '../admin/reads/read.ts'
import { read } from '../admin/reads/reads.ts'
import { createSums } from '../admin/reads/sums.ts'
import { createCarryOut } from '../admin/requests/carry-out.ts'
import { createActionDeps, openAdminStore } from '../app/action-deps.ts'
import type { Config } from '../config/load.ts'
import type { Database } from '../adapters/postgres/core/database.ts'
import { promptReason, type ReasonOption, toAuditNote } from './audit-note.ts'
import { withDatabase } from './database.ts'
import { print } from './print.ts'
import { callAdmin, type Reply, readRemote } from './remote.ts'
import { readOffer } from './swap-offer.ts'
import { adminUrl } from './target.ts'

/** Members of a command that is not given are absent. */
type Given<Name extends AdminActionName> = { readonly [Key in keyof AdminArguments<Name>]: AdminArguments<Name>[Key] | undefined }

/**
 * Carries out an act of an operator: on the database of this machine, as the user of the operating system, or by the admin
 * API with `--url`, as the operator who is logged in. Both take the same arguments and print the same line.
 */
export async function act<Name extends AdminActionName>(
  action: Name,
  given: Given<Name>,
  options: ReasonOption,
): Promise<void> {
  await actAndReturn(action, given, options)
}

/** Also returns what the act answers. */
export async function actAndReturn<Name extends AdminActionName>(
  action: Name,
  given: Given<Name>,
  options: ReasonOption,
): Promise<Reply> {
  const url = adminUrl()
  const preview = options.preview === true
  const { reason } = url !== null || adminActions[action].twoPersons ? await promptReason(options) : toAuditNote(options)
  const sent = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  if (url !== null) {
    const outcome = await callAdmin(url, 'POST', adminActions[action].path, { body: { ...sent, reason, preview } })
    return printOutcome(outcome)
  }
  return withDatabase(async (database, config) => {
    const { store, deps } = openLocal(database, config)
    const carryOut = createCarryOut({ store, deps, twoPersons: false })
    return printOutcome(await carryOut.run(action, sent, toAuditNote({ reason }), preview))
  })
}

/** One line for the act; of a preview, a line for each row that the audit log would get. */
export function printOutcome(outcome: Reply): Reply {
  const { state, requestId, result, acts, shown } = outcome as { [member: string]: object }
  if (state === ('preview' as never)) {
    print({ preview: true, ...result })
    for (const one of acts as readonly object[]) print({ preview: true, wouldWrite: one })
  } else if (state === ('asked' as never)) {
    print({ asked: requestId, ...result, ...shown, next: `another operator: swapyard requests approve ${requestId}` })
  } else print({ ...result, ...shown })
  return { ...result }
}

const openLocal = (database: Database, config: Config) => ({
  store: openAdminStore(database, config),
  deps: createActionDeps(config, () => readOffer(config)),
})

/** Reads a list or an object in the same two ways: all pages, unless the query has a limit. */
export async function readRows(name: AdminReadName, query: Readonly<Record<string, string>> = {}): Promise<readonly Reply[]> {
  const url = adminUrl()
  if (url !== null) return readRemote(url, adminReads[name].path, query)
  return withDatabase(async (database, config) => {
    const { store, deps } = openLocal(database, config)
    const reader = { session: null, role: 'admin' as const }
    const context: ReadContext = { store, deps, twoPersons: config.admin.twoPersons, live: null, sums: createSums(), reader }
    return readPages(name, context, query)
  })
}

async function readPages(name: AdminReadName, context: ReadContext, query: Query): Promise<readonly Reply[]> {
  const rows: Reply[] = []
  let cursor: string | null = null
  do {
    const page: Reply = await read(name, context, cursor === null ? query : { ...query, cursor })
    if (!Array.isArray(page['data'])) return [page]
    rows.push(...(page['data'] as Reply[]))
    cursor = query['limit'] === undefined ? ((page['next'] as string | null) ?? null) : null
  } while (cursor !== null)
  return rows
}

type Show = (row: Reply) => object

export async function printRead(
  name: AdminReadName,
  query: Readonly<Record<string, string>> = {},
  show: Show = (row) => row,
): Promise<void> {
  for (const row of await readRows(name, query)) print(show(row))
}
