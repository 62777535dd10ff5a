import {
  type AdminActionName,
  type AdminArguments,
  type AdminReadName,
  adminActions,
  adminReads,
} from '@swapyard/schema'
import { promptReason, type ReasonOption, toAuditNote } from './audit-note.ts'
import { print } from './print.ts'
import { callAdmin, type Reply, readRemote } from './remote.ts'
import { adminUrl } from './target.ts'

/** An option that is not given is undefined. */
type Given<Name extends AdminActionName> = {
  readonly [Key in keyof AdminArguments<Name>]: AdminArguments<Name>[Key] | undefined
}

/**
 * Carries out an action of an operator: on the database of this machine, as the user of the operating system, or by the admin
 * API with `--url`, as the operator who is logged in. Both take the same arguments and print the same line.
 */
export async function act<Name extends AdminActionName>(
  action: Name,
  given: Given<Name>,
  options: ReasonOption,
): Promise<void> {
  await actAndReturn(action, given, options)
}

/** Also returns what the action answers. */
export async function actAndReturn<Name extends AdminActionName>(
  action: Name,
  given: Given<Name>,
  options: ReasonOption,
): Promise<Reply> {
  const url = adminUrl()
  const preview = options.preview === true
  const needsReason = url !== null || adminActions[action].twoPersons
  const note = needsReason ? await promptReason(options) : toAuditNote(options)
  const sent = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  if (url !== null) {
    const body = { ...sent, reason: note.reason, preview }
    return printOutcome(await callAdmin(url, 'POST', adminActions[action].path, { body }))
  }
  const { actLocally } = await import('./local-admin.ts')
  return printOutcome(await actLocally(action, sent, note, preview))
}

/** One line for the action; of a preview, a line for each row that the audit log would get. */
export function printOutcome(outcome: Reply): Reply {
  const { state, requestId, shown } = outcome
  const result = outcome['result'] as object
  if (state === 'preview') {
    print({ preview: true, ...result })
    for (const row of outcome['acts'] as readonly object[]) print({ preview: true, wouldWrite: row })
  } else if (state === 'asked') {
    const next = `another operator: swapyard requests approve ${requestId}`
    print({ asked: requestId, ...result, ...(shown as object), next })
  } else print({ ...result, ...(shown as object) })
  return { ...result }
}

/** Reads a list or an object in the same two ways: all pages, unless the query has a limit. */
export async function readRows(
  name: AdminReadName,
  query: Readonly<Record<string, string>> = {},
): Promise<readonly Reply[]> {
  const url = adminUrl()
  if (url !== null) return readRemote(url, adminReads[name].path, query)
  const { readLocally } = await import('./local-admin.ts')
  return readLocally(name, query)
}

export async function printRead(
  name: AdminReadName,
  query: Readonly<Record<string, string>> = {},
  show: (row: Reply) => object = (row) => row,
): Promise<void> {
  for (const row of await readRows(name, query)) print(show(row))
}
