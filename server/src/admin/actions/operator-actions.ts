import { refused } from '../../core/services/audit-note.ts'
import { INVITATION_MS, makeHalf, makeTotpSecret } from '../identity/invitations.ts'
import { hashOfHalves, joinHalves } from '../identity/tokens.ts'
import type { ActionContext, ActionDeps, ActionResult, ActionsOf } from './action.ts'

const LOGIN = /^[a-z0-9][a-z0-9._%+@-]{0,99}$/

/** What `prepare` and `prepareApproval` add, in hex. */
type Made = Readonly<{ tokenHash: string; totpSecret: string; approvalHash: string }>

const NOTE = 'shown only once: give it to the operator yourself'

/**
 * The token has two halves, one for each person. With a whole one, the operator who asks for a colleague could accept the
 * invitation and then approve as a second identity.
 */
function makeFirstHalf({ secrets }: ActionDeps, given: object) {
  const { half, halfHash } = makeHalf()
  const made = { tokenHash: halfHash.toString('hex'), totpSecret: makeTotpSecret(secrets).toString('hex') }
  return {
    arguments: { ...given, ...made },
    shown: { firstHalf: half, note: `${NOTE}; the approver has the other half` },
  }
}

function makeSecondHalf(given: object, first: Readonly<Record<string, string>> | null) {
  const { half, halfHash } = makeHalf()
  const firstHalf = first?.['firstHalf']
  return {
    arguments: { ...given, approvalHash: halfHash.toString('hex') },
    shown:
      firstHalf === undefined
        ? { secondHalf: half, note: `${NOTE}, never to the operator who asked` }
        : { token: joinHalves(firstHalf, half), note: NOTE },
  }
}

const invite = (
  { operators, note }: ActionContext,
  operatorId: string,
  { tokenHash, totpSecret, approvalHash }: Made,
): Promise<void> =>
  operators.invite(operatorId, {
    hash: hashOfHalves(Buffer.from(tokenHash, 'hex'), Buffer.from(approvalHash, 'hex')),
    totpSecret: Buffer.from(totpSecret, 'hex'),
    ...{ createdBy: note.actor, lifetimeMs: INVITATION_MS },
  })

async function change(context: ActionContext, login: string, act: string, work: () => Promise<boolean>) {
  const { operators, store, note } = context
  await context.lockRow('operator', login)
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
    prepare: makeFirstHalf,
    prepareApproval: makeSecondHalf,
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
    prepare: makeFirstHalf,
    prepareApproval: makeSecondHalf,
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
