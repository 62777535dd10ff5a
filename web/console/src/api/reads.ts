import type { AdminReadName, AdminReadPaths, AdminRow } from '@swapyard/schema'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { get, type Query } from './client.ts'

/** As schema/src/admin-reads.ts has them, by their type: the schemas themselves are not part of the bundle. */
const readPaths: AdminReadPaths = {
  overview: '/admin/v1/overview',
  exchanges: '/admin/v1/exchanges',
  exchange: '/admin/v1/exchanges/story',
  held: '/admin/v1/held',
  decisions: '/admin/v1/held/decisions',
  payouts: '/admin/v1/payouts',
  queue: '/admin/v1/payouts/queue',
  unclaimed: '/admin/v1/unclaimed',
  wallets: '/admin/v1/wallets',
  trialBalance: '/admin/v1/ledger/trial-balance',
  ledgerFaults: '/admin/v1/ledger/faults',
  ledgerEntries: '/admin/v1/ledger/entries',
  reconciliation: '/admin/v1/reconciliation',
  revenue: '/admin/v1/reports/revenue',
  costs: '/admin/v1/reports/costs',
  missingPayouts: '/admin/v1/signer/missing',
  prices: '/admin/v1/prices',
  venues: '/admin/v1/venues',
  networks: '/admin/v1/networks',
  dexes: '/admin/v1/dexes',
  pools: '/admin/v1/pools',
  networkPools: '/admin/v1/pools/list',
  tokens: '/admin/v1/tokens',
  swaps: '/admin/v1/swaps',
  swapFees: '/admin/v1/swap-fees',
  unclaimedFees: '/admin/v1/swap-fees/unclaimed',
  partners: '/admin/v1/partners',
  balances: '/admin/v1/partners/balances',
  pauses: '/admin/v1/pauses',
  alarms: '/admin/v1/alarms',
  rescans: '/admin/v1/rescans',
  audit: '/admin/v1/audit',
  auditVerification: '/admin/v1/audit/verification',
  settings: '/admin/v1/settings',
  actions: '/admin/v1/actions',
  requests: '/admin/v1/requests',
  operators: '/admin/v1/operators',
  sessions: '/admin/v1/sessions',
  passkeys: '/admin/v1/passkeys',
  webhooks: '/admin/v1/webhooks',
  webhookDeliveries: '/admin/v1/webhooks/deliveries',
}

export type Page<Name extends AdminReadName> = Readonly<{ data: readonly AdminRow<Name>[]; next: string | null }>
export type ReadOptions = Readonly<{
  /** Reads again after this time while the page is visible. */
  everyMs?: number
  enabled?: boolean
}>

/** The pages of a list that follow this one, up to the end. */
export async function readFollowing<Name extends AdminReadName>(name: Name, query: Query, { next }: Page<Name>) {
  const rows: AdminRow<Name>[] = []
  for (let cursor = next; cursor !== null; ) {
    const page: Page<Name> = await get<Page<Name>>(readPaths[name], { ...query, cursor })
    rows.push(...page.data)
    cursor = page.next
  }
  return rows
}

function useRead<Answer>(name: AdminReadName, query: Query, { everyMs, enabled = true }: ReadOptions) {
  return useQuery({
    queryKey: ['read', name, query],
    queryFn: ({ signal }) => get<Answer>(readPaths[name], query, signal),
    placeholderData: keepPreviousData,
    enabled,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
  })
}

/** A read that answers one object. */
export const useOne = <Name extends AdminReadName>(name: Name, query: Query = {}, options: ReadOptions = {}) =>
  useRead<AdminRow<Name>>(name, query, options)

/** A page of a list; lists without pages are whole. */
export const useList = <Name extends AdminReadName>(name: Name, query: Query = {}, options: ReadOptions = {}) =>
  useRead<Page<Name>>(name, query, options)
