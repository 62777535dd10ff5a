import { createPartnerStore } from '../../server/src/adapters/postgres/core/partners.ts'
import { scopes } from '../../server/src/core/domain/partner.ts'
import { makeApiKey } from '../../server/src/core/services/partner-keys.ts'
import { pepper, type Scenario } from '../support/scenario.ts'

/** Adds a partner with one key, as `swapyard partner` does. */
export async function addPartner({ app: { database } }: Scenario, name: string, openExchangesMax = 1_000) {
  const store = createPartnerStore(database)
  await store.add({
    name,
    feeBps: 0,
    openExchangesMax,
    rateLimitPerMinute: 60_000,
    strict: false,
    refundToSender: false,
  })
  const key = makeApiKey('live', pepper)
  const { keyId, hmac } = key
  await store.keys.add(name, { keyId, hmac, scopes: [...scopes], ipAllowList: [], createdBy: 'test' })
  return { store, key }
}
