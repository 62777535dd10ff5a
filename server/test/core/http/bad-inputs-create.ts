import { deepEqual, equal, ok } from 'node:assert/strict'
import { goodOrder, type TestApp } from './app-for-tests.ts'
import {
  type Answer,
  type BadInput,
  inTheApp,
  inUnserved,
  json,
  noAdapter,
  requestCreate,
  requestPrivateCreate,
  requestRate,
  type Sent,
} from './bad-input-case.ts'

const sanctioned = '0x000000000000000000000000000000000000dEaD'
const toXrp = { toCurrency: 'xrp', toNetwork: 'xrp', address: 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh' }

/** Fetches a rateId for the good order as the partner of `apiKey`. */
async function fetchRateId({ app }: TestApp, flow = 'standard', apiKey = 'sandbox'): Promise<string> {
  const [sent] = requestRate({ flow })
  const answer = await app.inject({ url: sent?.url ?? '', headers: { 'x-api-key': apiKey } })
  return answer.json().rateId
}

function repeatRequests(sent: readonly Sent[], times: number): Sent[] {
  return Array.from({ length: times }, () => sent).flat()
}

function addIdempotencyKey(idempotencyKey: string, sent: readonly Sent[]): Sent[] {
  return sent.map((one) => ({ ...one, headers: { ...json, 'idempotency-key': idempotencyKey } }))
}

const expectNoRow = (_answers: readonly Answer[], { services }: TestApp) => equal(services.rows.length, 0)

/** Amounts and rateIds of a create: B055 to B069. */
export const createTerms: readonly BadInput[] = [
  {
    id: 'B055',
    requests: requestCreate({ fromAmount: 0.1 }),
    status: [400],
    codes: ['VALIDATION_ERROR'],
    also: expectNoRow,
  },
  {
    id: 'B056',
    requests: requestCreate(...['0.1 ', '+0.1', '.1', '1.', ''].map((fromAmount) => ({ fromAmount }))),
    status: [400],
    codes: ['VALIDATION_ERROR'],
    also: expectNoRow,
  },
  { id: 'B057', requests: requestCreate({ fromAmount: '1e400' }), status: [400], codes: ['VALIDATION_ERROR'] },
  {
    id: 'B058',
    requests: requestCreate({ fromAmount: '9'.repeat(32) }),
    status: [422],
    codes: ['AMOUNT_ABOVE_MAX'],
    also: expectNoRow,
  },
  {
    id: 'B059',
    requests: requestCreate({ fromAmount: '0.00000001' }),
    status: [422],
    codes: ['AMOUNT_BELOW_MIN'],
    also: ([answer], scenario) => {
      const [problem] = JSON.parse(answer?.body ?? '').errors
      equal(typeof problem.min, 'string')
      equal(typeof problem.max, 'string')
      deepEqual([problem.currency, problem.network], ['btc', 'btc'])
      expectNoRow([], scenario)
    },
  },
  {
    id: 'B060',
    requests: requestCreate({ flow: undefined }, { flow: 'fixed' }, { flow: null }),
    status: [400],
    codes: ['VALIDATION_ERROR'],
  },
  { id: 'B061', requests: requestCreate({ flow: 'fixed-rate' }), status: [400], codes: ['RATE_ID_REQUIRED'] },
  {
    id: 'B062',
    requests: async (scenario) => {
      const rateId = await fetchRateId(scenario)
      scenario.services.advance(61_000)
      return requestCreate({ rateId })
    },
    status: [410],
    codes: ['RATE_ID_EXPIRED'],
    // The requote has the wire format of a rate response.
    also: ([answer]) => {
      const { requote } = JSON.parse(answer?.body ?? '').errors[0]
      equal(requote.fromAmount, 0.01)
      equal(typeof requote.rateId, 'string')
    },
  },
  { id: 'B063', elsewhere: inTheApp },
  {
    id: 'B064',
    requests: async (scenario) => {
      const rateId = await fetchRateId(scenario)
      await scenario.app.inject({
        method: 'POST',
        url: '/v1/cross-chain/exchange',
        headers: json,
        payload: { ...goodOrder, rateId },
      })
      return requestCreate({ rateId })
    },
    status: [409],
    codes: ['RATE_ID_USED'],
  },
  { id: 'B065', elsewhere: 'test/scenarios/concurrent-rate-id.test.ts' },
  {
    id: 'B066',
    requests: async (scenario) => requestCreate({ rateId: await fetchRateId(scenario, 'standard', 'sandbox-b') }),
    status: [400],
    codes: ['RATE_ID_MISMATCH'],
  },
  {
    id: 'B067',
    requests: async (scenario) => {
      const rateId = await fetchRateId(scenario, 'fixed-rate')
      return requestCreate(
        { rateId },
        { rateId, flow: 'fixed-rate', fromAmount: '0.02' },
        { rateId, flow: 'fixed-rate', toCurrency: 'eth' },
      )
    },
    status: [400],
    codes: ['RATE_ID_MISMATCH'],
  },
  {
    id: 'B068',
    requests: requestCreate({ rateId: 'not-a-uuid' }, { rateId: {} }, { rateId: [] }, { rateId: 1 }),
    status: [400],
    codes: ['VALIDATION_ERROR', 'RATE_ID_INVALID'],
  },
  {
    id: 'B069',
    requests: requestCreate({ address: undefined }),
    status: [201],
    also: ([answer]) => equal(JSON.parse(answer?.body ?? '').request.recipientAddress, ''),
  },
]

/** Addresses, memos and repeated requests: B070 to B101. */
export const createDestinations: readonly BadInput[] = [
  { id: 'B070', elsewhere: inTheApp },
  { id: 'B071', elsewhere: inTheApp },
  { id: 'B072', elsewhere: inTheApp },
  { id: 'B073', elsewhere: inTheApp },
  { id: 'B074', elsewhere: inTheApp },
  { id: 'B075', elsewhere: inTheApp },
  { id: 'B076', elsewhere: 'server/src/adapters/chains/monero/address.test.ts' },
  { id: 'B077', elsewhere: inUnserved, ...noAdapter('solana') },
  { id: 'B078', elsewhere: inUnserved, ...noAdapter('sui') },
  { id: 'B079', elsewhere: inTheApp },
  {
    id: 'B080',
    requests: requestCreate({ address: sanctioned }),
    status: [451],
    codes: ['RESTRICTED'],
    also: expectNoRow,
  },
  {
    id: 'B081',
    // An empty address counts as absent: optional-members.test.ts.
    requests: requestCreate(
      ...['\u200b', '\u202e', '\ufeff', '\u0430'].map((odd) => ({ address: odd + goodOrder.address })),
    ),
    status: [400],
    codes: ['INVALID_ADDRESS'],
  },
  {
    id: 'B082',
    requests: requestCreate({ address: 'a'.repeat(64 * 1024) }),
    status: [400],
    codes: ['VALIDATION_ERROR'],
  },
  {
    id: 'B083',
    requests: requestCreate({ address: `${'a'.repeat(50_000)}!` }),
    status: [400],
    codes: ['VALIDATION_ERROR'],
  },
  { id: 'B084', requests: requestCreate(toXrp), status: [400], codes: ['MEMO_REQUIRED'] },
  { id: 'B085', requests: requestCreate({ memo: '1' }), status: [400], codes: ['MEMO_NOT_SUPPORTED'] },
  {
    id: 'B086',
    requests: requestCreate(...['-1', '1.5', '007', '0x1'].map((memo) => ({ ...toXrp, memo }))),
    status: [400],
    codes: ['MEMO_INVALID'],
  },
  { id: 'B087', elsewhere: inUnserved, ...noAdapter('ripple') },
  { id: 'B088', elsewhere: inUnserved, ...noAdapter('stellar') },
  {
    id: 'B089',
    // The HTTP layer passes the memo unchanged. The rule of the network rejects it.
    requests: requestCreate(...['a\nb', '\u0000', 'm'.repeat(5 * 1024)].map((memo) => ({ ...toXrp, memo }))),
    status: [400],
    codes: ['MEMO_INVALID'],
  },
  {
    id: 'B090',
    requests: requestCreate({ refundMemo: '1' }),
    status: [400],
    codes: ['VALIDATION_ERROR'],
    also: expectNoRow,
  },
  {
    id: 'B091',
    requests: requestCreate({ refundAddress: goodOrder.address }),
    status: [400],
    codes: ['INVALID_REFUND_ADDRESS'],
  },
  {
    id: 'B092',
    requests: [
      ...requestCreate({ status: 'finished', partnerId: 2, id: 'mine', depositAddress: 'mine' }),
      ...requestCreate({ status: 'finished', partnerId: 2 }).map((sent) => ({
        ...sent,
        headers: { ...json, 'x-api-key': 'strict' },
      })),
    ],
    status: [201, 400],
    codes: ['VALIDATION_ERROR'],
    also: ([ignored, strict], { services }) => {
      const created = JSON.parse(ignored?.body ?? '')
      equal(created.status, 'pending')
      ok(created.id !== 'mine' && created.request.depositAddress !== 'mine')
      equal(services.rows[0]?.partnerId, 'p1')
      const fields = JSON.parse(strict?.body ?? '').errors.map(({ field }: { field: string }) => field)
      deepEqual(fields, ['status', 'partnerId'])
    },
  },
  {
    id: 'B093',
    requests: addIdempotencyKey('B093', repeatRequests(requestCreate({}), 20)),
    status: [201],
    also: (answers, { services }) => {
      equal(new Set(answers.map(({ body }) => body)).size, 1)
      equal(services.rows.length, 1)
    },
  },
  {
    id: 'B094',
    requests: async ({ app }) => {
      await app.inject({
        method: 'POST',
        url: '/v1/cross-chain/exchange',
        headers: { ...json, 'idempotency-key': 'B094' },
        payload: goodOrder,
      })
      return addIdempotencyKey('B094', requestCreate({ fromAmount: '0.02' }))
    },
    status: [409],
    codes: ['IDEMPOTENCY_CONFLICT'],
  },
  {
    id: 'B095',
    requests: [
      ...addIdempotencyKey('k'.repeat(256), requestCreate({})),
      ...addIdempotencyKey('clé', requestCreate({})),
      ...addIdempotencyKey('', requestCreate({})),
    ],
    status: [400],
    codes: ['VALIDATION_ERROR'],
    also: expectNoRow,
  },
  { id: 'B096', elsewhere: inTheApp },
  { id: 'B097', elsewhere: inTheApp },
  { id: 'B098', elsewhere: inTheApp },
  { id: 'B099', elsewhere: 'test/scenarios/private-exchange-cases.test.ts' },
  {
    id: 'B100',
    // An optional member that is null counts as absent, which the tests of the schema cover.
    requests: requestPrivateCreate(
      ...[1, ['efficient'], {}, 'PRIVATEPLUS', true].map((privateType) => ({ privateType })),
    ),
    status: [400],
    codes: ['VALIDATION_ERROR'],
    also: expectNoRow,
  },
  {
    id: 'B101',
    requests: async (scenario) => {
      const rateId = await fetchRateId(scenario)
      const [sent] = requestPrivateCreate({ flow: 'fixed-rate', rateId })
      const answer = await scenario.app.inject({ ...sent, payload: sent?.body ?? '' })
      deepEqual([answer.statusCode, answer.json().request.flow], [201, 'standard'])
      // The rateId is still unused.
      return [
        ...requestCreate({ rateId }),
        ...requestPrivateCreate({ flow: 'fixed-rate', rateId }).map((one) => ({
          ...one,
          headers: { ...json, 'x-api-key': 'strict' },
        })),
      ]
    },
    status: [201, 400],
    codes: ['VALIDATION_ERROR'],
    also: (answers) =>
      deepEqual(
        answers.map(({ status }) => status),
        [201, 400],
      ),
  },
]
