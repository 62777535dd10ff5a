import { deepEqual, equal, ok } from 'node:assert/strict'
import { type BadInput, inTheApp, json, key, requestPrivateRate, requestRate } from './bad-input-case.ts'

/** The rate quote: B034 to B054. */
export const rateInputs: readonly BadInput[] = [
  {
    id: 'B034',
    requests: [{ url: '/v1/cross-chain/rate', headers: key }, ...requestRate({ fromCurrency: null })],
    status: [400],
    codes: ['VALIDATION_ERROR'],
    also: ([all]) => {
      const fields = JSON.parse(all?.body ?? '').errors.map(({ field }: { field: string }) => field)
      deepEqual(fields.toSorted(), ['fromCurrency', 'fromNetwork', 'toCurrency', 'toNetwork'])
    },
  },
  {
    id: 'B035',
    requests: requestRate({ fromNetwork: null }, { fromNetwork: '' }),
    status: [400],
    codes: ['VALIDATION_ERROR'],
  },
  {
    id: 'B036',
    requests: requestRate({ fromCurrency: 'zzz' }, { fromNetwork: 'eth' }),
    status: [404],
    codes: ['CURRENCY_NOT_FOUND'],
  },
  {
    id: 'B037',
    requests: requestRate({ toCurrency: 'btc', toNetwork: 'BTC' }),
    status: [400],
    codes: ['SAME_CURRENCY'],
  },
  {
    id: 'B038',
    requests: requestRate({ amount: '0' }, { amount: '0.000' }),
    status: [400],
    codes: ['VALIDATION_ERROR'],
  },
  { id: 'B039', requests: requestRate({ amount: '-1' }), status: [400], codes: ['VALIDATION_ERROR'] },
  {
    id: 'B040',
    requests: requestRate({ amount: 'NaN' }, { amount: 'Infinity' }, { amount: '-0' }),
    status: [400],
    codes: ['VALIDATION_ERROR'],
  },
  {
    id: 'B041',
    requests: requestRate(...['1e18', '1E-8', '0x10', '1_000', '1,5', '٣', '１'].map((amount) => ({ amount }))),
    status: [400],
    codes: ['VALIDATION_ERROR'],
    also: (answers) => ok(answers.every(({ body }) => JSON.parse(body).errors[0].code === 'AMOUNT_MALFORMED')),
  },
  { id: 'B042', requests: requestRate({ amount: '0.000000001' }), status: [400], codes: ['AMOUNT_PRECISION'] },
  { id: 'B043', requests: requestRate({ amount: '9'.repeat(7_000) }), status: [400], codes: ['VALIDATION_ERROR'] },
  {
    id: 'B044',
    requests: requestRate({ amount: '0.00000001' }),
    status: [200],
    also: ([answer]) => {
      const quote = JSON.parse(answer?.body ?? '')
      ok(quote.min > quote.fromAmount)
      equal(quote.rateId, null)
    },
  },
  {
    id: 'B045',
    requests: requestRate({ amount: '9999999' }),
    status: [200],
    also: ([answer]) => {
      const quote = JSON.parse(answer?.body ?? '')
      ok(quote.max < quote.fromAmount)
      equal(quote.rateId, null)
    },
  },
  {
    id: 'B046',
    requests: requestRate({ flow: 'fixed' }),
    status: [400],
    codes: ['VALIDATION_ERROR'],
    also: ([answer]) => ok(answer?.body.includes('must be one of: standard, fixed-rate')),
  },
  {
    id: 'B047',
    requests: requestRate({ toCurrency: 'xrp', toNetwork: 'xrp', flow: 'fixed-rate' }),
    status: [422],
    codes: ['FIXED_RATE_UNSUPPORTED'],
  },
  {
    id: 'B048',
    requests: requestRate({ toCurrency: 'doge', toNetwork: 'doge' }),
    status: [422],
    codes: ['PAIR_UNAVAILABLE'],
  },
  {
    id: 'B049',
    requests: requestRate(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the request contains this template text.
      ...["btc'--", '<script>', '${7*7}', '../../etc/passwd'].map((fromCurrency) => ({ fromCurrency })),
    ),
    status: [400, 404],
    codes: ['VALIDATION_ERROR', 'CURRENCY_NOT_FOUND'],
    also: (answers) => ok(answers.every(({ body }) => !body.includes('<script>'))),
  },
  { id: 'B050', elsewhere: inTheApp },
  { id: 'B051', elsewhere: inTheApp },
  {
    id: 'B052',
    requests: requestPrivateRate({ privateType: null }, { privateType: '' }),
    status: [400],
    codes: ['VALIDATION_ERROR'],
    also: (answers) => ok(answers.every(({ body }) => JSON.parse(body).errors[0].field === 'privateType')),
  },
  {
    id: 'B053',
    requests: requestPrivateRate({ privateType: 'PRIVATEPLUS' }, { privateType: 'plus' }),
    status: [400],
    codes: ['VALIDATION_ERROR'],
  },
  {
    id: 'B054',
    requests: [
      ...requestPrivateRate({ flow: 'standard' }),
      ...requestPrivateRate({ flow: 'standard' }).map((sent) => ({
        ...sent,
        headers: { ...json, 'x-api-key': 'strict' },
      })),
    ],
    status: [200, 400],
    codes: ['VALIDATION_ERROR'],
    also: (answers) =>
      deepEqual(
        answers.map(({ status }) => status),
        [200, 400],
      ),
  },
]
