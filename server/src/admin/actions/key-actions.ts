import { defaultScopes, scopes as known, publishableScopes, type Scope } from '../../core/domain/partner.ts'
import { refused } from '../../core/services/audit-note.ts'
import { makeApiKey } from '../../core/services/partner-keys.ts'
import { toBlock } from '../../lib/ip-address.ts'
import type { ActionContext, ActionDeps, ActionsOf } from './action.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const OVERLAP_HOURS = 24

/** Production refuses test keys, and creates none. */
const kindIn = ({ environment }: ActionDeps) => (environment === 'sandbox' ? ('test' as const) : ('live' as const))

/** What `prepare` adds: the secret is only in what is shown, its HMAC is stored. */
type Made = Readonly<{ keyId: string; hmac: string }>

function makeKey(deps: ActionDeps, given: object, ofKey?: string, prefix?: 'sy' | 'pk') {
  const { keyId, text, hmac } = makeApiKey(kindIn(deps), deps.pepper, ofKey, prefix)
  const made: Made = { keyId, hmac: hmac.toString('hex') }
  return { arguments: { ...given, ...made }, shown: { key: text, note: 'shown only once: store it now' } }
}

/** A key that is in use has another one each minute. */
const USE = ['last_used_at']

async function change(context: ActionContext, keyId: string, act: string, work: () => Promise<void>): Promise<void> {
  await context.lockRow('key', keyId)
  const before = await context.keyRow(keyId)
  await work()
  const after = await context.keyRow(keyId)
  await context.store.auditLog.record({ ...context.note, act: `key ${act}`, subject: keyId, before, after })
}

const requireActive = (isActive: boolean, keyId: string): void => {
  if (!isActive) throw refused(`there is no active key ${keyId}`)
}

const toLifetime = (days: number | undefined): { lifetimeMs?: number } =>
  days === undefined ? {} : { lifetimeMs: days * DAY_MS }

function toScopes(names: readonly string[]): Scope[] {
  const unknown = names.filter((name) => !known.some((scope) => scope === name))
  if (unknown.length > 0) throw refused(`unknown scopes: ${unknown.join(', ')}; the scopes are ${known.join(', ')}`)
  return names.flatMap((name) => known.filter((scope) => scope === name))
}

const toBlocks = (list: readonly string[]): string[] =>
  list.map((text) => {
    const block = toBlock(text)
    if (block === null) throw refused(`${text} is not an IP address or CIDR block`)
    return block
  })

/** As browsers send them; in production over TLS. */
const toOrigins = (list: readonly string[], { environment }: ActionDeps): string[] =>
  list.map((text) => {
    if (!URL.canParse(text)) throw refused(`${text} is not an origin, such as https://wallet.example`)
    const { origin, protocol } = new URL(text)
    if (origin !== text) throw refused(`${text} is not an origin: write ${origin}`)
    if (protocol !== 'https:' && environment !== 'sandbox') throw refused(`${text} must begin with https://`)
    return text
  })

export const keyActions: ActionsOf<'keys-add' | 'keys-set' | 'keys-rotate' | 'keys-revoke'> = {
  'keys-add': {
    prepare: (deps, given) => makeKey(deps, given, undefined, given.origins === undefined ? 'sy' : 'pk'),
    async run(context, given) {
      const { name, ipAllowList = [], lifetimeDays, origins, keyId, hmac } = given as typeof given & Made
      const scopes = origins === undefined ? toScopes(given.scopes ?? defaultScopes) : publishableScopes
      const key = {
        ...{ keyId, hmac: Buffer.from(hmac, 'hex'), scopes, ipAllowList: toBlocks(ipAllowList) },
        ...(origins === undefined ? {} : { origins: toOrigins(origins, context.deps) }),
        ...{ createdBy: context.note.actor, ...toLifetime(lifetimeDays) },
      }
      await change(context, keyId, 'add', async () => {
        if (!(await context.partners.keys.add(name, key))) throw refused(`there is no partner ${name}`)
      })
      return { keyId }
    },
  },
  'keys-rotate': {
    unbound: USE,
    prepare: (deps, given) => makeKey(deps, given, given.keyId),
    async run(context, given) {
      const { keyId, overlapHours = OVERLAP_HOURS, lifetimeDays, hmac } = given as typeof given & Made
      const { lifetimeMs } = toLifetime(lifetimeDays)
      // Its pages show its secret: a new one protects nothing.
      if ((await context.keyRow(keyId))?.['origins'])
        throw refused(`key ${keyId} is publishable: add another one, and revoke it`)
      await change(context, keyId, 'rotate', async () => {
        const secret = Buffer.from(hmac, 'hex')
        requireActive(await context.partners.keys.rotate(keyId, secret, overlapHours * HOUR_MS, lifetimeMs), keyId)
      })
      return { keyId, oldEndsInHours: overlapHours }
    },
  },
  'keys-set': {
    unbound: USE,
    async run(context, { keyId, scopes, ipAllowList }) {
      const changes = {
        ...(scopes === undefined ? {} : { scopes: toScopes(scopes) }),
        ...(ipAllowList === undefined ? {} : { ipAllowList: toBlocks(ipAllowList) }),
      }
      if (Object.keys(changes).length === 0) throw refused('nothing to change: name --scopes, --ip or --any-ip')
      await change(context, keyId, 'set', async () =>
        requireActive(await context.partners.keys.set(keyId, changes), keyId),
      )
      return { keyId, ...changes }
    },
  },
  'keys-revoke': {
    async run(context, { keyId }) {
      await change(context, keyId, 'revoke', async () =>
        requireActive(await context.partners.keys.revoke(keyId), keyId),
      )
      return { keyId, revoked: true }
    },
  },
}
