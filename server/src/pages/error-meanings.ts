import type { ErrorCode } from '../core/domain/errors.ts'

/** Meaning and remedy of every code. Backquotes mark names. A test compares them with docs/errors.md. */
export const errorMeanings: Readonly<Record<ErrorCode, readonly [meaning: string, remedy: string]>> = {
  ADDRESS_IS_OURS: [
    'The recipient or refund address is one of our own deposit or wallet addresses, on any network',
    'Use an address of the user',
  ],
  ALLOWANCE_RESET_REQUIRED: [
    'The token does not accept a new allowance while another one is set (DeFi)',
    'Sign and send `errors[0].rawTx`, then repeat the request',
  ],
  AMOUNT_ABOVE_MAX: ['The amount is above the current maximum', 'Stay within `min` and `max` of the item'],
  AMOUNT_BELOW_MIN: ['The amount is below the current minimum', 'Stay within `min` and `max` of the item'],
  AMOUNT_MALFORMED: [
    'The amount is not a plain decimal above zero: no sign, exponent, separator or space; a point before the decimals',
    'Send text such as `0.01`',
  ],
  AMOUNT_PRECISION: [
    'The amount has more decimals than the currency',
    'Send at most the decimals of the currency; we never round',
  ],
  API_KEY_INVALID: [
    'The key is unknown, mistyped, expired or revoked, or the request has more than one',
    'Check the header `x-api-key`',
  ],
  API_KEY_MISSING: [
    'The header `x-api-key` is missing',
    'Send the key in this header; the query and the body are not read',
  ],
  APPROVAL_NOT_NEEDED: [
    'Swaps on this network need no approval (DeFi)',
    'Sign and send the one transaction of `/v1/defi/transaction/swap`',
  ],
  BODY_TOO_LARGE: ['The body is larger than 64 KiB', 'Send a smaller body'],
  CONFIRMATION_REQUIRED: [
    'The act needs a second factor of the last five minutes (admin API)',
    'Call `/admin/v1/session/confirm`, then repeat the request',
  ],
  CSRF_TOKEN_INVALID: [
    'A POST with a cookie came from another origin, or without the token of its session (admin API)',
    'Send `X-Swapyard-CSRF` with the value of `csrf` in the session',
  ],
  CURRENCY_NOT_FOUND: ['No currency with this ticker on this network', 'Use a ticker and network of the currency list'],
  EXCHANGE_NOT_FOUND: [
    'You have no exchange with this id and of this type',
    'Check the id, or use the status endpoint for all types',
  ],
  FIXED_RATE_UNSUPPORTED: ['One of the currencies has no fixed rate', 'Use the flow `standard`'],
  HEADERS_TOO_LARGE: ['The headers are larger than 16 KiB', 'Send fewer or shorter headers'],
  IDEMPOTENCY_CONFLICT: [
    'This `Idempotency-Key` was used with another body within 24 hours',
    'Use a new key for a new request',
  ],
  INSUFFICIENT_BALANCE: ['The account does not hold the amount', 'Lower the amount or fund the account'],
  INSUFFICIENT_LIQUIDITY: ['We cannot deliver this amount now', 'Lower the amount or retry later'],
  INTERNAL: [
    'An error in our program',
    'Reads: retry. Creates: retry with the same `Idempotency-Key`. If it persists, send us the `requestId`',
  ],
  INVALID_ADDRESS: ['Not a valid address on the target network; checksums count', 'Check the address and the network'],
  INVALID_REFUND_ADDRESS: [
    'Not a valid address on the source network; checksums count. For a private exchange also an address of the recipient (the same account on another EVM network, the same key on another Bitcoin-family network)',
    'Use an address on the network of the deposit. For a private exchange it must not identify the recipient',
  ],
  IP_NOT_ALLOWED: [
    'The key does not allow requests from this IP address',
    'Call from an allowed address, or ask us to change the list',
  ],
  LOGIN_FAILED: [
    'The login, the password, the second factor or the invitation is wrong (admin API)',
    'Check all of them; the answer does not say which is wrong',
  ],
  MEMO_INVALID: [
    'The memo is not valid on its network',
    "Follow the network's own rule, for example a number up to 4294967295",
  ],
  MEMO_NOT_SUPPORTED: ['The network has no memos', 'Leave the memo out; check that the network is the intended one'],
  MEMO_REQUIRED: ['The network requires a memo', 'Ask the user for it: a payment without it is lost'],
  METHOD_NOT_ALLOWED: ['The path exists, but not with this method', 'Use a method of the header `Allow`'],
  NETWORK_NOT_FOUND: ['This server has no network with this name', 'Use a network of the documentation'],
  NETWORK_NOT_SERVED: [
    'This server does not serve swaps on this network of the specification (DeFi)',
    'Use a network of `/v1/defi/networks` with `enabled: true`',
  ],
  NETWORK_PAUSED: ['The network is paused, for example for maintenance', 'Retry later'],
  NETWORK_UNAVAILABLE: [
    "The network's nodes do not answer, or do not know the transaction of a `hash` yet",
    'Retry after `Retry-After`',
  ],
  NONCE_CONFLICT: ['Another transaction of the account used the nonce (DeFi)', 'Build the transaction again'],
  NO_ROUTE: [
    'No pools connect the two tokens for this amount, or one of them is new to us and its pools are being read (DeFi)',
    'Try another amount or pair; with a `Retry-After`, retry',
  ],
  OVERLOADED: [
    'The server is overloaded, not ready, or shutting down',
    'Retry after `Retry-After`; a create with the same `Idempotency-Key`',
  ],
  PAIR_UNAVAILABLE: [
    'The pair cannot be exchanged now',
    'Use currencies with `enabled: true`. Instead of `privatePlus` use `efficient`; instead of a private exchange, a standard one',
  ],
  PARTNER_SUSPENDED: ['The partner is suspended; statuses and lists remain readable', 'Contact us'],
  PRICE_IMPACT_TOO_HIGH: [
    'The swap would move the price too far, or lose too much against reference prices (DeFi)',
    'Lower the amount, or accept the loss with maxPriceImpact',
  ],
  RATES_UNAVAILABLE: ['There are no current prices to quote from', 'Retry after `Retry-After`'],
  RATE_ID_EXPIRED: [
    'The rateId is older than 60 seconds, or the price has moved since the quote',
    'Use the fresh quote in `errors[0].requote`',
  ],
  RATE_ID_INVALID: ['We did not issue this rateId', 'Send it unchanged, as the quote returned it'],
  RATE_ID_MISMATCH: [
    'The rateId was issued for other terms: pair, networks, amount, flow or partner',
    'Create with the terms of the quote',
  ],
  RATE_ID_REQUIRED: ['A fixed rate requires a rateId', 'Request a quote with `flow=fixed-rate` first'],
  RATE_ID_USED: ['The rateId was used for another exchange', 'Request a new quote'],
  RATE_LIMIT_EXCEEDED: [
    'Too many weighted requests in a minute (status 1, quote 5, create 50), too many wrong keys from one IP address, or too many open exchanges of the partner',
    'Retry after `Retry-After`; see the header `RateLimit`',
  ],
  RAW_TX_INVALID: [
    'The signed transaction cannot be decoded, or differs from the stated members (DeFi)',
    'Sign the transaction as it was built',
  ],
  REFERRER_FEE_OUT_OF_RANGE: ['The referrer fee is not between 0 and 5 percent (DeFi)', 'Use a value in this range'],
  REFUND_ADDRESS_SET: [
    'The exchange has another refund address, or was refunded already',
    'Keep the first address; contact us if it is wrong',
  ],
  REQUEST_CLOSED: ['The act was decided, withdrawn, or has expired (admin API)', 'Ask for the act again'],
  REQUEST_TIMEOUT: ['The request did not arrive in time: headers within 10 s, all of it within 15 s', 'Send it again'],
  RESTRICTED: ['Address screening rejects the address', 'Use another address; we cannot state the reason'],
  ROLE_REQUIRED: ['Your role does not permit this (admin API)', 'Ask an operator with the role that the message names'],
  ROUTE_NOT_FOUND: ['No such path; paths are lower case, without a trailing slash', 'Check the path'],
  SAME_CURRENCY: ['Source and target currency are the same', 'Choose two different currencies'],
  SCOPE_REQUIRED: ["The key lacks the scope in the item's `scope`", 'Use a key with this scope'],
  SECOND_PERSON_REQUIRED: [
    'The operator who asked for an act cannot approve it (admin API)',
    'Another operator must approve it',
  ],
  SESSION_REQUIRED: ['There is no session, or it has ended (admin API)', 'Log in'],
  SIMULATION_FAILED: [
    'The transaction would fail on chain, or would not pay what was quoted (DeFi)',
    'See the reason in the item',
  ],
  SLIPPAGE_OUT_OF_RANGE: ['The slippage is not between 0.01 and 50 percent (DeFi)', 'Use a value in this range'],
  TOKEN_NOT_FOUND: ['No token at this address (DeFi)', 'Check address and network'],
  TX_CHAIN_MISMATCH: ['The transaction is signed for another chain (DeFi)', 'Sign for the network of the request'],
  UNSUPPORTED_MEDIA_TYPE: [
    'The body is not `application/json`, has another charset than UTF-8, or is compressed',
    'Send uncompressed UTF-8 JSON',
  ],
  URI_TOO_LONG: ['The URL is longer than 8 KiB', 'Shorten the query'],
  VALIDATION_ERROR: [
    'A member is missing, has a wrong type or a value that is not allowed, or the request is not valid HTTP',
    'See every item of `errors`',
  ],
}
