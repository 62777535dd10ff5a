import { deepEqual, equal, ok } from 'node:assert/strict'
import { type BadInput, inTheApp, key, laterIssue, rate } from './bad-input-case.ts'

/** The rate quote: B034 to B054. */
export const rateInputs: readonly BadInput[] = [
  {
    id: 'B034',
    requests: [{ url: '/v1/cross-chain/rate', headers: key }, ...rate({ fromCurrency: null })],
    status: [400],
    codes: ['VALIDATION_ERROR'],
    also: ([all]) => {
      const fields = JSON.parse(all?.body ?? '').errors.map(({ field }: { field: string }) => field)
      deepEqual(fields.toSorted(), ['fromCurrency', 'fromNetwork', 'toCurrency', 'toNetwork'])
    },
  },
  {
    id: 'B035',
    requests: rate({ fromNetwork: null }, { fromNetwork: '' }),
    status: [400],
    codes: ['VALIDATION_ERROR'],
  },
  {
    id: 'B036',
    requests: rate({ fromCurrency: 'zzz' }, { fromNetwork: 'eth' }),
    status: [404],
    codes: ['CURRENCY_NOT_FOUND'],
  },
  { id: 'B037', requests: rate({ toCurrency: 'btc', toNetwork: 'BTC' }), status: [400], codes: ['SAME_CURRENCY'] },
  { id: 'B038', requests: rate({ amount: '0' }, { amount: '0.000' }), status: [400], codes: ['VALIDATION_ERROR'] },
  { id: 'B039', requests: rate({ amount: '-1' }), status: [400], codes: ['VALIDATION_ERROR'] },
  {
    id: 'B040',
    requests: rate({ amount: 'NaN' }, { amount: 'Infinity' }, { amount: '-0' }),
    status: [400],
    codes: ['VALIDATION_ERROR'],
  },
  {
    id: 'B041',
    requests: rate(...['1e18', '1E-8', '0x10', '1_000', '1,5', '٣', '１'].map((amount) => ({ amount }))),
    status: [400],
    codes: ['VALIDATION_ERROR'],
    also: (answers) => ok(answers.every(({ body }) => JSON.parse(body).errors[0].code === 'AMOUNT_MALFORMED')),
  },
  { id: 'B042', requests: rate({ amount: '0.000000001' }), status: [400], codes: ['AMOUNT_PRECISION'] },
  { id: 'B043', requests: rate({ amount: '9'.repeat(7_000) }), status: [400], codes: ['VALIDATION_ERROR'] },
  {
    id: 'B044',
    requests: rate({ amount: '0.00000001' }),
    status: [200],
    also: ([answer]) => {
      const quote = JSON.parse(answer?.body ?? '')
      ok(quote.min > quote.fromAmount)
      equal(quote.rateId, null)
    },
  },
  {
    id: 'B045',
    requests: rate({ amount: '9999999' }),
    status: [200],
    also: ([answer]) => {
      const quote = JSON.parse(answer?.body ?? '')
      ok(quote.max < quote.fromAmount)
      equal(quote.rateId, null)
    },
  },
  {
    id: 'B046',
    requests: rate({ flow: 'fixed' }),
    status: [400],
    codes: ['VALIDATION_ERROR'],
    also: ([answer]) => ok(answer?.body.includes('must be one of: standard, fixed-rate')),
  },
  {
    id: 'B047',
    requests: rate({ toCurrency: 'xrp', toNetwork: 'xrp', flow: 'fixed-rate' }),
    status: [422],
    codes: ['FIXED_RATE_UNSUPPORTED'],
  },
  { id: 'B048', requests: rate({ toCurrency: 'doge', toNetwork: 'doge' }), status: [422], codes: ['PAIR_UNAVAILABLE'] },
  {
    id: 'B049',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a template is what is sent.
    requests: rate(...["btc'--", '<script>', '${7*7}', '../../etc/passwd'].map((fromCurrency) => ({ fromCurrency }))),
    status: [400, 404],
    codes: ['VALIDATION_ERROR', 'CURRENCY_NOT_FOUND'],
    also: (answers) => ok(answers.every(({ body }) => !body.includes('<script>'))),
  },
  { id: 'B050', elsewhere: inTheApp },
  { id: 'B051', elsewhere: inTheApp },
  { id: 'B052', elsewhere: laterIssue },
  { id: 'B053', elsewhere: laterIssue },
  { id: 'B054', elsewhere: laterIssue },
]
