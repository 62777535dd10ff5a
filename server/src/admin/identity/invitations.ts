import { AppError } from '../../core/domain/errors.ts'
import type { AdminStore } from '../ports/admin-store.ts'
import type { IdentityDeps } from './log-in.ts'
import { createRecoveryCodes, createTotpSecret, hashRecoveryCode, stepOfCode, totpUri } from './one-time-codes.ts'
import type { OperatorSecrets } from './operator-secrets.ts'
import { hashPassword, type PasswordCost, requireStrongPassword } from './passwords.ts'
import { createHalf, hashOfHalves, hashToken, joinHalves, splitHalves } from './tokens.ts'

export const INVITATION_MS = 2 * 86_400_000

const notOpen = () => new AppError('LOGIN_FAILED', 'the invitation is unknown, used or expired: ask for another one')

/** One half of the token of an invitation. It is shown once, and opens nothing without the other one. */
export function makeHalf(): Readonly<{ half: string; halfHash: Buffer }> {
  const half = createHalf()
  return { half, halfHash: hashToken(half) }
}

/** What an invitation stores beside the hash of its token: the secret of the authenticator app, encrypted. */
export const makeTotpSecret = (secrets: OperatorSecrets): Buffer => secrets.seal(createTotpSecret())

/** A new invitation by one person: what is stored, and its whole token. */
export function makeInvitation(
  secrets: OperatorSecrets,
): Readonly<{ token: string; hash: Buffer; totpSecret: Buffer }> {
  const [one, other] = [makeHalf(), makeHalf()]
  return {
    token: joinHalves(one.half, other.half),
    hash: hashOfHalves(one.halfHash, other.halfHash),
    totpSecret: makeTotpSecret(secrets),
  }
}

function hashOf(token: string): Buffer {
  const halves = splitHalves(token)
  if (halves === null)
    throw new AppError(
      'LOGIN_FAILED',
      'the token of an invitation has two halves: give both, one of the operator who asked, one of the operator who approved',
    )
  return hashOfHalves(hashToken(halves[0]), hashToken(halves[1]))
}

export async function readInvitation({ store, secrets }: Pick<IdentityDeps, 'store' | 'secrets'>, token: string) {
  const invitation = await store.operators.findInvitation(hashOf(token))
  const secret = invitation && secrets.open(invitation.totpSecret)
  if (!invitation || !secret) throw notOpen()
  return { ...invitation, secret, totpUri: totpUri(secret, invitation.login) }
}

/** Sets password, authenticator app and recovery codes. Returns the recovery codes, which are shown once. */
export async function acceptInvitation(
  deps: IdentityDeps,
  { token, password, code }: Readonly<{ token: string; password: string; code: string }>,
  passwordCost?: PasswordCost,
): Promise<Readonly<{ login: string; recoveryCodes: readonly string[] }>> {
  const { login, totpSecret, secret } = await readInvitation(deps, token)
  requireStrongPassword(password, login)
  const totpStep = stepOfCode(secret, code, deps.now())
  if (totpStep === null)
    throw new AppError('LOGIN_FAILED', 'the code is not the one of the authenticator app: check the clock of the phone')
  const recoveryCodes = createRecoveryCodes()
  const passwordHash = await hashPassword(password, passwordCost)
  const isAccepted = await deps.store.transaction(async (tx: Pick<AdminStore, 'operators' | 'store'>) => {
    const accepted = await tx.operators.accept(hashOf(token), {
      ...{ passwordHash, totpSecret, totpStep },
      recoveryHashes: recoveryCodes.map(hashRecoveryCode),
    })
    if (accepted)
      await tx.store.auditLog.record({
        ...{ actor: `operator:${login}`, act: 'invitation accepted', subject: login, reason: 'invitation' },
      })
    return accepted
  })
  if (!isAccepted) throw notOpen()
  return { login, recoveryCodes }
}
