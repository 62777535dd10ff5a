import { AppError } from '../../core/domain/errors.ts'
import { refused, requireReason } from '../../core/services/audit-note.ts'
import type { AdminStores } from '../ports/admin-store.ts'
import type { Session } from '../ports/sessions.ts'
import type { IdentityDeps } from './log-in.ts'
import { createRecoveryCodes, hashRecoveryCode } from './one-time-codes.ts'
import { hashPassword } from './passwords.ts'

/** Changes of an operator's own identity need no reason. */
const OWN = 'own account'

type Own = Pick<Session, 'operatorId' | 'login'>
type OwnAct = Readonly<{ act: string; detail?: Record<string, unknown> }>

/** What an operator changes about its own identity is in the audit log, too. */
export const recordOwn = (tx: Pick<AdminStores, 'store'>, { login }: Pick<Own, 'login'>, act: OwnAct): Promise<void> =>
  tx.store.auditLog.record({ actor: `operator:${login}`, subject: login, reason: OWN, ...act })

/** Ends an own session, or as an admin, with a reason, one of another operator. */
export const endSession = (
  { store }: IdentityDeps,
  session: Session,
  { id, reason }: Readonly<{ id: string; reason?: string }>,
): Promise<void> =>
  store.transaction(async (tx) => {
    const login = await tx.sessions.revoke(id, session.role === 'admin' ? null : session.operatorId)
    if (login === null) throw refused('there is no such open session')
    const isOwn = login === session.login
    const note = { actor: `operator:${session.login}`, reason: reason ?? (isOwn ? OWN : '') }
    if (!isOwn) requireReason(note)
    await tx.store.auditLog.record({ ...note, act: 'session end', subject: login, detail: { session: id } })
  })

/** Ends the other sessions. */
export async function changePassword({ store }: IdentityDeps, session: Session, password: string): Promise<void> {
  const passwordHash = await hashPassword(password)
  await store.transaction(async (tx) => {
    await tx.operators.setPassword(session.operatorId, passwordHash)
    await tx.sessions.revokeOthers(session.operatorId, session.id)
    await recordOwn(tx, session, { act: 'password change' })
  })
}

/** The codes of before are not accepted any more. */
export async function renewRecoveryCodes(
  { store }: IdentityDeps,
  session: Own,
): Promise<Readonly<{ login: string; recoveryCodes: readonly string[] }>> {
  const recoveryCodes = createRecoveryCodes()
  await store.transaction(async (tx) => {
    await tx.operators.setRecoveryCodes(session.operatorId, recoveryCodes.map(hashRecoveryCode))
    await recordOwn(tx, session, { act: 'recovery codes renew' })
  })
  return { login: session.login, recoveryCodes }
}

/** Not the only second factor: without one its operator could not log in. */
export const removePasskey = ({ store, secrets, requiresSecondFactor }: IdentityDeps, session: Own, id: string) =>
  store.transaction(async (tx) => {
    await tx.operators.lock(session.operatorId)
    const name = await tx.operators.removePasskey(session.operatorId, id)
    if (name === null) throw new AppError('PASSKEY_NOT_FOUND', 'you have no passkey with this id', { field: 'id' })
    const left = await tx.operators.findById(session.operatorId)
    const sealed = left?.totpSecret ?? null
    const hasApp = sealed !== null && secrets.open(sealed) !== null
    if (requiresSecondFactor && !hasApp && !left?.passkeys)
      throw refused('this passkey is your only second factor: add another one before')
    await recordOwn(tx, session, { act: 'passkey remove', detail: { passkey: id, name } })
  })
