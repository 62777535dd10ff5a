import { deepEqual, equal, ok } from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { goodOrder } from './app-for-tests.ts'
import {
  type BadInput,
  inTheApp,
  json,
  key,
  keyedRoutes,
  requestCreate,
  requestKeyedRoutes,
  requestRawCreate,
} from './bad-input-case.ts'

const goodBody = JSON.stringify(goodOrder)
const head =
  'POST /v1/cross-chain/exchange HTTP/1.1\r\nHost: x\r\nx-api-key: sandbox\r\nContent-Type: application/json\r\n'

/** Keys, methods, paths, bodies: B001 to B033. */
export const framing: readonly BadInput[] = [
  { id: 'B001', requests: requestKeyedRoutes({}), status: [401], codes: ['API_KEY_MISSING'] },
  {
    id: 'B002',
    requests: [...requestKeyedRoutes({ 'x-api-key': '' }), ...requestKeyedRoutes({ 'x-api-key': ' ' })],
    status: [401],
    codes: ['API_KEY_MISSING'],
  },
  { id: 'B003', elsewhere: inTheApp },
  { id: 'B004', elsewhere: inTheApp },
  { id: 'B005', elsewhere: inTheApp },
  {
    id: 'B006',
    requests: requestKeyedRoutes({ 'x-api-key': 'suspended' }),
    status: [403, 404, 200],
    codes: ['PARTNER_SUSPENDED', 'EXCHANGE_NOT_FOUND'],
    // Currencies, rate and create are refused. Both status routes and the list still answer.
    also: (answers) =>
      deepEqual(
        answers.map(({ status }) => status),
        [403, 403, 404, 404, 200, 403],
      ),
  },
  {
    id: 'B007',
    requests: requestCreate({}).map((sent) => ({ ...sent, headers: { ...json, 'x-api-key': 'read-only' } })),
    status: [403],
    codes: ['SCOPE_REQUIRED'],
  },
  {
    id: 'B008',
    requests: requestKeyedRoutes({
      'x-api-key': 'far-away',
      'x-forwarded-for': '192.0.2.1',
      forwarded: 'for=192.0.2.1',
    }),
    status: [403],
    codes: ['IP_NOT_ALLOWED'],
  },
  {
    id: 'B009',
    bytes: [
      'GET /v1/cross-chain/exchange/list HTTP/1.1\r\nHost: x\r\nConnection: close\r\nx-api-key: sandbox\r\nx-api-key: sandbox\r\n\r\n',
    ],
    status: [401],
    codes: ['API_KEY_INVALID'],
  },
  {
    id: 'B010',
    requests: [
      { url: '/v1/cross-chain/exchange/list?x-api-key=sandbox&api_key=sandbox' },
      {
        method: 'POST',
        url: '/v1/cross-chain/exchange',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...goodOrder, 'x-api-key': 'sandbox' }),
      },
    ],
    status: [401],
    codes: ['API_KEY_MISSING'],
    also: (_answers, { lines }) =>
      ok(!JSON.stringify(lines).includes('sandbox'), 'the log contains a key from the query'),
  },
  {
    id: 'B011',
    bytes: [`GET /v1/cross-chain/exchange/list HTTP/1.1\r\nHost: x\r\nx-api-key: ${'k'.repeat(1024 * 1024)}\r\n\r\n`],
    status: [431],
    codes: ['HEADERS_TOO_LARGE'],
  },
  {
    id: 'B012',
    bytes: [
      'GET /v1/cross-chain/exchange/list HTTP/1.1\r\nHost: x\r\nx-api-key: \u0000abc\r\n\r\n',
      'GET /v1/cross-chain/exchange/list HTTP/1.1\r\nHost: x\r\nx-api-key: a\rb\r\n\r\n',
    ],
    status: [400],
    codes: ['VALIDATION_ERROR'],
  },
  {
    id: 'B013',
    requests: requestKeyedRoutes({ 'x-api-key': "' OR 1=1--" }),
    status: [401],
    codes: ['API_KEY_INVALID'],
  },
  {
    id: 'B014',
    requests: [
      { url: '/v1/rates', headers: { 'x-api-key': 'no-such-key' } },
      { url: '/v1/rates', headers: { 'x-api-key': 'a,b' } },
    ],
    status: [200],
    also: (answers) => ok(answers.every(({ body }) => body.startsWith('<?xml'))),
  },
  {
    id: 'B015',
    requests: [
      {
        method: 'POST',
        url: '/v1/cross-chain/exchange',
        headers: { ...key, 'content-type': 'text/plain' },
        body: goodBody,
      },
    ],
    status: [415],
    codes: ['UNSUPPORTED_MEDIA_TYPE'],
  },
  { id: 'B016', requests: requestRawCreate(''), status: [400], codes: ['VALIDATION_ERROR'] },
  { id: 'B017', requests: requestRawCreate('{"fromCurrency":"btc"'), status: [400], codes: ['VALIDATION_ERROR'] },
  {
    id: 'B018',
    requests: requestRawCreate('[]', '"x"', '1', 'null', 'true'),
    status: [400],
    codes: ['VALIDATION_ERROR'],
  },
  {
    id: 'B019',
    requests: requestRawCreate(JSON.stringify({ ...goodOrder, pad: 'x'.repeat(2 * 1024 * 1024) })),
    status: [413],
    codes: ['BODY_TOO_LARGE'],
  },
  {
    id: 'B020',
    requests: requestRawCreate(
      '{"a":'.repeat(100_000),
      `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
      '['.repeat(60_000),
    ),
    status: [400, 413],
    codes: ['VALIDATION_ERROR', 'BODY_TOO_LARGE'],
  },
  {
    id: 'B021',
    requests: requestRawCreate(goodBody.replace('{', '{"__proto__":{"isAdmin":true},')),
    status: [400],
    codes: ['VALIDATION_ERROR'],
  },
  {
    id: 'B022',
    requests: requestRawCreate(goodBody.replace('{', '{"constructor":{"prototype":{"x":1}},')),
    status: [400],
    codes: ['VALIDATION_ERROR'],
  },
  {
    id: 'B023',
    // The last value of a repeated member counts, in the request and in its hash. The first body equals the second.
    requests: requestRawCreate(goodBody.replace('{', '{"fromAmount":"999",'), goodBody).map((sent) => ({
      ...sent,
      headers: { ...json, 'idempotency-key': 'B023' },
    })),
    status: [201],
    also: ([first, second]) => equal(first?.body, second?.body),
  },
  {
    id: 'B024',
    requests: [
      {
        method: 'POST',
        url: '/v1/cross-chain/exchange',
        headers: { ...json, 'content-encoding': 'gzip' },
        body: gzipSync(Buffer.alloc(10_000_000)),
      },
    ],
    status: [415],
    codes: ['UNSUPPORTED_MEDIA_TYPE'],
  },
  {
    id: 'B025',
    bytes: [`${head}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n`],
    status: [400],
    codes: ['VALIDATION_ERROR'],
  },
  { id: 'B026', bytes: [`${head}Content-Length: 100\r\n\r\n{`], status: [408], codes: ['REQUEST_TIMEOUT'] },
  {
    id: 'B027',
    bytes: [`${head}Expect: 100-continue\r\nContent-Length: 100\r\n\r\n`],
    status: [408],
    codes: ['REQUEST_TIMEOUT'],
  },
  {
    id: 'B028',
    requests: requestRawCreate(
      Buffer.from(goodBody, 'utf16le'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from(goodBody.replace('btc', 'b\xff'), 'latin1'),
    ),
    status: [400],
    codes: ['VALIDATION_ERROR'],
  },
  {
    id: 'B029',
    requests: keyedRoutes.flatMap(({ url }) =>
      (['DELETE', 'PUT', 'TRACE'] as const).map((method) => ({ method, url, headers: key })),
    ),
    status: [404, 405],
    codes: ['ROUTE_NOT_FOUND', 'METHOD_NOT_ALLOWED'],
    also: (answers) =>
      ok(answers.every(({ status, headers: { allow = '' } }) => status !== 405 || /^(GET|POST)/.test(allow))),
  },
  {
    id: 'B030',
    requests: [
      '//v1//rates',
      '/v1//rates',
      '/v1/%2e%2e/admin',
      '/v1/rates/',
      '/V1/rates',
      '/v1/RATES',
      '/v1/cross-chain/rate/',
    ].map((url) => ({ url, headers: key })),
    status: [404],
    codes: ['ROUTE_NOT_FOUND'],
  },
  {
    id: 'B031',
    requests: requestKeyedRoutes(key).map((sent) => ({
      ...sent,
      url: `${sent.url.split('?')[0]}?q=${'x'.repeat(10_000)}`,
    })),
    status: [414],
    codes: ['URI_TOO_LONG'],
  },
  {
    id: 'B032',
    requests: [
      {
        url: '/v1/cross-chain/rate?fromCurrency=btc&fromCurrency=eth&fromNetwork=btc&toCurrency=usdt&toNetwork=eth',
        headers: key,
      },
      { url: '/v1/cross-chain/exchange/list?fromNetwork=eth&fromNetwork=bsc', headers: key },
      { url: '/v1/cross-chain/exchange/list?page=1&page=2', headers: key },
    ],
    status: [400],
    codes: ['VALIDATION_ERROR'],
  },
  {
    id: 'B033',
    requests: ['fromNetwork[$ne]=x', 'fromNetwork[]=eth', 'fromNetwork%5B%5D=eth'].map((query) => ({
      url: `/v1/cross-chain/exchange/list?${query}`,
      headers: key,
    })),
    status: [400],
    codes: ['VALIDATION_ERROR'],
  },
]
