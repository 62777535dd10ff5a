import type { AdminStore, AdminStores } from '../../../admin/ports/admin-store.ts'
import type { ListedAct } from '../../../core/ports/store/audit-log.ts'
import type { PayeeMacs } from '../../../exchange/ports/payee-macs.ts'
import type { Database, Tx } from '../core/database.ts'
import { isOwnAddress } from '../core/own-addresses.ts'
import { createPartnerStore, keyRow, partnerRow } from '../core/partners.ts'
import { createWebhookStore, webhookRow } from '../events/webhooks.ts'
import { createStore } from '../exchange/store.ts'
import { createFeeAccounts } from '../swap/fee-accounts.ts'
import { createSwapFeeStore } from '../swap/swap-fees.ts'
import { createAdminLists } from './lists.ts'
import { createLoginThrottle } from './login-throttle.ts'
import { createOperatorStore } from './operators.ts'
import { createRequestStore } from './requests.ts'
import { createSessionStore } from './sessions.ts'

/** Rows of the audit log that one action may write. */
const OWN_ACTS_MAX = 20

const NAMED = {
  partner: 'partners where name',
  key: 'api_keys where id',
  operator: 'operators where login',
} as const

export function createAdminStore(database: Database, macs: PayeeMacs): AdminStore {
  return {
    ...stores(database, macs),
    lists: createAdminLists(database),
    logins: createLoginThrottle(database),
    transaction: (work) => database.transaction((tx) => work(stores(within(database, tx), macs))),
  }
}

/** A database whose transactions are parts of an open one: services that open their own commit or fail together. */
const within = (database: Database, tx: Tx): Database => ({
  ...database,
  query: (text, values, name) => tx.query(text, values, name),
  transaction: (work) => work(tx),
})

function stores(database: Database, macs: PayeeMacs): AdminStores {
  return {
    store: createStore(database, macs),
    partners: createPartnerStore(database),
    feeAccounts: createFeeAccounts(database),
    swapFees: createSwapFeeStore(database),
    webhooks: createWebhookStore(database),
    operators: createOperatorStore(database),
    sessions: createSessionStore(database),
    requests: createRequestStore(database),
    isOwnAddress: (address) => isOwnAddress(database, address),
    async lockRow(kind, name) {
      await database.query(`select 1 from ${NAMED[kind]} = $1 for no key update`, [name])
    },
    partnerRow: (name) => partnerRow(database, name),
    keyRow: (keyId) => keyRow(database, keyId),
    webhookRow: (id) => webhookRow(database, id),
    ownActs: () =>
      database.query<ListedAct>(
        `select id::text, at, actor, act, subject, reason, detail, before, after
         from (select *, xmin as written_by from operator_acts order by id desc limit $1) newest
         where written_by = pg_current_xact_id()::xid order by id`,
        [OWN_ACTS_MAX],
      ),
  }
}
