// Written by sdk/generate.ts from the schemas of the API. Do not edit.
import type { CallOptions } from '../http.ts'
import type {
  AddressValidation,
  BuildSwapBody,
  CancelExchangeBody,
  CancelledExchange,
  CreateExchangeBody,
  CreatePrivateExchangeBody,
  CreateWebhookBody,
  CreatedExchange,
  CreatedWebhook,
  CurrencyList,
  CurrencyPairs,
  DefiCurrency,
  DefiCurrencyList,
  DefiNetworkList,
  DeleteWebhookQuery,
  DeletedWebhook,
  Delivery,
  DeliveryList,
  DexExchange,
  DexExchangeList,
  DisableWebhookQuery,
  EnableWebhookQuery,
  ExchangeList,
  ExchangeRecord,
  ExchangeReport,
  ExchangeStatusAnswer,
  ExchangeStatusList,
  FeeAddress,
  FeeAddressList,
  GetExchangeStatusQuery,
  GetPartnerBalancesQuery,
  GetPartnerFeesQuery,
  GetPrivateExchangeStatusQuery,
  GetSandboxBalanceQuery,
  GetStandardExchangeStatusQuery,
  GetSwapStatusQuery,
  GetTokenQuery,
  GetTrackedExchangeQuery,
  GetWebhookQuery,
  ListDeliveriesQuery,
  ListExchangesQuery,
  ListPairsQuery,
  ListPartnerExchangesQuery,
  ListSwapsQuery,
  ListTokensQuery,
  Live,
  NameRefundAddressBody,
  NamedRefundAddress,
  PartnerBalances,
  PartnerFees,
  PartnerUsage,
  PrivateRateQuote,
  QuotePrivateRateQuery,
  QuoteRateQuery,
  QuoteSwapQuery,
  RateQuote,
  RawTransactions,
  Ready,
  RedeliverQuery,
  RotateWebhookSecretQuery,
  SandboxBalance,
  SandboxBlocksBody,
  SandboxDeposit,
  SandboxDepositBody,
  SandboxExpiry,
  SandboxExpiryBody,
  SandboxMiningBody,
  SandboxNetworks,
  SandboxPricesBody,
  SandboxReorgsBody,
  SandboxReport,
  SandboxWallet,
  SandboxWalletBody,
  SendApprovalBody,
  SendSwapBody,
  SetFeeAddressBody,
  SwapQuote,
  TestWebhookQuery,
  TrackedExchange,
  TransactionHash,
  ValidateAddressQuery,
  Webhook,
  WebhookList,
  WebhookSecret,
  WebhookTest,
} from './types.ts'

/** Method, path, the place of the input, and the kind of the answer. */
export const operations = {
  listCurrencies: ['GET', '/v1/cross-chain/available-currencies', 'none', 'json'],
  quoteRate: ['GET', '/v1/cross-chain/rate', 'query', 'json'],
  quotePrivateRate: ['GET', '/v1/cross-chain/rate/private', 'query', 'json'],
  createPrivateExchange: ['POST', '/v1/cross-chain/exchange/private', 'body', 'json'],
  createExchange: ['POST', '/v1/cross-chain/exchange', 'body', 'json'],
  nameRefundAddress: ['POST', '/v1/cross-chain/exchange/refund-address', 'body', 'json'],
  cancelExchange: ['POST', '/v1/cross-chain/exchange/cancel', 'body', 'json'],
  getExchangeStatus: ['GET', '/v1/cross-chain/exchange/status', 'query', 'json'],
  getStandardExchangeStatus: ['GET', '/v1/cross-chain/exchange/status/standard', 'query', 'json'],
  getPrivateExchangeStatus: ['GET', '/v1/cross-chain/exchange/status/private', 'query', 'json'],
  getTrackedExchange: ['GET', '/v1/track', 'query', 'json'],
  listExchanges: ['GET', '/v1/cross-chain/exchange/list', 'query', 'json'],
  validateAddress: ['GET', '/v1/cross-chain/address/validate', 'query', 'json'],
  listDefiNetworks: ['GET', '/v1/defi/networks', 'none', 'json'],
  getToken: ['GET', '/v1/defi/currency/info', 'query', 'json'],
  listTokens: ['GET', '/v1/defi/available-currencies', 'query', 'json'],
  quoteSwap: ['GET', '/v1/defi/quote', 'query', 'json'],
  listSwaps: ['GET', '/v1/defi/exchange/list', 'query', 'json'],
  getSwapStatus: ['GET', '/v1/defi/exchange/status', 'query', 'json'],
  buildSwap: ['POST', '/v1/defi/transaction/swap', 'body', 'json'],
  sendApproval: ['POST', '/v1/defi/send/approve', 'body', 'json'],
  sendSwap: ['POST', '/v1/defi/send/swap', 'body', 'json'],
  createWebhook: ['POST', '/v1/webhooks', 'body', 'json'],
  listWebhooks: ['GET', '/v1/webhooks', 'none', 'json'],
  getWebhook: ['GET', '/v1/webhooks/{id}', 'path', 'json'],
  deleteWebhook: ['DELETE', '/v1/webhooks/{id}', 'path', 'json'],
  rotateWebhookSecret: ['POST', '/v1/webhooks/{id}/rotate', 'path', 'json'],
  enableWebhook: ['POST', '/v1/webhooks/{id}/enable', 'path', 'json'],
  disableWebhook: ['POST', '/v1/webhooks/{id}/disable', 'path', 'json'],
  testWebhook: ['POST', '/v1/webhooks/{id}/test', 'path', 'json'],
  listDeliveries: ['GET', '/v1/webhooks/{id}/deliveries', 'query', 'json'],
  redeliver: ['POST', '/v1/webhooks/{id}/deliveries/{deliveryId}/redeliver', 'path', 'json'],
  listPairs: ['GET', '/v1/cross-chain/pairs', 'query', 'json'],
  getPartnerBalances: ['GET', '/v1/partner/balances', 'query', 'json'],
  getPartnerFees: ['GET', '/v1/partner/fees', 'query', 'json'],
  listFeeAddresses: ['GET', '/v1/partner/fee-addresses', 'none', 'json'],
  setFeeAddress: ['POST', '/v1/partner/fee-addresses', 'body', 'json'],
  getPartnerUsage: ['GET', '/v1/partner/usage', 'none', 'json'],
  listPartnerExchanges: ['GET', '/v1/partner/exchanges', 'query', 'json'],
  getRates: ['GET', '/v1/rates', 'none', 'xml'],
  headRates: ['HEAD', '/v1/rates', 'none', 'headers'],
  getLive: ['GET', '/health/live', 'none', 'json'],
  getReady: ['GET', '/health/ready', 'none', 'json'],
  listSandboxNetworks: ['GET', '/sandbox/networks', 'none', 'json'],
  createSandboxWallet: ['POST', '/sandbox/wallets', 'body', 'json'],
  createSandboxDeposit: ['POST', '/sandbox/deposits', 'body', 'json'],
  getSandboxBalance: ['GET', '/sandbox/balance', 'query', 'json'],
  createSandboxBlocks: ['POST', '/sandbox/blocks', 'body', 'json'],
  createSandboxReorg: ['POST', '/sandbox/reorgs', 'body', 'json'],
  setSandboxMining: ['POST', '/sandbox/mining', 'body', 'json'],
  setSandboxPrice: ['POST', '/sandbox/prices', 'body', 'json'],
  expireSandboxExchange: ['POST', '/sandbox/expiries', 'body', 'json'],
} as const

/** Every operation of the API by its id in the OpenAPI document. */
export interface Operations {
  /** List currencies: `GET /v1/cross-chain/available-currencies`. All listed currencies by rank. Exchange only those with `enabled: true`. */
  listCurrencies(options?: CallOptions): Promise<CurrencyList>

  /** Quote a rate: `GET /v1/cross-chain/rate`. An amount outside `min` and `max` still returns a quote, but without a `rateId`; the create endpoint rejects it. */
  quoteRate(input: QuoteRateQuery, options?: CallOptions): Promise<RateQuote>

  /** Quote a private rate: `GET /v1/cross-chain/rate/private`. Quotes an exchange through an intermediary currency that is neither the source nor the target. The rate is not reserved, so there is no `rateId`. An amount outside `min` and `max` still returns a quote. */
  quotePrivateRate(input: QuotePrivateRateQuery, options?: CallOptions): Promise<PrivateRateQuote>

  /** Create a private exchange: `POST /v1/cross-chain/exchange/private`. Exchanges in two legs through an intermediary currency. No transaction and no wallet of ours links the payer to the recipient. `privateType` defaults to `efficient`; the quote tells whether its intermediary is transparent. An observer who knows our rates can match an amount that no other customer exchanges at the same time. Send an `Idempotency-Key`. */
  createPrivateExchange(input: CreatePrivateExchangeBody, options?: CallOptions): Promise<CreatedExchange>

  /** Create a standard exchange: `POST /v1/cross-chain/exchange`. Send an `Idempotency-Key`: a repeat with the same key and body returns the same response. The description of the header defines when two bodies are the same. */
  createExchange(input: CreateExchangeBody, options?: CallOptions): Promise<CreatedExchange>

  /** Name a refund address: `POST /v1/cross-chain/exchange/refund-address`. Names the refund address of an exchange that was created without one: once, and only before anything was refunded. A deposit that waits for it (`verifying`, `REFUND_ADDRESS_REQUIRED`) is then refunded. Naming the same address again changes nothing. Additive. */
  nameRefundAddress(input: NameRefundAddressBody, options?: CallOptions): Promise<NamedRefundAddress>

  /** Cancel an exchange: `POST /v1/cross-chain/exchange/cancel`. Cancels an exchange for which no payment was seen: it is `failed` with the reason `CANCELLED`, and a deposit that arrives later is refunded, not executed. The reserve of a fixed rate is released at once, but counts against your share of the reserve until the promise would have ended. Cancelling again changes nothing. Additive. */
  cancelExchange(input: CancelExchangeBody, options?: CallOptions): Promise<CancelledExchange>

  /** Status of any exchange: `GET /v1/cross-chain/exchange/status`. Poll until the status is `finished`, `failed` or `refunded`. With `ids` the response has the status of several exchanges. */
  getExchangeStatus(input: GetExchangeStatusQuery & { id: string }, options?: CallOptions): Promise<ExchangeStatusAnswer>
  getExchangeStatus(input: GetExchangeStatusQuery & { ids: string }, options?: CallOptions): Promise<ExchangeStatusList>

  /** Status of a standard exchange: `GET /v1/cross-chain/exchange/status/standard`. Poll until the status is `finished`, `failed` or `refunded`. An exchange of the other kind is 404. */
  getStandardExchangeStatus(input: GetStandardExchangeStatusQuery, options?: CallOptions): Promise<ExchangeRecord>

  /** Status of a private exchange: `GET /v1/cross-chain/exchange/status/private`. Poll until the status is `finished`, `failed` or `refunded`. An exchange of the other kind is 404. */
  getPrivateExchangeStatus(input: GetPrivateExchangeStatusQuery, options?: CallOptions): Promise<ExchangeRecord>

  /** Public status of an exchange: `GET /v1/track`. What the payer may see of an exchange, by the token of its `trackingUrl`. For wallets and web pages: no key is needed, and every origin may read the answer. It names neither the partner nor the payment between the legs of a private exchange, whose legs are one item. Additive. */
  getTrackedExchange(input: GetTrackedExchangeQuery, options?: CallOptions): Promise<TrackedExchange>

  /** List exchanges of the last 24 hours: `GET /v1/cross-chain/exchange/list`. Filters match exactly and are combined with AND. With `page` or `limit` the response is one page and has a `Link` header; between two pages items may repeat or be missing. Without them it has all matches, each once. */
  listExchanges(input?: ListExchangesQuery, options?: CallOptions): Promise<ExchangeList>

  /** Validate an address: `GET /v1/cross-chain/address/validate`. Checks a recipient address and its memo by the rules of the network, as a create does. Address screening is not included. */
  validateAddress(input: ValidateAddressQuery, options?: CallOptions): Promise<AddressValidation>

  /** List networks of swaps: `GET /v1/defi/networks`. All networks of the specification. Other operations of the DeFi part reject a network that is not served with `NETWORK_NOT_SERVED`, except the list of swaps, where `network` is a filter. */
  listDefiNetworks(options?: CallOptions): Promise<DefiNetworkList>

  /** Token metadata: `GET /v1/defi/currency/info`. Returns the metadata of any token contract, listed or not. */
  getToken(input: GetTokenQuery, options?: CallOptions): Promise<DefiCurrency>

  /** List the tokens of a network: `GET /v1/defi/available-currencies`. Enabled tokens first, most liquid first. The header `X-Total-Count` is the number of tokens. */
  listTokens(input: ListTokensQuery, options?: CallOptions): Promise<DefiCurrencyList>

  /** Quote a swap on chain: `GET /v1/defi/quote`. Quotes at the block in `block`. A token that the server does not know yet returns `NO_ROUTE` while its data is read: retry after `Retry-After`. */
  quoteSwap(input: QuoteSwapQuery, options?: CallOptions): Promise<SwapQuote>

  /** List swaps of the last 24 hours: `GET /v1/defi/exchange/list`. Filters match exactly and are combined with AND. With `page` or `limit` the response is one page and has a `Link` header; between two pages items may repeat or be missing. Without them it has all matches, each once. */
  listSwaps(input?: ListSwapsQuery, options?: CallOptions): Promise<DexExchangeList>

  /** Status of a swap: `GET /v1/defi/exchange/status`. Finds one swap of any age by its id or by its transaction hash. */
  getSwapStatus(input?: GetSwapStatusQuery, options?: CallOptions): Promise<DexExchange>

  /** Build the transactions of a swap: `POST /v1/defi/transaction/swap`. Returns unsigned transactions with nonces and fees: the swap, or the approval and then the swap. */
  buildSwap(input: BuildSwapBody, options?: CallOptions): Promise<RawTransactions>

  /** Broadcast a signed approval: `POST /v1/defi/send/approve`. Accepts an approval of our router with the amount that was built, or with 0. */
  sendApproval(input: SendApprovalBody, options?: CallOptions): Promise<TransactionHash>

  /** Broadcast a signed swap: `POST /v1/defi/send/swap`. With `hash` instead of `rawTx`, records a swap that was already broadcast. */
  sendSwap(input: SendSwapBody, options?: CallOptions): Promise<TransactionHash>

  /** Create a webhook: `POST /v1/webhooks`. Sends every further event to the URL, signed with the secret of the answer, which is shown only here. At most 20 webhooks. */
  createWebhook(input: CreateWebhookBody, options?: CallOptions): Promise<CreatedWebhook>

  /** List webhooks: `GET /v1/webhooks`. All webhooks of the partner, without their secrets. */
  listWebhooks(options?: CallOptions): Promise<WebhookList>

  /** One webhook: `GET /v1/webhooks/{id}`. A webhook by its id. */
  getWebhook(input: GetWebhookQuery, options?: CallOptions): Promise<Webhook>

  /** Delete a webhook: `DELETE /v1/webhooks/{id}`. Deletes a webhook with its deliveries. What waits is not sent. */
  deleteWebhook(input: DeleteWebhookQuery, options?: CallOptions): Promise<DeletedWebhook>

  /** Replace the secret of a webhook: `POST /v1/webhooks/{id}/rotate`. For 24 hours every delivery is signed with the new and with the old secret. Until then a further rotation is `WEBHOOK_SECRET_ROTATED` (409), with the end as `possibleFrom`. */
  rotateWebhookSecret(input: RotateWebhookSecretQuery, options?: CallOptions): Promise<WebhookSecret>

  /** Enable a webhook: `POST /v1/webhooks/{id}/enable`. What waits is sent at once, in order. */
  enableWebhook(input: EnableWebhookQuery, options?: CallOptions): Promise<Webhook>

  /** Disable a webhook: `POST /v1/webhooks/{id}/disable`. Its events wait, for at most 30 days, until it is enabled. */
  disableWebhook(input: DisableWebhookQuery, options?: CallOptions): Promise<Webhook>

  /** Send a test event: `POST /v1/webhooks/{id}/test`. Sends an event of the type `webhook.test` to this webhook, signed and repeated as any other. `data` is `{"webhookId": …}`. */
  testWebhook(input: TestWebhookQuery, options?: CallOptions): Promise<WebhookTest>

  /** List the deliveries of a webhook: `GET /v1/webhooks/{id}/deliveries`. The newest first. The next page is `before` the last id of this one. Kept for 30 days. */
  listDeliveries(input: ListDeliveriesQuery, options?: CallOptions): Promise<DeliveryList>

  /** Deliver an event again: `POST /v1/webhooks/{id}/deliveries/{deliveryId}/redeliver`. Sends the same event, with the same id, after those that wait for the same exchange. A delivery that is still pending is sent at once, if it is its turn. */
  redeliver(input: RedeliverQuery, options?: CallOptions): Promise<Delivery>

  /** List pairs: `GET /v1/cross-chain/pairs`. Every direction that can be exchanged now, with its flows and limits. Additive. */
  listPairs(input?: ListPairsQuery, options?: CallOptions): Promise<CurrencyPairs>

  /** Balances: `GET /v1/partner/balances`. What we owe you, by currency: fees, and proceeds of exchanges without a recipient. CSV has the balances without the monthly payouts. Additive. */
  getPartnerBalances(input: GetPartnerBalancesQuery & { format: 'csv' }, options?: CallOptions): Promise<string>
  getPartnerBalances(input?: GetPartnerBalancesQuery & { format?: 'json' }, options?: CallOptions): Promise<PartnerBalances>

  /** Statement of fees: `GET /v1/partner/fees`. Fees, proceeds and payments by day, currency and kind, as the ledger booked them. Additive. */
  getPartnerFees(input: GetPartnerFeesQuery & { format: 'csv' }, options?: CallOptions): Promise<string>
  getPartnerFees(input: GetPartnerFeesQuery & { format?: 'json' }, options?: CallOptions): Promise<PartnerFees>

  /** Fee addresses: `GET /v1/partner/fee-addresses`. Where your referrer fees of swaps go, by network, and changes that wait. Additive. */
  listFeeAddresses(options?: CallOptions): Promise<FeeAddressList>

  /** Set a fee address: `POST /v1/partner/fee-addresses`. A new address takes effect after 48 hours (a minute in the sandbox), or the time that the operator has set. Until then you can withdraw it. You get an e-mail and the event `partner.fee_address_changed`. At most one new address for a network within an hour. Additive. */
  setFeeAddress(input: SetFeeAddressBody, options?: CallOptions): Promise<FeeAddress>

  /** Usage and limits: `GET /v1/partner/usage`. The limits of the partner, what is left of them, and the scopes of the key of this request. Additive. */
  getPartnerUsage(options?: CallOptions): Promise<PartnerUsage>

  /** Report of all exchanges: `GET /v1/partner/exchanges`. All exchanges of a period, of any age, oldest first, in pages: ask for `nextPage` until it is null. CSV without `page` and `limit` is the whole period, with one row for each deposit. Additive. */
  listPartnerExchanges(input: ListPartnerExchangesQuery & { format: 'csv' }, options?: CallOptions): Promise<string>
  listPartnerExchanges(input?: ListPartnerExchangesQuery & { format?: 'json' }, options?: CallOptions): Promise<ExchangeReport>

  /** Rates feed: `GET /v1/rates`. XML in the format of rate monitors. Public; an API key makes no difference. `amount` and `maxamount` are computed from reserves that are rounded down to two digits. */
  getRates(options?: CallOptions): Promise<string>

  /** Headers of the rates feed: `HEAD /v1/rates`. The headers of GET, without the body. */
  headRates(options?: CallOptions): Promise<Headers>

  /** Liveness: `GET /health/live`. Answers while the process runs, also while it shuts down. */
  getLive(options?: CallOptions): Promise<Live>

  /** Readiness: `GET /health/ready`. Answers 200 while at least one direction can be quoted; otherwise 503 with the reasons. The first time it also waits until every direction can be quoted, also privately, and is in the rates feed, except those of a currency that is disabled, paused, off its peg or without a price, and those whose target has too small a reserve. */
  getReady(options?: CallOptions): Promise<Ready>

  /** List the local chains: `GET /sandbox/networks`. All local chains with the URLs of their nodes. */
  listSandboxNetworks(options?: CallOptions): Promise<SandboxNetworks>

  /** Create an outside wallet: `POST /sandbox/wallets`. Creates a wallet that is not part of the service, with its private key. */
  createSandboxWallet(input: SandboxWalletBody, options?: CallOptions): Promise<SandboxWallet>

  /** Pay from the sandbox bank: `POST /sandbox/deposits`. Sends coins of the sandbox bank to an address and returns the transaction hash. */
  createSandboxDeposit(input: SandboxDepositBody, options?: CallOptions): Promise<SandboxDeposit>

  /** Balance of an address: `GET /sandbox/balance`. Reads a balance from the node of the chain. */
  getSandboxBalance(input: GetSandboxBalanceQuery, options?: CallOptions): Promise<SandboxBalance>

  /** Mine blocks: `POST /sandbox/blocks`. Mines blocks at once. One block per second is mined without this. */
  createSandboxBlocks(input: SandboxBlocksBody, options?: CallOptions): Promise<SandboxReport>

  /** Replace the latest blocks: `POST /sandbox/reorgs`. Replaces the latest blocks of a chain with a longer branch. */
  createSandboxReorg(input: SandboxReorgsBody, options?: CallOptions): Promise<SandboxReport>

  /** Pause or resume the blocks of a chain: `POST /sandbox/mining`. While mining is paused, only `/sandbox/blocks` adds blocks to the chain. */
  setSandboxMining(input: SandboxMiningBody, options?: CallOptions): Promise<SandboxReport>

  /** Set the reference price of a currency: `POST /sandbox/prices`. Fixes the reference price of every listing of a ticker, until `usd: null` lets it move again. Each process reads it twice a second. The pools of the chains do not follow it. */
  setSandboxPrice(input: SandboxPricesBody, options?: CallOptions): Promise<SandboxReport>

  /** Let an exchange expire now: `POST /sandbox/expiries`. Ends the time of an exchange for which no payment was seen, and of its fixed rate, as if it had passed. The exchange becomes `failed` with the reason `EXPIRED`, and a deposit that arrives later is refunded (`LATE_DEPOSIT`). */
  expireSandboxExchange(input: SandboxExpiryBody, options?: CallOptions): Promise<SandboxExpiry>
}
