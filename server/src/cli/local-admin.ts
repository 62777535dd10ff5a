import type { AdminActionName, AdminReadName } from '@swapyard/schema'
import type { Database } from '../adapters/postgres/core/database.ts'
import type { ReadContext } from '../admin/reads/read.ts'
import { read } from '../admin/reads/reads.ts'
import { createSums } from '../admin/reads/sums.ts'
import { createCarryOut, type Outcome } from '../admin/requests/carry-out.ts'
import { createActionDeps, openAdminStore } from '../app/action-deps.ts'
import type { Config } from '../config/load.ts'
import type { AuditNote } from '../core/services/audit-note.ts'
import { withDatabase } from './database.ts'
import { type PageQuery, type Reply, readPages } from './remote.ts'
import { readOffer } from './swap-offer.ts'

const openLocal = (database: Database, config: Config) => ({
  store: openAdminStore(database, config),
  deps: createActionDeps(config, () => readOffer(config)),
})

/** Carries out an action on the database of this machine, at once: its user has the shell of the server. */
export const actLocally = (
  action: AdminActionName,
  given: Readonly<Record<string, unknown>>,
  note: AuditNote,
  preview: boolean,
): Promise<Outcome> =>
  withDatabase((database, config) =>
    createCarryOut({ ...openLocal(database, config), twoPersons: false }).run(action, given, note, preview),
  )

export const readLocally = (name: AdminReadName, query: PageQuery): Promise<readonly Reply[]> =>
  withDatabase(async (database, config) => {
    const reader = { session: null, role: 'admin' as const }
    const { twoPersons } = config.admin
    const context: ReadContext = { ...openLocal(database, config), twoPersons, live: null, sums: createSums(), reader }
    return readPages(query, (page) => read(name, context, page))
  })
