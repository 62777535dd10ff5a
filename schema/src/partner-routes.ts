import { FeeAddress, FeeAddressList, SetFeeAddressBody } from './fee-addresses.ts'
import { notFound } from './not-found.ts'
import {
  CurrencyPairs,
  ExchangeReport,
  ExchangeReportQuery,
  PairsQuery,
  PartnerBalances,
  PartnerBalancesQuery,
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
    description:
      'What we owe you, by currency: fees, and proceeds of exchanges without a recipient. CSV has the balances without the monthly payouts. Additive.',
    access: 'partner:read',
    cost: 5,
    query: PartnerBalancesQuery,
    success: {
      200: {
        description: 'All balances above zero.',
        schema: PartnerBalances,
        csv: 'currency,network,amount\r\nusdt,eth,120.5\r\n',
      },
    },
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
  listFeeAddresses: {
    method: 'GET',
    path: '/v1/partner/fee-addresses',
    tag: 'Partner',
    summary: 'Fee addresses',
    description: 'Where your referrer fees of swaps go, by network, and changes that wait. Additive.',
    access: 'partner:read',
    cost: 5,
    success: { 200: { description: 'All fee addresses.', schema: FeeAddressList } },
    errors: keyedErrors,
  },
  setFeeAddress: {
    method: 'POST',
    path: '/v1/partner/fee-addresses',
    tag: 'Partner',
    summary: 'Set a fee address',
    description:
      'A new address takes effect after 48 hours (a minute in the sandbox), or the time that the operator has set. Until then you can withdraw it. You get an e-mail and the event `partner.fee_address_changed`. At most one new address for a network within an hour. Additive.',
    access: 'fees:manage',
    cost: 50,
    body: SetFeeAddressBody,
    success: { 201: { description: 'The fee address and its change.', schema: FeeAddress } },
    errors: [...keyedErrors, 404, 409, 413, 415, 422, 451],
    notFound: notFound.networkOfSwaps,
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
