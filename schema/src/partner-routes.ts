import {
  CurrencyPairs,
  ExchangeReport,
  ExchangeReportQuery,
  PairsQuery,
  PartnerBalances,
  PartnerFees,
  PartnerFeesQuery,
  PartnerUsage,
} from './partner.ts'
import { keyedErrors, type RouteDefinition } from './route-definition.ts'

/** What partners ask about themselves. */
export const partnerRoutes = {
  listPairs: {
    method: 'GET',
    path: '/v1/cross-chain/pairs',
    tag: 'Cross-chain',
    summary: 'List pairs',
    description: 'Every direction that can be exchanged now, with its flows and limits. Additive.',
    access: 'rates:read',
    isPublishable: true,
    cost: 10,
    query: PairsQuery,
    success: { 200: { description: 'All pairs.', schema: CurrencyPairs } },
    errors: keyedErrors,
  },
  getPartnerBalances: {
    method: 'GET',
    path: '/v1/partner/balances',
    tag: 'Partner',
    summary: 'Balances',
    description: 'What we owe you, by currency: fees, and proceeds of exchanges without a recipient. Additive.',
    access: 'partner:read',
    cost: 5,
    success: { 200: { description: 'All balances above zero.', schema: PartnerBalances } },
    errors: keyedErrors,
  },
  getPartnerFees: {
    method: 'GET',
    path: '/v1/partner/fees',
    tag: 'Partner',
    summary: 'Statement of fees',
    description: 'Fees, proceeds and payments by day, currency and kind, as the ledger booked them. Additive.',
    access: 'partner:read',
    cost: 10,
    query: PartnerFeesQuery,
    success: {
      200: {
        description: 'The statement.',
        schema: PartnerFees,
        csv: 'date,currency,network,kind,credited,debited,count\r\n2026-11-26,usdt,eth,exchangeFee,3.21,0,12\r\n',
      },
    },
    errors: keyedErrors,
  },
  getPartnerUsage: {
    method: 'GET',
    path: '/v1/partner/usage',
    tag: 'Partner',
    summary: 'Usage and limits',
    description:
      'The limits of the partner, what is left of them, and the scopes of the key of this request. Additive.',
    access: 'any',
    cost: 1,
    success: { 200: { description: 'Usage and limits.', schema: PartnerUsage } },
    errors: keyedErrors,
  },
  listPartnerExchanges: {
    method: 'GET',
    path: '/v1/partner/exchanges',
    tag: 'Partner',
    summary: 'Report of all exchanges',
    description:
      'All exchanges of a period, of any age, oldest first, in pages: ask for `nextPage` until it is null. CSV without `page` and `limit` is the whole period, with one row for each deposit. Additive.',
    access: 'partner:read',
    cost: 10,
    query: ExchangeReportQuery,
    success: {
      200: { description: 'One page.', schema: ExchangeReport, csv: 'id,externalId,created\r\n' },
    },
    errors: keyedErrors,
  },
} as const satisfies Record<string, RouteDefinition>
