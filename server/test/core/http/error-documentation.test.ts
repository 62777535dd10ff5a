import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { adminErrorCodeNames } from '@swapyard/schema'
import { describe, expect, test } from 'vitest'
import { type ErrorCode, errorCodes } from '../../../src/core/domain/errors.ts'
import { statusOf } from '../../../src/core/http/errors.ts'

const page = readFileSync(new URL('../../../../docs/errors.md', import.meta.url), 'utf8')
const rows = [...page.matchAll(/^\| ([A-Z_]+) \| (\d{3}) \| (.+) \| (.+) \|$/gm)].map(
  ([, code = '', status, meaning = '']) => ({ code, status: Number(status), meaning }),
)

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

describe('codes of operators', () => {
  const source = fileURLToPath(new URL('../../../src/', import.meta.url))
  // Called by the admin API and the command line alone.
  const OPERATOR_CODE = /^(admin\/|cli\/|core\/services\/audit-note\.ts$)/
  const files = globSync('**/*.ts', { cwd: source })
    .filter((path) => !path.endsWith('.test.ts') && path !== 'core/domain/errors.ts')
    .map((path) => ({ path, text: readFileSync(`${source}${path}`, 'utf8') }))
  const names = (code: string) => (file: { text: string }) => new RegExp(`\\b${code}\\b`).test(file.text)

  test('are those that no code for partners names', () => {
    const partnerFiles = files.filter(({ path }) => !OPERATOR_CODE.test(path))
    const unnamed = Object.keys(errorCodes).filter((code) => !partnerFiles.some(names(code)))
    expect(unnamed.toSorted()).toEqual([...adminErrorCodeNames])
    for (const code of adminErrorCodeNames) expect([code, files.some(names(code))]).toEqual([code, true])
  })

  test('are marked in docs/errors.md', () => {
    const marked = rows.filter(({ meaning }) => meaning.includes('(admin API)'))
    expect(marked.map(({ code }) => code)).toEqual([...adminErrorCodeNames])
  })
})

describe('error codes', () => {
  test.each(Object.entries(codesByStatus))('have the decided status %s', (status, codes) => {
    for (const code of codes.split(' ')) expect([code, statusOf(code as ErrorCode)]).toEqual([code, Number(status)])
  })
})
