import { type AdminActionName, adminActions, approverOf, includesRole } from '@swapyard/schema'
import { refused } from '../../core/services/audit-note.ts'
import { verifyAuditLog } from '../../core/services/verify-audit-log.ts'
import { createOperateBalances } from '../../exchange/operations/operate-balances.ts'
import { decimalsOf, findPartner, formatSigned } from '../actions/lookup.ts'
import { type ReadContext, type ReadsOf, requireLive, toPage, toPlain, whole } from './read.ts'

const ALARMS_MAX = 1_000
const RESCANS_MAX = 100
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

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
  async partners({ store }) {
    const addresses = Map.groupBy(await store.feeAccounts.listAllAddresses(), ({ partnerId }) => partnerId)
    const monthly = Map.groupBy(await store.lists.monthlyPayouts(), ({ partnerId }) => partnerId)
    const rows = (await store.partners.list()).map(({ keys, defaultRecipients, ...partner }) => {
      const recipients = [...defaultRecipients].map(([currency, recipient]) => ({ currency, ...recipient }))
      const feeAddresses = (addresses.get(partner.id) ?? []).map(({ partnerId: _, ...row }) => toPlain(row))
      const monthlyPayouts = (monthly.get(partner.id) ?? []).map(({ partnerId: _, ...terms }) => terms)
      return { ...partner, recipients, feeAddresses, monthlyPayouts, keys: toPlain(keys) }
    })
    return whole(rows)
  },
  async balances({ store }, { name = '' }) {
    const { id } = await findPartner(store, name)
    const rows = []
    for (const [currency, units] of await createOperateBalances(store.store).balances(id))
      rows.push({ currency, amount: formatSigned(units, await decimalsOf(store, currency)) })
    return whole(rows)
  },
  pauses: async ({ store }) => whole(await store.lists.pauses()),
  alarms: async ({ store }) => whole(await store.store.alarms.list(ALARMS_MAX)),
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
    if (!UUID.test(webhook)) throw refused(`${webhook} is not the id of a webhook: see swapyard webhooks list`)
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
