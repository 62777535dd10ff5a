import type { AdminRow } from '@swapyard/schema'
import type { ComponentType } from 'react'

type Overview = AdminRow<'overview'>

export type PageEntry = Readonly<{
  /** Below `/console`. */
  path: string
  title: string
  /** Loads the file of the page, which exports `Page`. */
  load: () => Promise<Readonly<{ Page: ComponentType }>>
  /** Number beside the entry of the navigation. */
  count?: (overview: Overview) => number
  /** Only reached by links of other pages. */
  isHidden?: true
}>
export type PageGroup = Readonly<{ title: string; pages: readonly PageEntry[] }>

/** Every page of the console, in the order of the navigation. */
export const pageGroups: readonly PageGroup[] = [
  {
    title: 'Now',
    pages: [
      { path: '/', title: 'Overview', load: () => import('./overview.tsx') },
      {
        path: '/requests',
        title: 'Approvals',
        load: () => import('./requests.tsx'),
        count: ({ openRequests }) => openRequests,
      },
    ],
  },
  {
    title: 'Exchanges',
    pages: [
      { path: '/exchanges', title: 'Exchanges', load: () => import('./exchanges.tsx') },
      { path: '/exchanges/:id', title: 'Exchange', load: () => import('./exchange.tsx'), isHidden: true },
      {
        path: '/held',
        title: 'Held deposits',
        load: () => import('./held.tsx'),
        count: ({ heldExecutions }) => heldExecutions,
      },
      {
        path: '/payouts',
        title: 'Payouts',
        load: () => import('./payouts.tsx'),
        count: ({ heldPayouts }) => heldPayouts,
      },
      { path: '/payout-queue', title: 'Queue of payouts', load: () => import('./payout-queue.tsx') },
      { path: '/unclaimed', title: 'Unclaimed deposits', load: () => import('./unclaimed.tsx') },
    ],
  },
  {
    title: 'Money',
    pages: [
      { path: '/wallets', title: 'Wallets and treasury', load: () => import('./wallets.tsx') },
      { path: '/ledger', title: 'Ledger', load: () => import('./ledger.tsx') },
      { path: '/reconciliation', title: 'Reconciliation', load: () => import('./reconciliation.tsx') },
      { path: '/reports', title: 'Revenue and costs', load: () => import('./reports.tsx') },
      { path: '/restore', title: 'After a restore', load: () => import('./restore.tsx') },
    ],
  },
  {
    title: 'Markets',
    pages: [
      { path: '/prices', title: 'Prices and venues', load: () => import('./prices.tsx') },
      { path: '/networks', title: 'Networks', load: () => import('./networks.tsx') },
    ],
  },
  {
    title: 'Swaps',
    pages: [
      { path: '/swaps', title: 'Swaps', load: () => import('./swaps.tsx') },
      { path: '/swap-fees', title: 'Swap fees', load: () => import('./swap-fees.tsx') },
      { path: '/dexes', title: 'DEXes and pools', load: () => import('./dexes.tsx') },
      { path: '/pools', title: 'Pools', load: () => import('./pools.tsx') },
      { path: '/tokens', title: 'Tokens of swaps', load: () => import('./tokens.tsx') },
    ],
  },
  {
    title: 'Service',
    pages: [
      {
        path: '/alarms',
        title: 'Alarms',
        load: () => import('./alarms.tsx'),
        count: ({ alarms }) => Number(alarms['critical'] ?? 0) + Number(alarms['warning'] ?? 0),
      },
      { path: '/pauses', title: 'Pauses', load: () => import('./pauses.tsx'), count: ({ pauses }) => pauses },
      { path: '/rescans', title: 'Rescans', load: () => import('./rescans.tsx') },
      { path: '/settings', title: 'Settings in force', load: () => import('./settings.tsx') },
    ],
  },
  {
    title: 'People',
    pages: [
      { path: '/partners', title: 'Partners', load: () => import('./partners.tsx') },
      { path: '/partners/:id', title: 'Partner', load: () => import('./partner.tsx'), isHidden: true },
      { path: '/webhooks', title: 'Webhooks', load: () => import('./webhooks.tsx') },
      {
        path: '/webhooks/:id',
        title: 'Deliveries of a webhook',
        load: () => import('./webhook-deliveries.tsx'),
        isHidden: true,
      },
      { path: '/operators', title: 'Operators', load: () => import('./operators.tsx') },
      { path: '/sessions', title: 'Sessions', load: () => import('./sessions.tsx') },
      { path: '/second-factors', title: 'Your second factors', load: () => import('./second-factors.tsx') },
      { path: '/audit', title: 'Audit log', load: () => import('./audit.tsx') },
    ],
  },
]
