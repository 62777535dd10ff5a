import { createHash } from 'node:crypto'
import { AppError } from '../../core/domain/errors.ts'
import type { ListedAct } from '../../core/ports/store/audit-log.ts'
import type { ActionRequest } from '../ports/requests.ts'

type Rows = readonly Pick<ListedAct, 'act' | 'subject' | 'detail' | 'before'>[]

/** What `carry-out.ts` adds to the facts of a row when a second person approves. */
const ADDED = ['request', 'approvedBy']

/**
 * SHA-256 of what an action found: the subjects, facts and states before of its rows of the audit log, without the `unbound` members.
 * Every action writes such rows in its own transaction, under the locks that it takes, so this holds for actions to come, too. The
 * database returns the members of a row in an order of its own, which is the same for the same row.
 */
export function hashState(acts: Rows, unbound: readonly string[] = []): Buffer {
  const omitted = new Set([...unbound, ...ADDED])
  const bound = (members: Record<string, unknown> | null) =>
    Object.entries(members ?? {}).filter(([name]) => !omitted.has(name))
  const found = acts.map(({ act, subject, detail, before }) => [act, subject, bound(detail), before && bound(before)])
  return createHash('sha256').update(JSON.stringify(found)).digest()
}

/** Throws if the action has found something else than when it was asked for. Its transaction must end without a commit. */
export function requireSameState(
  { askedByLogin, foundHash }: Pick<ActionRequest, 'askedByLogin' | 'foundHash'>,
  acts: Rows,
  unbound?: readonly string[],
): void {
  if (foundHash === null)
    throw outdated('the action was asked for in an earlier version of the program: ask for it again')
  if (foundHash.equals(hashState(acts, unbound))) return
  const what =
    acts.length === 0 ? 'what the action is about' : acts.map(({ act, subject }) => `${act} ${subject}`).join(', ')
  throw outdated(`${what}: the state has changed since ${askedByLogin} asked for it. Look at it, then ask again`)
}

const outdated = (message: string) => new AppError('REQUEST_OUTDATED', message)
