import { parseUnits } from 'viem'
import { describe, expect, test } from 'vitest'
import { type BitcoinTicker, createExternalWallet, scriptOfAddress } from '../../sandbox/src/bitcoin/addresses.ts'
import { checkStatuses } from './check-statuses.ts'
import type { Client } from './client.ts'
import type { Customers, Payment, Purchase } from './customers.ts'
import type { Fleet } from './fleet.ts'

const PAID = 100_000_000n
const REFUND_FEE = 10_000n
const DUE = '0.1'
const [recipient, refund] = [createExternalWallet('btc').address ?? '', createExternalWallet('ltc').address ?? '']
const payment: Payment = { network: 'ltc', hash: 'payin', units: PAID, raw: null, payer: null }
const purchase = {
  id: 'exchange',
  from: 'ltc@ltc',
  to: 'btc@btc',
  terms: { privateType: null },
  recipient,
  refund,
  payments: [payment],
} as unknown as Purchase
const finished = {
  payinHash: 'payin',
  payoutHash: 'payout',
  refund: null,
  status: 'finished',
  statusReason: null,
  amountToReceived: DUE,
}
type Item = Readonly<{ [Key in keyof typeof finished]: unknown }>
type Output = Readonly<{ network: BitcoinTicker; address: string; txid: string; amount: string }>
const paidOut: Output = { network: 'btc', address: recipient, txid: 'payout', amount: DUE }

type Plant = Readonly<{
  items?: readonly Item[]
  outputs?: readonly Output[]
  status?: number
  isOnChain?: boolean
  bought?: Purchase
}>

/** The check of a customer who paid litecoin for bitcoin, with these answers of the API and the nodes. */
function check({ items = [finished], outputs = [paidOut], status = 200, isOnChain = true, bought = purchase }: Plant) {
  const client = { call: async () => ({ status, body: { exchange: { exchanges: items } } }) } as unknown as Client
  const fleet = {
    cluster: {
      call: async (network: string) => ({
        unspents: outputs
          .filter((output) => output.network === network)
          .map(({ address, txid, amount }) => ({
            txid,
            amount,
            scriptPubKey: Buffer.from(scriptOfAddress(network as BitcoinTicker, address)).toString('hex'),
          })),
      }),
    },
  } as unknown as Fleet
  const published = { refundFee: () => ({ least: REFUND_FEE, most: REFUND_FEE }) }
  const customers = { purchases: [bought], published } as unknown as Customers
  return checkStatuses(client, customers, new Map(bought.payments.map((one) => [one, isOnChain])), fleet)
}

const nothing = { lost: [], unreported: [] }

test('finds nothing where the API reports every payment and what the recipient holds', async () => {
  expect(await check({})).toEqual(nothing)
})

test('requires nothing of a payment that is on no chain', async () => {
  expect(await check({ items: [], outputs: [], isOnChain: false })).toEqual(nothing)
})

test('accepts a refund that the API reports', async () => {
  const refunded = {
    ...finished,
    status: 'refunded',
    payoutHash: null,
    amountToReceived: null,
    refund: { hash: 'refund' },
  }
  const outputs: Output[] = [{ network: 'ltc', address: refund, txid: 'refund', amount: '0.9999' }]
  expect(await check({ items: [refunded], outputs })).toEqual(nothing)
})

describe('the check of statuses finds', () => {
  const lost = (...lines: readonly string[]) => ({ lost: lines, unreported: [] })

  test('an exchange whose status is not answered', async () => {
    expect((await check({ status: 404 })).lost).toContain('the status of exchange exchange is answered with 404')
  })

  test('a payment that the API does not report', async () => {
    expect(await check({ items: [], outputs: [] })).toEqual(lost('payment payin of exchange exchange is unknown'))
    const foreign = { ...finished, payinHash: 'another' }
    expect(await check({ items: [foreign] })).toEqual(lost('payment payin of exchange exchange is unknown'))
  })

  test.each(['pending', 'confirming', 'sending', 'failed'])('a payment that remains %s', async (status) => {
    const items = [{ ...finished, status, payoutHash: null, amountToReceived: null }]
    expect(await check({ items, outputs: [] })).toEqual(lost(`payment payin of exchange exchange is ${status}`))
  })

  test('an amount that is kept as dust and covers its refund', async () => {
    const items = [{ ...finished, status: 'failed', statusReason: 'DUST', payoutHash: null, amountToReceived: null }]
    const keep = (units: bigint) =>
      check({ items, outputs: [], bought: { ...purchase, payments: [{ ...payment, units }] } })
    expect(await keep(REFUND_FEE)).toEqual(nothing)
    expect(await keep(REFUND_FEE + 1n)).toEqual(lost('payment payin of exchange exchange is failed'))
  })

  test.each(['0.09999999', '0.10000001', '0.2'])(
    'a reported amount of %s that the recipient does not hold',
    async (amount) => {
      const line = `exchange exchange reports ${parseUnits(amount, 8)} of btc@btc, and ${recipient} has 10000000`
      expect(await check({ items: [{ ...finished, amountToReceived: amount }] })).toEqual(lost(line))
    },
  )

  test.each(['0.09999999', '0.10000001'])('a recipient who holds %s', async (amount) => {
    const line = `exchange exchange reports 10000000 of btc@btc, and ${recipient} has ${parseUnits(amount, 8)}`
    expect(await check({ outputs: [{ ...paidOut, amount }] })).toEqual(lost(line))
  })

  test('a payout that is reported and on no chain', async () => {
    expect(await check({ outputs: [] })).toEqual(
      lost(`exchange exchange reports 10000000 of btc@btc, and ${recipient} has 0`),
    )
  })

  test('a transaction that paid the customer and is in no answer', async () => {
    const second: Output = { network: 'ltc', address: refund, txid: 'unknown', amount: '0.5' }
    expect(await check({ outputs: [paidOut, second] })).toEqual({
      lost: [],
      unreported: [`unknown paid ${refund}, and exchange exchange does not report it`],
    })
    expect((await check({ outputs: [{ ...paidOut, txid: 'unknown' }] })).unreported).toHaveLength(1)
  })

  test('the payout of the first leg of a private exchange counted as one of the last', async () => {
    const bought = { ...purchase, terms: { privateType: 'efficient' } } as unknown as Purchase
    const first = { ...finished, payoutHash: 'between', amountToReceived: '9' }
    const second = { ...finished, payinHash: 'between' }
    expect(await check({ items: [first, second], bought })).toEqual(nothing)
    const both = { ...purchase, terms: { privateType: null } } as unknown as Purchase
    expect((await check({ items: [first, second], bought: both })).lost).toHaveLength(1)
  })
})
