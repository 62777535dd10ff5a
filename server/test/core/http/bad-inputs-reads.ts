import { deepEqual, equal, ok } from 'node:assert/strict'
import type { ExchangeType } from '../../../src/exchange/domain/exchange.ts'
import { present } from '../../../src/lib/assert.ts'
import { goodOrder, type TestApp } from './app-for-tests.ts'
import { type Answer, type BadInput, inTheApp, json, key, requestList, requestStatus } from './bad-input-case.ts'

/** Creates an exchange as the partner of `apiKey` and returns its id. */
async function createExchange(
  { app, services }: TestApp,
  apiKey = 'sandbox',
  type: ExchangeType = 'standard',
): Promise<string> {
  const headers = { ...json, 'x-api-key': apiKey }
  const answer = await app.inject({ method: 'POST', url: '/v1/cross-chain/exchange', headers, payload: goodOrder })
  const row = present(services.rows[0], 'the new row')
  row.view = { ...row.view, exchange: { ...row.view.exchange, type } }
  return answer.json().id
}

function readTotals(answers: readonly Answer[]): number[] {
  return answers.map(({ body }) => JSON.parse(body).total)
}

/** Status, list, currencies, feed: B102 to B119. */
export const reads: readonly BadInput[] = [
  { id: 'B102', requests: requestStatus('', 'id='), status: [400], codes: ['VALIDATION_ERROR'] },
  {
    id: 'B103',
    requests: requestStatus('id=abc', 'id=1', "id=' or 1=1", 'id=%00'),
    status: [404],
    codes: ['EXCHANGE_NOT_FOUND'],
  },
  {
    id: 'B104',
    requests: async (scenario) =>
      requestStatus(`id=${await createExchange(scenario, 'sandbox-b')}`, 'id=0198c5a2-7c1e-7b3a-9f0d-2f6f1c0a9b7e'),
    status: [404],
    codes: ['EXCHANGE_NOT_FOUND'],
    // The same bytes as for an unknown id, except for the request id.
    also: ([otherPartner, unknown]) => {
      const removeRequestId = (answer: Answer | undefined) => ({ ...JSON.parse(answer?.body ?? ''), requestId: '' })
      deepEqual(removeRequestId(otherPartner), removeRequestId(unknown))
    },
  },
  {
    id: 'B105',
    requests: async (scenario) => {
      const id = await createExchange(scenario, 'sandbox', 'private')
      return [{ url: `/v1/cross-chain/exchange/status/standard?id=${id}`, headers: key }]
    },
    status: [404],
    codes: ['EXCHANGE_NOT_FOUND'],
  },
  {
    id: 'B106',
    requests: async (scenario) => {
      const id = await createExchange(scenario)
      return [{ url: `/v1/cross-chain/exchange/status/private?id=${id}`, headers: key }]
    },
    status: [404],
    codes: ['EXCHANGE_NOT_FOUND'],
  },
  { id: 'B107', elsewhere: inTheApp },
  { id: 'B108', requests: requestStatus('id=a&id=b'), status: [400], codes: ['VALIDATION_ERROR'] },
  {
    id: 'B109',
    requests: requestList('status=done'),
    status: [400],
    codes: ['VALIDATION_ERROR'],
    also: ([answer]) => {
      const [{ allowed }] = JSON.parse(answer?.body ?? '').errors
      ok(allowed.includes('pending') && allowed.includes('refunded'))
    },
  },
  { id: 'B110', requests: requestList('exchangeType=STANDARD'), status: [400], codes: ['VALIDATION_ERROR'] },
  {
    id: 'B111',
    requests: async (scenario) => {
      await createExchange(scenario)
      await createExchange(scenario, 'sandbox-b')
      return requestList('partnerId=p2', 'created[gte]=1970')
    },
    status: [200],
    also: (answers) => deepEqual(readTotals(answers), [1, 1]),
  },
  {
    id: 'B112',
    requests: async (scenario) => {
      await createExchange(scenario)
      return requestList(
        `fromCurrency=${encodeURIComponent("btc' UNION SELECT 1")}`,
        'fromCurrency=%00',
        'toNetwork=zzz',
      )
    },
    status: [200],
    also: (answers) => deepEqual(readTotals(answers), [0, 0, 0]),
  },
  {
    id: 'B113',
    requests: async (scenario) => {
      await createExchange(scenario)
      scenario.services.advance(24 * 3_600_000 + 1_000)
      return requestList('')
    },
    status: [200],
    also: (answers) => deepEqual(readTotals(answers), [0]),
  },
  { id: 'B114', elsewhere: inTheApp },
  { id: 'B115', elsewhere: 'server/test/exchange/api/list.test.ts' },
  {
    id: 'B116',
    requests: [{ url: '/v1/cross-chain/available-currencies?nonsense=1&network[$ne]=x', headers: key }],
    status: [200],
    also: ([answer]) => equal(JSON.parse(answer?.body ?? '').length, 5),
  },
  {
    id: 'B117',
    requests: [{ url: '/v1/rates', headers: { accept: 'application/json' } }],
    status: [200],
    also: ([answer]) => ok(answer?.headers['content-type']?.startsWith('application/xml')),
  },
  { id: 'B118', elsewhere: 'server/src/exchange/domain/feed.test.ts' },
  { id: 'B119', elsewhere: 'server/test/core/http/throttle.test.ts' },
]
