import type { BuiltExternalIds } from '../../../swap/ports/store/built-external-ids.ts'
import type { Database } from '../core/database.ts'

export function createBuiltExternalIds(database: Database): BuiltExternalIds {
  return {
    async save({ ref, partnerId, externalId }) {
      await database.query('insert into built_external_ids (ref, partner_id, external_id) values ($1, $2, $3)', [
        ref,
        partnerId,
        externalId,
      ])
    },
  }
}
