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
]
