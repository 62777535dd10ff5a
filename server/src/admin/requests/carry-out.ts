import { type AdminActionName, adminActions, approverOf, includesRole } from '@swapyard/schema'
import { AppError } from '../../core/domain/errors.ts'
import type { ListedAct, OperatorAct } from '../../core/ports/store/audit-log.ts'
import { type AuditNote, refused, requireReason } from '../../core/services/audit-note.ts'
import type { Store } from '../../exchange/ports/store/store.ts'
import type { ActionDeps, ActionResult, Prepared } from '../actions/action.ts'
import { findAction } from '../actions/actions.ts'
import type { AdminStore, AdminStores } from '../ports/admin-store.ts'
import type { ActionRequest } from '../ports/requests.ts'
import type { Session } from '../ports/sessions.ts'
import { toPlain } from '../reads/read.ts'
import { hashState, requireSameState } from './state-hash.ts'

/** A request that was not approved in this time is closed. */
const REQUEST_MS = 24 * 3_600_000

export type Outcome = Readonly<{
  state: 'preview' | 'done' | 'asked'
  requestId: string | null
  result: ActionResult
  /** What is, or would be, written to the audit log. */
  acts: readonly ListedAct[]
  shown: Readonly<Record<string, string>>
}>

type Done = Readonly<{ result: ActionResult; acts: readonly ListedAct[] }>
type Given = Readonly<Record<string, unknown>>
export type Asked = Readonly<{ action: AdminActionName; arguments: Given; reason: string; preview: boolean }>

export type CarryOutDeps = Readonly<{ store: AdminStore; deps: ActionDeps; twoPersons: boolean }>

/** Ends a transaction that must change nothing. */
class Rollback extends Error {
  readonly done: Done
  constructor(done: Done) {
    super('rolled back')
    this.done = done
  }
}

/**
 * Carries out actions of operators. An action, its row in the audit log and the state of its request are one transaction: a crash
 * leaves all or none. A preview is the action itself in a transaction that is rolled back, so it shows what would happen.
 */
export function createCarryOut({ store, deps, twoPersons }: CarryOutDeps) {
  /** Carries out at once. For the command line on the server, and for actions of one person. */
  async function run(action: AdminActionName, given: Given, note: AuditNote, preview = false): Promise<Outcome> {
    const { arguments: prepared, shown } = prepareAll(deps, action, given)
    if (preview) return { state: 'preview', requestId: null, ...(await rehearse(action, prepared, note)), shown: {} }
    const done = await store.transaction((tx) => act(tx, deps, { action, given: prepared, note }))
    return { state: 'done', requestId: null, ...(await finish(store, action, done)), shown }
  }

  async function rehearse(action: AdminActionName, given: Given, note: AuditNote, extra: Given = {}): Promise<Done> {
    try {
      return await store.transaction(async (tx) => {
        throw new Rollback(await act(tx, deps, { action, given, note, extra, isRehearsal: true }))
      })
    } catch (error) {
      if (error instanceof Rollback) return error.done
      throw error
    }
  }

  /** Asks a second person where the action needs one. What would be refused is refused now. */
  async function ask({ action, arguments: given, reason, preview }: Asked, session: Session): Promise<Outcome> {
    const note = { actor: actorOf(session.login), reason }
    requireReason(note)
    if (preview || !twoPersons || !adminActions[action].twoPersons) return run(action, given, note, preview)
    const { arguments: prepared, shown } = prepare(deps, action, given)
    const { result, acts } = await rehearse(action, prepareApproval(action, prepared, null).arguments, note)
    const foundHash = hashState(acts, findAction(action).unbound)
    return store.transaction(async (tx) => {
      const request = { action, arguments: prepared, reason, askedBy: session.operatorId, foundHash }
      const requestId = await tx.requests.add(request, REQUEST_MS)
      await tx.store.auditLog.record({
        ...{ ...note, act: 'request asked', subject: requestId },
        detail: { action, arguments: withoutSecrets(prepared) },
      })
      return { state: 'asked', requestId, result, acts: await tx.ownActs(), shown }
    })
  }

  /** By another operator. The action is carried out once, on the state about which it was asked: its transaction closes the request. */
  async function approve(id: string, session: Session, preview: boolean): Promise<Outcome> {
    const work = async (tx: AdminStores) => {
      const request = await requireOpen(tx, id, session)
      const { action, given, note } = await readRequest(tx, request)
      const extra = { request: id, approvedBy: session.login }
      const { arguments: all, shown } = prepareApproval(action, given, null)
      const done = await act(tx, deps, { action, given: all, note, extra, isRehearsal: preview })
      requireSameState(request, done.acts, findAction(action).unbound)
      if (preview) throw new Rollback(done)
      await tx.requests.decide(id, 'done', session.operatorId, done.result)
      return { action, done, shown }
    }
    try {
      const { action, done, shown } = await store.transaction(work)
      return { state: 'done', requestId: id, ...(await finish(store, action, done)), shown }
    } catch (error) {
      if (error instanceof Rollback) return { state: 'preview', requestId: id, ...error.done, shown: {} }
      if (!preview && isRefusal(error)) await closeFailed(store, id, session, error).catch(() => undefined)
      throw error
    }
  }

  return {
    run,
    ask,
    approve,
    reject: (id: string, reason: string, session: Session) => reject(store, id, reason, session),
  }
}

/** The action was refused and changed nothing. It must be asked for again, with what is right now. */
const closeFailed = (store: AdminStore, id: string, session: Session, { message }: AppError): Promise<void> =>
  store.transaction(async (tx) => {
    await requireOpen(tx, id, session)
    await tx.requests.decide(id, 'failed', session.operatorId, { message })
    const note = { actor: actorOf(session.login), reason: message }
    await tx.store.auditLog.record({ ...note, act: 'request failed', subject: id })
  })

/** By a second person, or by the operator who asked. */
const reject = (store: AdminStore, id: string, reason: string, session: Session): Promise<void> =>
  store.transaction(async (tx) => {
    const note = { actor: actorOf(session.login), reason }
    requireReason(note)
    const request = await tx.requests.lock(id)
    if (request === null || request.state !== 'asked') throw closed(id)
    const isOwn = request.askedBy === session.operatorId
    if (!isOwn) requireApprover(request, session)
    await tx.requests.decide(id, isOwn ? 'withdrawn' : 'rejected', session.operatorId, { reason })
    await tx.store.auditLog.record({ ...note, act: isOwn ? 'request withdrawn' : 'request rejected', subject: id })
  })

async function finish(store: AdminStore, action: AdminActionName, done: Done): Promise<Done> {
  const later = (await findAction(action).afterCommit?.(store)) ?? {}
  return { ...done, result: { ...done.result, ...later } }
}

export type CarryOut = ReturnType<typeof createCarryOut>

const actorOf = (login: string): string => `operator:${login}`

function prepare(deps: ActionDeps, action: AdminActionName, given: Given): Prepared {
  return findAction(action).prepare?.(deps, given) ?? { arguments: given, shown: {} }
}

function prepareApproval(action: AdminActionName, given: Given, first: Prepared['shown'] | null): Prepared {
  return findAction(action).prepareApproval?.(given, first) ?? { arguments: given, shown: first ?? {} }
}

/** For one person, who sees both halves of a secret. */
function prepareAll(deps: ActionDeps, action: AdminActionName, given: Given): Prepared {
  const { arguments: prepared, shown } = prepare(deps, action, given)
  return prepareApproval(action, prepared, shown)
}

type Act = Readonly<{ action: AdminActionName; given: Given; note: AuditNote; extra?: Given; isRehearsal?: boolean }>

async function act(tx: AdminStores, deps: ActionDeps, one: Act): Promise<Done> {
  const { action, given, note, extra = {}, isRehearsal = false } = one
  const store = withDetail(tx.store, extra)
  const result = await findAction(action).run({ ...tx, store, deps, note, isRehearsal }, given)
  // Answers and stored requests are JSON, which has no bigints.
  return { result: toPlain(result) as ActionResult, acts: await tx.ownActs() }
}

/** Adds the request and its second person to each row of the audit log. */
function withDetail(store: Store, extra: Given): Store {
  if (Object.keys(extra).length === 0) return store
  const wrap = <T extends Pick<Store, 'auditLog'>>(one: T): T => ({
    ...one,
    auditLog: {
      ...one.auditLog,
      record: (row: OperatorAct) => one.auditLog.record({ ...row, detail: { ...row.detail, ...extra } }),
    },
  })
  return { ...wrap(store), transaction: (work) => store.transaction((tx) => work(wrap(tx))) }
}

const closed = (id: string) => new AppError('REQUEST_CLOSED', `there is no open request ${id}`)

async function requireOpen(tx: AdminStores, id: string, session: Session): Promise<ActionRequest> {
  const request = await tx.requests.lock(id)
  if (request === null || request.state !== 'asked' || request.isExpired) throw closed(id)
  if (request.askedBy === session.operatorId)
    throw new AppError('SECOND_PERSON_REQUIRED', 'you asked for this action: another operator must approve it')
  requireApprover(request, session)
  return request
}

function requireApprover({ action }: ActionRequest, { role }: Session): void {
  if (!isActionName(action)) throw refused(`this version has no action ${action}`)
  const least = approverOf(adminActions[action])
  if (!includesRole(role, least)) throw new AppError('ROLE_REQUIRED', `this needs the role ${least}`)
}

/** The operator who asked must still be permitted to. */
async function readRequest(tx: AdminStores, { action, arguments: given, reason, askedBy }: ActionRequest) {
  if (!isActionName(action)) throw refused(`this version has no action ${action}`)
  const asker = await tx.operators.findById(askedBy)
  if (asker === null || asker.disabled || !includesRole(asker.role, adminActions[action].role))
    throw refused(`the operator who asked is disabled, or its role no longer permits this action`)
  return { action, given, note: { actor: actorOf(asker.login), reason } }
}

const isActionName = (name: string): name is AdminActionName => Object.hasOwn(adminActions, name)

/** A refusal is final; a busy database or an unknown failure is not. */
const isRefusal = (error: unknown): error is AppError =>
  error instanceof AppError &&
  (error.kind === 'invalid' || error.kind === 'refused' || error.code === 'REQUEST_OUTDATED')

const secretArguments: ReadonlySet<string> = new Set(['hmac', 'tokenHash', 'totpSecret', 'raw'])

const withoutSecrets = (given: Given): Given =>
  Object.fromEntries(Object.entries(given).filter(([name]) => !secretArguments.has(name)))
