import Type, { type TSchema } from 'typebox'
import {
  CreatedExchange,
  Currency,
  ExchangeList,
  ExchangeRecord,
  ExchangeStatusAnswer,
  PrivateRateQuote,
  RateQuote,
} from './cross-chain.ts'
import {
  CreateExchangeBody,
  CreatePrivateExchangeBody,
  ListQuery,
  PrivateRateQuery,
  RateQuery,
  StatusQuery,
} from './cross-chain-requests.ts'
import { DefiCurrency, DexExchangeList, SwapQuote } from './defi.ts'
import {
  BuildSwapBody,
  SendApprovalBody,
  SendSwapBody,
  SwapListQuery,
  SwapQuoteQuery,
  TokenQuery,
  TokensQuery,
} from './defi-requests.ts'
import { ErrorBody } from './errors.ts'
import {
  Live,
  Ready,
  SandboxBalance,
  SandboxBalanceQuery,
  SandboxBlocksBody,
  SandboxDeposit,
  SandboxDepositBody,
  SandboxNetworks,
  SandboxReorgsBody,
  SandboxReport,
  SandboxWallet,
  SandboxWalletBody,
} from './service.ts'

export type RouteScope = 'rates:read' | 'exchange:read' | 'exchange:create' | 'defi:build' | 'defi:send'

export type RouteResponse = Readonly<{ description: string; schema?: TSchema; contentType?: string }>

/** One operation of the interface. Server, documentation and tests are made from the same table. */
export type RouteDefinition = Readonly<{
  operationId: string
  method: 'GET' | 'HEAD' | 'POST'
  path: string
  tag: 'Cross-chain' | 'DeFi' | 'Rates' | 'Service' | 'Sandbox'
  summary: string
  description?: string
  /** `public`: no key. `any`: a key, whatever it may do. */
  access: 'public' | 'any' | RouteScope
  /** Weight in the request limit: status 1, quote 5, create 50. */
  cost: number
  query?: TSchema
  body?: TSchema
  /** Takes an `Idempotency-Key`. */
  idempotent?: boolean
  success: Readonly<Record<number, RouteResponse>>
  /** Statuses that answer with `ErrorBody`. */
  errors: readonly number[]
}>

const publicErrors = [400, 408, 414, 429, 431, 500, 503] as const
const keyedErrors = [400, 401, 403, 408, 414, 429, 431, 500, 503] as const
const notModified: RouteResponse = { description: 'Not modified: the ETag sent in `If-None-Match` still holds.' }
const xml = 'application/xml'

export const routes = {
  listCurrencies: {
    operationId: 'listCurrencies',
    method: 'GET',
    path: '/v1/cross-chain/available-currencies',
    tag: 'Cross-chain',
    summary: 'List currencies',
    access: 'rates:read',
    cost: 1,
    success: { 200: { description: 'All currencies.', schema: Type.Array(Currency) }, 304: notModified },
    errors: keyedErrors,
  },
  quoteRate: {
    operationId: 'quoteRate',
    method: 'GET',
    path: '/v1/cross-chain/rate',
    tag: 'Cross-chain',
    summary: 'Quote a rate',
    description:
      'An amount outside `min` and `max` is still answered, without a `rateId`; the create endpoint refuses it.',
    access: 'rates:read',
    cost: 5,
    query: RateQuery,
    success: { 200: { description: 'Rate quote.', schema: RateQuote } },
    errors: [...keyedErrors, 404, 422],
  },
  quotePrivateRate: {
    operationId: 'quotePrivateRate',
    method: 'GET',
    path: '/v1/cross-chain/rate/private',
    tag: 'Cross-chain',
    summary: 'Quote a private rate',
    description:
      'Through an intermediary that is neither the source nor the target. It holds nothing: there is no `rateId`. An amount outside `min` and `max` is still answered.',
    access: 'rates:read',
    cost: 5,
    query: PrivateRateQuery,
    success: { 200: { description: 'Rate quote.', schema: PrivateRateQuote } },
    errors: [...keyedErrors, 404, 422],
  },
  createPrivateExchange: {
    operationId: 'createPrivateExchange',
    method: 'POST',
    path: '/v1/cross-chain/exchange/private',
    tag: 'Cross-chain',
    summary: 'Create a private exchange',
    description:
      'Two legs through an intermediary: payer and recipient are on no transaction together, nor on one wallet of ours. Without `privateType` it is `efficient`. Send an `Idempotency-Key`.',
    access: 'exchange:create',
    cost: 50,
    body: CreatePrivateExchangeBody,
    idempotent: true,
    success: { 201: { description: 'The exchange.', schema: CreatedExchange } },
    errors: [...keyedErrors, 404, 409, 413, 415, 422, 451],
  },
  createExchange: {
    operationId: 'createExchange',
    method: 'POST',
    path: '/v1/cross-chain/exchange',
    tag: 'Cross-chain',
    summary: 'Create a standard exchange',
    description:
      'Send an `Idempotency-Key`: a repeat with the same key and body gets the same answer. What makes two bodies the same stands at the header.',
    access: 'exchange:create',
    cost: 50,
    body: CreateExchangeBody,
    idempotent: true,
    success: { 201: { description: 'The exchange.', schema: CreatedExchange } },
    errors: [...keyedErrors, 404, 409, 410, 413, 415, 422, 451],
  },
  getExchangeStatus: {
    operationId: 'getExchangeStatus',
    method: 'GET',
    path: '/v1/cross-chain/exchange/status',
    tag: 'Cross-chain',
    summary: 'Status of any exchange',
    access: 'exchange:read',
    cost: 1,
    query: StatusQuery,
    success: { 200: { description: 'Kind and exchange.', schema: ExchangeStatusAnswer }, 304: notModified },
    errors: [...keyedErrors, 404],
  },
  getStandardExchangeStatus: {
    operationId: 'getStandardExchangeStatus',
    method: 'GET',
    path: '/v1/cross-chain/exchange/status/standard',
    tag: 'Cross-chain',
    summary: 'Status of a standard exchange',
    access: 'exchange:read',
    cost: 1,
    query: StatusQuery,
    success: { 200: { description: 'The exchange.', schema: ExchangeRecord }, 304: notModified },
    errors: [...keyedErrors, 404],
  },
  getPrivateExchangeStatus: {
    operationId: 'getPrivateExchangeStatus',
    method: 'GET',
    path: '/v1/cross-chain/exchange/status/private',
    tag: 'Cross-chain',
    summary: 'Status of a private exchange',
    access: 'exchange:read',
    cost: 1,
    query: StatusQuery,
    success: { 200: { description: 'The exchange.', schema: ExchangeRecord }, 304: notModified },
    errors: [...keyedErrors, 404],
  },
  listExchanges: {
    operationId: 'listExchanges',
    method: 'GET',
    path: '/v1/cross-chain/exchange/list',
    tag: 'Cross-chain',
    summary: 'List exchanges of the last 24 hours',
    description: 'Filters are exact and combined by AND. With `page` or `limit` one page, and a `Link` header.',
    access: 'exchange:read',
    cost: 10,
    query: ListQuery,
    success: { 200: { description: 'Matches, newest first.', schema: ExchangeList } },
    errors: keyedErrors,
  },
  getToken: {
    operationId: 'getToken',
    method: 'GET',
    path: '/v1/defi/currency/info',
    tag: 'DeFi',
    summary: 'Token metadata',
    description: 'Of any token contract, listed or not.',
    access: 'rates:read',
    cost: 2,
    query: TokenQuery,
    success: { 200: { description: 'The token.', schema: DefiCurrency } },
    errors: [...keyedErrors, 404],
  },
  listTokens: {
    operationId: 'listTokens',
    method: 'GET',
    path: '/v1/defi/available-currencies',
    tag: 'DeFi',
    summary: 'List the tokens of a network',
    description:
      'Those that can be swapped first, and the most liquid of them. `X-Total-Count` says how many there are.',
    access: 'rates:read',
    cost: 1,
    query: TokensQuery,
    success: { 200: { description: 'One page.', schema: Type.Array(DefiCurrency) }, 304: notModified },
    errors: [...keyedErrors, 404],
  },
  quoteSwap: {
    operationId: 'quoteSwap',
    method: 'GET',
    path: '/v1/defi/quote',
    tag: 'DeFi',
    summary: 'Quote a swap on chain',
    access: 'rates:read',
    cost: 5,
    query: SwapQuoteQuery,
    success: { 200: { description: 'Swap quote.', schema: SwapQuote } },
    errors: [...keyedErrors, 404, 422],
  },
  listSwaps: {
    operationId: 'listSwaps',
    method: 'GET',
    path: '/v1/defi/exchange/list',
    tag: 'DeFi',
    summary: 'List swaps of the last 24 hours',
    description: 'Filters are exact and combined by AND. With `page` or `limit` one page, and a `Link` header.',
    access: 'exchange:read',
    cost: 10,
    query: SwapListQuery,
    success: { 200: { description: 'Matches, newest first.', schema: DexExchangeList } },
    errors: keyedErrors,
  },
  buildSwap: {
    operationId: 'buildSwap',
    method: 'POST',
    path: '/v1/defi/transaction/swap',
    tag: 'DeFi',
    summary: 'Build the transactions of a swap',
    description:
      'One element: the swap. Two: first the approval, then the swap. Unsigned, with nonces and fees filled in.',
    access: 'defi:build',
    cost: 25,
    body: BuildSwapBody,
    idempotent: true,
    success: {
      201: {
        description: 'Raw transactions to sign.',
        schema: Type.Array(Type.String(), { minItems: 1, maxItems: 2 }),
      },
    },
    errors: [...keyedErrors, 404, 409, 413, 415, 422, 451],
  },
  sendApproval: {
    operationId: 'sendApproval',
    method: 'POST',
    path: '/v1/defi/send/approve',
    tag: 'DeFi',
    summary: 'Broadcast a signed approval',
    access: 'defi:send',
    cost: 10,
    body: SendApprovalBody,
    idempotent: true,
    success: { 201: { description: 'Hash of the transaction.', schema: Type.String({ examples: ['0x9f2c'] }) } },
    errors: [...keyedErrors, 404, 409, 413, 415, 422],
  },
  sendSwap: {
    operationId: 'sendSwap',
    method: 'POST',
    path: '/v1/defi/send/swap',
    tag: 'DeFi',
    summary: 'Broadcast a signed swap',
    description: 'Or record one that was broadcast already, by its `hash`.',
    access: 'defi:send',
    cost: 10,
    body: SendSwapBody,
    idempotent: true,
    success: { 201: { description: 'Hash of the transaction.', schema: Type.String({ examples: ['0x9f2c'] }) } },
    errors: [...keyedErrors, 404, 409, 413, 415, 422, 451],
  },
  getRates: {
    operationId: 'getRates',
    method: 'GET',
    path: '/v1/rates',
    tag: 'Rates',
    summary: 'Rates feed',
    description: 'XML in the dialect that rate monitors read. Public; a key changes nothing.',
    access: 'public',
    cost: 1,
    success: { 200: { description: 'All rates that can be honoured now.', contentType: xml }, 304: notModified },
    errors: publicErrors,
  },
  headRates: {
    operationId: 'headRates',
    method: 'HEAD',
    path: '/v1/rates',
    tag: 'Rates',
    summary: 'Headers of the rates feed',
    access: 'public',
    cost: 1,
    success: { 200: { description: 'Headers only.' }, 304: notModified },
    errors: [],
  },
  getLive: {
    operationId: 'getLive',
    method: 'GET',
    path: '/health/live',
    tag: 'Service',
    summary: 'The process answers',
    access: 'public',
    cost: 0,
    success: { 200: { description: 'Alive.', schema: Live } },
    errors: [400, 408, 414, 431],
  },
  getReady: {
    operationId: 'getReady',
    method: 'GET',
    path: '/health/ready',
    tag: 'Service',
    summary: 'Quotes and creates work',
    access: 'public',
    cost: 0,
    success: { 200: { description: 'Ready.', schema: Ready } },
    errors: [400, 408, 414, 431, 503],
  },
} as const satisfies Record<string, RouteDefinition>

const sandboxErrors = [...keyedErrors, 404, 409, 422] as const
const sandboxPostErrors = [...sandboxErrors, 413, 415] as const

/** Controls of the sandbox; they exist nowhere else. */
export const sandboxRoutes = {
  listSandboxNetworks: {
    operationId: 'listSandboxNetworks',
    method: 'GET',
    path: '/sandbox/networks',
    tag: 'Sandbox',
    summary: 'List the local chains',
    access: 'any',
    cost: 1,
    success: { 200: { description: 'Chains.', schema: SandboxNetworks } },
    errors: sandboxErrors,
  },
  createSandboxWallet: {
    operationId: 'createSandboxWallet',
    method: 'POST',
    path: '/sandbox/wallets',
    tag: 'Sandbox',
    summary: 'Make a fresh outside wallet',
    access: 'any',
    cost: 1,
    body: SandboxWalletBody,
    success: { 201: { description: 'Wallet.', schema: SandboxWallet } },
    errors: sandboxPostErrors,
  },
  createSandboxDeposit: {
    operationId: 'createSandboxDeposit',
    method: 'POST',
    path: '/sandbox/deposits',
    tag: 'Sandbox',
    summary: 'Pay from the sandbox bank',
    access: 'any',
    cost: 1,
    body: SandboxDepositBody,
    success: { 201: { description: 'Transaction.', schema: SandboxDeposit } },
    errors: sandboxPostErrors,
  },
  getSandboxBalance: {
    operationId: 'getSandboxBalance',
    method: 'GET',
    path: '/sandbox/balance',
    tag: 'Sandbox',
    summary: 'Balance of an address',
    access: 'any',
    cost: 1,
    query: SandboxBalanceQuery,
    success: { 200: { description: 'Balance.', schema: SandboxBalance } },
    errors: sandboxErrors,
  },
  createSandboxBlocks: {
    operationId: 'createSandboxBlocks',
    method: 'POST',
    path: '/sandbox/blocks',
    tag: 'Sandbox',
    summary: 'Make blocks',
    access: 'any',
    cost: 1,
    body: SandboxBlocksBody,
    success: { 201: { description: 'Done.', schema: SandboxReport } },
    errors: sandboxPostErrors,
  },
  createSandboxReorg: {
    operationId: 'createSandboxReorg',
    method: 'POST',
    path: '/sandbox/reorgs',
    tag: 'Sandbox',
    summary: 'Replace the latest blocks',
    access: 'any',
    cost: 1,
    body: SandboxReorgsBody,
    success: { 201: { description: 'Done.', schema: SandboxReport } },
    errors: sandboxPostErrors,
  },
} as const satisfies Record<string, RouteDefinition>

/** The one body of every error answer. */
export const errorSchema: TSchema = ErrorBody
