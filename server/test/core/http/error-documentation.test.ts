import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type ErrorCode, errorCodes } from '../../../src/core/domain/errors.ts'
import { statusOf } from '../../../src/core/http/errors.ts'

const page = readFileSync(new URL('../../../../docs/errors.md', import.meta.url), 'utf8')
const rows = [...page.matchAll(/^\| ([A-Z_]+) \| (\d{3}) \| (.+) \| (.+) \|$/gm)].map(([, code = '', status]) => ({
  code,
  status: Number(status),
}))

/** Codes by status, as decided for the interface. */
const codesByStatus: Readonly<Record<number, string>> = {
  400: 'VALIDATION_ERROR AMOUNT_MALFORMED AMOUNT_PRECISION INVALID_ADDRESS INVALID_REFUND_ADDRESS ADDRESS_IS_OURS MEMO_REQUIRED MEMO_NOT_SUPPORTED MEMO_INVALID SAME_CURRENCY RATE_ID_REQUIRED RATE_ID_INVALID RATE_ID_MISMATCH SLIPPAGE_OUT_OF_RANGE REFERRER_FEE_OUT_OF_RANGE RAW_TX_INVALID TX_CHAIN_MISMATCH',
  401: 'API_KEY_MISSING API_KEY_INVALID',
  403: 'SCOPE_REQUIRED IP_NOT_ALLOWED PARTNER_SUSPENDED',
  404: 'EXCHANGE_NOT_FOUND CURRENCY_NOT_FOUND NETWORK_NOT_FOUND TOKEN_NOT_FOUND ROUTE_NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  408: 'REQUEST_TIMEOUT',
  409: 'IDEMPOTENCY_CONFLICT RATE_ID_USED ALLOWANCE_RESET_REQUIRED NONCE_CONFLICT',
  410: 'RATE_ID_EXPIRED',
  413: 'BODY_TOO_LARGE',
  414: 'URI_TOO_LONG',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'AMOUNT_BELOW_MIN AMOUNT_ABOVE_MAX PAIR_UNAVAILABLE FIXED_RATE_UNSUPPORTED NO_ROUTE PRICE_IMPACT_TOO_HIGH INSUFFICIENT_LIQUIDITY INSUFFICIENT_BALANCE SIMULATION_FAILED NETWORK_NOT_SERVED',
  429: 'RATE_LIMIT_EXCEEDED',
  431: 'HEADERS_TOO_LARGE',
  451: 'RESTRICTED',
  500: 'INTERNAL',
  503: 'RATES_UNAVAILABLE NETWORK_PAUSED NETWORK_UNAVAILABLE OVERLOADED',
}

describe('docs/errors.md', () => {
  test('lists every code once, sorted, with its status', () => {
    const codes = Object.keys(errorCodes) as ErrorCode[]
    expect(rows.map(({ code, status }) => [code, status])).toEqual(
      codes.toSorted().map((code) => [code, statusOf(code)]),
    )
  })
})

describe('error codes', () => {
  test.each(Object.entries(codesByStatus))('have the decided status %s', (status, codes) => {
    for (const code of codes.split(' ')) expect([code, statusOf(code as ErrorCode)]).toEqual([code, Number(status)])
  })
})
