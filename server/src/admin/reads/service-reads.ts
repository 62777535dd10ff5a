import { type AdminActionName, adminActions, approverOf, includesRole } from '@swapyard/schema'
import { refused } from '../../core/services/audit-note.ts'
import { verifyAuditLog } from '../../core/services/verify-audit-log.ts'
import { isUuid } from '../../lib/id.ts'
import { findPartner } from '../actions/lookup.ts'
import { type ReadContext, type ReadsOf, requireLive, toPage, toPlain, whole } from './read.ts'

/** Alarms of each kind, and of one kind that is asked for. */
const ALARMS_PER_KIND = 100
const ALARMS_OF_KIND_MAX = 1_000
const RESCANS_MAX = 100

export const serviceReads: ReadsOf<
  | 'partners'
  | 'balances'
  | 'pauses'
  | 'alarms'
  | 'rescans'
  | 'audit'
  | 'auditVerification'
  | 'settings'
  | 'actions'
  | 'requests'
  | 'operators'
  | 'sessions'
  | 'passkeys'
  | 'webhooks'
  | 'webhookDeliveries'
> = {
  async partners({ store }, query) {
    const page = await store.lists.partners(query['find']?.trim() ?? null, toPage(query))
    return { ...page, data: page.data.map((row) => toPlain(row) as typeof row) }
  },
  balances: async ({ store }, { name = '', ...query }) =>
    store.lists.balances((await findPartner(store, name)).id, toPage(query)),
  pauses: async ({ store }) => whole(await store.lists.pauses()),
  alarms: async ({ store: { store } }, { kind }) =>
    whole(await store.alarms.list(kind === undefined ? ALARMS_PER_KIND : ALARMS_OF_KIND_MAX, kind)),
  rescans: async ({ store }) => whole(await store.lists.rescans(RESCANS_MAX)),
  audit: ({ store }, query) =>
    store.lists.audit({ subject: query['subject'] ?? null, actor: query['actor'] ?? null }, toPage(query)),
  async auditVerification({ store }) {
    const absent = { acts: null, head: null, row: null, why: null }
    return { ...absent, ...(await verifyAuditLog(store.store.auditLog)) }
  },
  settings: async (context) => ({ settings: toPlain(requireLive(context).settings) }),
  actions: async (context) => whole(listActions(context)),
  requests: ({ store }, query) => store.lists.requests(query['state'] === 'asked', toPage(query)),
  operators: async ({ store }) => whole(await store.operators.list()),
  webhooks: ({ store }, query) => store.lists.webhooks({ partner: query['partner'] ?? null }, toPage(query)),
  async webhookDeliveries({ store }, { webhook = '', ...query }) {
    if (!isUuid(webhook)) throw refused(`${webhook} is not the id of a webhook: see swapyard webhooks list`)
    return store.lists.webhookDeliveries(webhook, toPage(query))
  },
  passkeys: async ({ store, reader: { session } }) =>
    whole(session === null ? [] : await store.operators.listPasskeys(session.operatorId)),
  async sessions({ store, reader: { session, role } }, query) {
    const owner = includesRole(role, 'admin') ? null : (session?.operatorId ?? null)
    const page = await store.lists.sessions(owner, toPage(query))
    return { ...page, data: page.data.map((row) => ({ ...row, current: row['id'] === session?.id })) }
  },
}

const listActions = ({ twoPersons, reader }: ReadContext) =>
  (Object.keys(adminActions) as AdminActionName[]).map((action) => {
    const { path, summary, role, twoPersons: isMoney } = adminActions[action]
    return {
      ...{ action, path, summary, role },
      ...{
        twoPersons: twoPersons && isMoney,
        approver: approverOf({ role }),
        permitted: includesRole(reader.role, role),
      },
    }
  })
