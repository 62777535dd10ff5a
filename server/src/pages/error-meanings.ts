import type { ErrorCode } from '../core/domain/errors.ts'

/** Meaning and remedy of every code. Backquotes mark names. A test compares them with docs/errors.md. */
export const errorMeanings: Readonly<Record<ErrorCode, readonly [meaning: string, remedy: string]>> = {
  ADDRESS_IS_OURS: [
    'The recipient or refund address is one of our own deposit or wallet addresses, on whichever network',
    'Use an address of the user',
  ],
  ALLOWANCE_RESET_REQUIRED: [
    'The token refuses a new allowance while an old one stands (DeFi)',
    'Sign and send `errors[0].rawTx`, then ask again',
  ],
  AMOUNT_ABOVE_MAX: ['The amount is above the maximum of now', 'Stay within `min` and `max` of the item'],
  AMOUNT_BELOW_MIN: ['The amount is below the minimum of now', 'Stay within `min` and `max` of the item'],
  AMOUNT_MALFORMED: [
    'Not a plain decimal above zero: no sign, exponent, separator or space; a point for the fraction',
    'Send text such as `0.01`',
  ],
  AMOUNT_PRECISION: ['More decimals than the currency has', 'Cut to its decimals; we never round for you'],
  API_KEY_INVALID: [
    'The key is unknown, mistyped, expired or revoked, or more than one was sent',
    'Check the header `x-api-key`',
  ],
  API_KEY_MISSING: ['No key in the header `x-api-key`', 'Send it there; it is never read from the query or the body'],
  BODY_TOO_LARGE: ['The body is larger than 64 KiB', 'Send less'],
  CURRENCY_NOT_FOUND: [
    'There is no such ticker on that network',
    'Take ticker and network from the list of currencies',
  ],
  EXCHANGE_NOT_FOUND: [
    'There is no exchange of yours with this id and of this kind',
    'Check the id; use the status endpoint of any kind',
  ],
  FIXED_RATE_UNSUPPORTED: ['One of the currencies has no fixed rates', 'Use the flow `standard`'],
  HEADERS_TOO_LARGE: ['The headers are larger than 16 KiB', 'Send fewer'],
  IDEMPOTENCY_CONFLICT: [
    'This `Idempotency-Key` was used with another body within 24 hours',
    'Use a new key for a new request',
  ],
  INSUFFICIENT_BALANCE: ['The account does not hold the amount', 'Lower the amount or fund the account'],
  INSUFFICIENT_LIQUIDITY: ['Not deliverable in this size now', 'Ask for less, or later'],
  INTERNAL: ['A fault of ours', 'Repeat as above; tell us the `requestId` if it stays'],
  INVALID_ADDRESS: ['No address of the target network, by its own checksum', 'Check the address and the network'],
  INVALID_REFUND_ADDRESS: [
    "No address of the source network, by its own checksum; of a private exchange also the recipient's own one (the same account on another EVM network, the same key on another network of bitcoin's family)",
    'A refund goes back on the network that the deposit came from. Of a private exchange it goes to somebody whom nobody takes for the recipient',
  ],
  IP_NOT_ALLOWED: ['The key may not be used from this address', 'Call from a listed address, or have the list changed'],
  MEMO_INVALID: [
    'The memo breaks the rule of its network',
    "See the network's own rule, for example a number up to 4294967295",
  ],
  MEMO_NOT_SUPPORTED: ['The currency has no memos', 'Leave it out; check that the network is the one you mean'],
  MEMO_REQUIRED: ['The currency demands a memo', 'Ask the user for it: money sent without it is lost'],
  METHOD_NOT_ALLOWED: ['The path exists, the method does not', 'See the header `Allow`'],
  NETWORK_NOT_FOUND: ['There is no such network here', 'Take it from the documentation'],
  NETWORK_PAUSED: ['The network is held, for example for maintenance', 'Later'],
  NETWORK_UNAVAILABLE: ["The network's nodes do not answer", 'Later'],
  NONCE_CONFLICT: ['Another transaction of the account took the nonce (DeFi)', 'Build the transaction again'],
  NO_ROUTE: [
    'No pools connect the two tokens in this size, or one of them is met for the first time and being read (DeFi)',
    'Another size or pair; once more where there is a `Retry-After`',
  ],
  OVERLOADED: [
    'The server has too much to do, is not ready, or is shutting down',
    'After `Retry-After`; a create with the same `Idempotency-Key`',
  ],
  PAIR_UNAVAILABLE: [
    'The pair cannot be exchanged now',
    'Use currencies with `enabled: true`; in place of a private exchange `efficient`, or a standard one',
  ],
  PARTNER_SUSPENDED: ['The partner is suspended; statuses and lists can still be read', 'Talk to us'],
  PRICE_IMPACT_TOO_HIGH: ['The swap would move the price too far (DeFi)', 'Ask for less'],
  RATES_UNAVAILABLE: ['There are no prices young enough to quote from', 'After `Retry-After`'],
  RATE_ID_EXPIRED: ['The rateId is older than 60 seconds', 'A fresh quote is in `errors[0].requote`'],
  RATE_ID_INVALID: ['The rateId is none of ours', 'Use it as it was given'],
  RATE_ID_MISMATCH: [
    'The rateId was given for other terms: pair, networks, amount, flow or partner',
    'Create with what was quoted',
  ],
  RATE_ID_REQUIRED: ['A fixed rate needs a rateId', 'Quote with `flow=fixed-rate` first'],
  RATE_ID_USED: ['The rateId made another exchange already', 'Quote again'],
  RATE_LIMIT_EXCEEDED: [
    'More weighted requests than the minute allows (status 1, quote 5, create 50), too many wrong keys from one address, or as many open exchanges as the partner may have',
    'After `Retry-After`; see the header `RateLimit`',
  ],
  RAW_TX_INVALID: ['The signed transaction cannot be read or does not do what was said (DeFi)', 'Sign what was built'],
  REFERRER_FEE_OUT_OF_RANGE: ['The referrer fee is not between 0 and 5 percent (DeFi)', 'Correct it'],
  REQUEST_TIMEOUT: ['The request did not arrive in time: headers 10 s, all of it 15 s', 'Send it again'],
  RESTRICTED: ['Screening refuses the address', 'Another address; we cannot say why'],
  ROUTE_NOT_FOUND: ['There is no such path; paths are lower case, without a slash at the end', 'Check the path'],
  SAME_CURRENCY: ['Both sides are the same', 'Choose two'],
  SCOPE_REQUIRED: ["The key lacks the scope in the item's `scope`", 'Use a key that has it'],
  SIMULATION_FAILED: ['The transaction would fail on chain (DeFi)', 'See the reason in the item'],
  SLIPPAGE_OUT_OF_RANGE: ['The slippage is not between 0.01 and 50 percent (DeFi)', 'Correct it'],
  TOKEN_NOT_FOUND: ['There is no token at this address (DeFi)', 'Check address and network'],
  TX_CHAIN_MISMATCH: ['The transaction is signed for another chain (DeFi)', 'Sign for the network that is named'],
  UNSUPPORTED_MEDIA_TYPE: [
    'The body is not `application/json`, names another charset than UTF-8, or is compressed',
    'Send plain UTF-8 JSON',
  ],
  URI_TOO_LONG: ['The URL is longer than 8 KiB', 'Shorten the query'],
  VALIDATION_ERROR: [
    'Something is missing, of the wrong type, or not among the allowed words; or not valid HTTP at all',
    'See every item of `errors`',
  ],
}
