import { refused } from '../../core/services/audit-note.ts'
import { INVITATION_MS, makeInvitation } from '../identity/invitations.ts'
import type { ActionContext, ActionDeps, ActionResult, ActionsOf } from './action.ts'

const LOGIN = /^[a-z0-9][a-z0-9._%+@-]{0,99}$/

/** What `prepare` adds, in hex. */
type Made = Readonly<{ tokenHash: string; totpSecret: string }>

function makeToken({ box }: ActionDeps, given: object) {
  const { token, hash, totpSecret } = makeInvitation(box)
  const made: Made = { tokenHash: hash.toString('hex'), totpSecret: totpSecret.toString('hex') }
  return { arguments: { ...given, ...made }, shown: { token, note: 'shown only once: give it to the operator' } }
}

const invite = (
  { operators, note }: ActionContext,
  operatorId: string,
  { tokenHash, totpSecret }: Made,
): Promise<void> =>
  operators.invite(operatorId, {
    ...{ hash: Buffer.from(tokenHash, 'hex'), totpSecret: Buffer.from(totpSecret, 'hex') },
    ...{ createdBy: note.actor, lifetimeMs: INVITATION_MS },
  })

async function change(context: ActionContext, login: string, act: string, work: () => Promise<boolean>) {
  const { operators, store, note } = context
  const before = await operators.row(login)
  if (!(await work())) throw refused(`there is no operator ${login}`)
  const after = await operators.row(login)
  await store.auditLog.record({ ...note, act: `operator ${act}`, subject: login, before, after })
}

async function setDisabled(context: ActionContext, login: string, disabled: boolean): Promise<ActionResult> {
  await change(context, login, disabled ? 'disable' : 'enable', () => context.operators.setDisabled(login, disabled))
  return { login, disabled }
}

export const operatorActions: ActionsOf<
  'operators-invite' | 'operators-reset' | 'operators-set-role' | 'operators-disable' | 'operators-enable'
> = {
  'operators-invite': {
    prepare: makeToken,
    async run(context, given) {
      const { login, role, ...made } = given as typeof given & Made
      if (!LOGIN.test(login)) throw refused(`${login} is not a login: lower-case letters, digits and . _ % + @ -`)
      await change(context, login, 'invite', async () => {
        const id = await context.operators.add({ login, role, createdBy: context.note.actor })
        if (id === null) throw refused(`operator ${login} already exists`)
        await invite(context, id, made)
        return true
      })
      return { login, role }
    },
  },
  'operators-reset': {
    prepare: makeToken,
    async run(context, given) {
      const { login, ...made } = given as typeof given & Made
      await change(context, login, 'reset', async () => {
        const operator = await context.operators.find(login)
        if (!operator) return false
        await context.operators.reset(operator.id)
        await invite(context, operator.id, made)
        return true
      })
      return { login, reset: true }
    },
  },
  'operators-set-role': {
    async run(context, { login, role }) {
      await change(context, login, 'set-role', () => context.operators.setRole(login, role))
      return { login, role }
    },
  },
  'operators-disable': { run: (context, { login }) => setDisabled(context, login, true) },
  'operators-enable': { run: (context, { login }) => setDisabled(context, login, false) },
}
