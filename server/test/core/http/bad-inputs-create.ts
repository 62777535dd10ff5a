import { deepEqual, equal, ok } from 'node:assert/strict'
import { goodOrder, type TestApp } from './app-for-tests.ts'
import {
  type Answer,
  type BadInput,
  create,
  inTheApp,
  json,
  laterFamily,
  laterIssue,
  rate,
  type Sent,
} from './bad-input-case.ts'

const sanctioned = '0x000000000000000000000000000000000000dEaD'
const toXrp = { toCurrency: 'xrp', toNetwork: 'xrp', address: 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh' }

/** A rateId for the good order, given to the partner of this key. */
async function freshRateId({ app }: TestApp, flow = 'standard', apiKey = 'sandbox'): Promise<string> {
  const [sent] = rate({ flow })
  const answer = await app.inject({ url: sent?.url ?? '', headers: { 'x-api-key': apiKey } })
  return answer.json().rateId
}

function repeated(sent: readonly Sent[], times: number): Sent[] {
  return Array.from({ length: times }, () => sent).flat()
}

function withKey(idempotencyKey: string, sent: readonly Sent[]): Sent[] {
  return sent.map((one) => ({ ...one, headers: { ...json, 'idempotency-key': idempotencyKey } }))
}

const noRow = (_answers: readonly Answer[], { services }: TestApp) => equal(services.rows.length, 0)

/** Amounts and rateIds of a create: B055 to B069. */
export const createTerms: readonly BadInput[] = [
  { id: 'B055', requests: create({ fromAmount: 0.1 }), status: [400], codes: ['VALIDATION_ERROR'], also: noRow },
  {
    id: 'B056',
    requests: create(...['0.1 ', '+0.1', '.1', '1.', ''].map((fromAmount) => ({ fromAmount }))),
    status: [400],
    codes: ['VALIDATION_ERROR'],
    also: noRow,
  },
  { id: 'B057', requests: create({ fromAmount: '1e400' }), status: [400], codes: ['VALIDATION_ERROR'] },
  {
    id: 'B058',
    requests: create({ fromAmount: '9'.repeat(32) }),
    status: [422],
    codes: ['AMOUNT_ABOVE_MAX'],
    also: noRow,
  },
  {
    id: 'B059',
    requests: create({ fromAmount: '0.00000001' }),
    status: [422],
    codes: ['AMOUNT_BELOW_MIN'],
    also: ([answer], scenario) => {
      const [problem] = JSON.parse(answer?.body ?? '').errors
      equal(typeof problem.min, 'string')
      equal(typeof problem.max, 'string')
      deepEqual([problem.currency, problem.network], ['btc', 'btc'])
      noRow([], scenario)
    },
  },
  {
    id: 'B060',
    requests: create({ flow: undefined }, { flow: 'fixed' }, { flow: null }),
    status: [400],
    codes: ['VALIDATION_ERROR'],
  },
  { id: 'B061', requests: create({ flow: 'fixed-rate' }), status: [400], codes: ['RATE_ID_REQUIRED'] },
  {
    id: 'B062',
    requests: async (scenario) => {
      const rateId = await freshRateId(scenario)
      scenario.services.advance(61_000)
      return create({ rateId })
    },
    status: [410],
    codes: ['RATE_ID_EXPIRED'],
    // The fresh quote is in wire form: numbers and text, as a rate call gives it.
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
      const rateId = await freshRateId(scenario)
      await scenario.app.inject({
        method: 'POST',
        url: '/v1/cross-chain/exchange',
        headers: json,
        payload: { ...goodOrder, rateId },
      })
      return create({ rateId })
    },
    status: [409],
    codes: ['RATE_ID_USED'],
  },
  { id: 'B065', elsewhere: 'test/scenarios/a-rate-id-fifty-times-makes-one-exchange.test.ts' },
  {
    id: 'B066',
    requests: async (scenario) => create({ rateId: await freshRateId(scenario, 'standard', 'sandbox-b') }),
    status: [400],
    codes: ['RATE_ID_MISMATCH'],
  },
  {
    id: 'B067',
    requests: async (scenario) => {
      const rateId = await freshRateId(scenario, 'fixed-rate')
      return create(
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
    requests: create({ rateId: 'not-a-uuid' }, { rateId: {} }, { rateId: [] }, { rateId: 1 }),
    status: [400],
    codes: ['VALIDATION_ERROR', 'RATE_ID_INVALID'],
  },
  {
    id: 'B069',
    requests: create({ address: undefined }),
    status: [201],
    also: ([answer]) => equal(JSON.parse(answer?.body ?? '').request.recipientAddress, ''),
  },
]

/** Addresses, memos, repeats: B070 to B101. */
export const createDestinations: readonly BadInput[] = [
  { id: 'B070', elsewhere: inTheApp },
  { id: 'B071', elsewhere: inTheApp },
  { id: 'B072', elsewhere: inTheApp },
  { id: 'B073', elsewhere: inTheApp },
  { id: 'B074', elsewhere: inTheApp },
  { id: 'B075', elsewhere: inTheApp },
  { id: 'B076', elsewhere: laterFamily },
  { id: 'B077', elsewhere: laterFamily },
  { id: 'B078', elsewhere: laterFamily },
  { id: 'B079', elsewhere: inTheApp },
  { id: 'B080', requests: create({ address: sanctioned }), status: [451], codes: ['RESTRICTED'], also: noRow },
  {
    id: 'B081',
    requests: create(...['\u200b', '\u202e', '\ufeff', '\u0430'].map((odd) => ({ address: odd + goodOrder.address })), {
      address: '',
    }),
    status: [400],
    codes: ['INVALID_ADDRESS'],
  },
  { id: 'B082', requests: create({ address: 'a'.repeat(64 * 1024) }), status: [400], codes: ['VALIDATION_ERROR'] },
  { id: 'B083', requests: create({ address: `${'a'.repeat(50_000)}!` }), status: [400], codes: ['VALIDATION_ERROR'] },
  { id: 'B084', requests: create(toXrp), status: [400], codes: ['MEMO_REQUIRED'] },
  { id: 'B085', requests: create({ memo: '1' }), status: [400], codes: ['MEMO_NOT_SUPPORTED'] },
  {
    id: 'B086',
    requests: create(...['-1', '1.5', '007', '0x1'].map((memo) => ({ ...toXrp, memo }))),
    status: [400],
    codes: ['MEMO_INVALID'],
  },
  { id: 'B087', elsewhere: laterFamily },
  { id: 'B088', elsewhere: laterFamily },
  {
    id: 'B089',
    // Passes the HTTP layer unchanged: the chain's own rule refuses it.
    requests: create(...['a\nb', '\u0000', 'm'.repeat(5 * 1024)].map((memo) => ({ ...toXrp, memo }))),
    status: [400],
    codes: ['MEMO_INVALID'],
  },
  { id: 'B090', requests: create({ refundMemo: '1' }), status: [400], codes: ['VALIDATION_ERROR'], also: noRow },
  {
    id: 'B091',
    requests: create({ refundAddress: goodOrder.address }),
    status: [400],
    codes: ['INVALID_REFUND_ADDRESS'],
  },
  {
    id: 'B092',
    requests: [
      ...create({ status: 'finished', partnerId: 2, id: 'mine', depositAddress: 'mine' }),
      ...create({ status: 'finished', partnerId: 2 }).map((sent) => ({
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
    requests: withKey('B093', repeated(create({}), 20)),
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
      return withKey('B094', create({ fromAmount: '0.02' }))
    },
    status: [409],
    codes: ['IDEMPOTENCY_CONFLICT'],
  },
  {
    id: 'B095',
    requests: [...withKey('k'.repeat(256), create({})), ...withKey('clé', create({})), ...withKey('', create({}))],
    status: [400],
    codes: ['VALIDATION_ERROR'],
    also: noRow,
  },
  { id: 'B096', elsewhere: inTheApp },
  { id: 'B097', elsewhere: inTheApp },
  { id: 'B098', elsewhere: inTheApp },
  { id: 'B099', elsewhere: laterIssue },
  { id: 'B100', elsewhere: laterIssue },
  { id: 'B101', elsewhere: laterIssue },
]
