import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { AssetId } from '../../server/src/core/domain/asset.ts'
import type { Account } from '../../server/src/core/domain/ledger/chart.ts'
import {
  type Conversion,
  conversionEntry,
  partnerAccount,
  toPartnerEntry,
} from '../../server/src/core/domain/ledger/entries.ts'
import { type JournalEntry, journalEntry, reversalOf } from '../../server/src/core/domain/ledger/journal.ts'
import { partnerId, startMoneyPath } from '../../server/test/exchange/money-path.ts'
import { tamper } from '../support/tamper.ts'
import { checkIncome } from './check-income.ts'
import type { Customers, Payment, Purchase } from './customers.ts'
import type { Published, Terms } from './dues.ts'
import type { Fleet } from './fleet.ts'

const ETHER = 10n ** 18n
const [FEE, FIRST_LEG_FEE, REFUND_FEE] = [2_000_000n, 3_000n, 10n ** 15n]
/** The value of 1 ether in units of USDT at bid and ask, what is left of it after 0.4 % and 20 bps, and these 20 bps. */
const [GROSS, LEFT, PARTNER] = [3_418_632_239n, 3_398_147_794n, 6_809_915n]
const DUE = LEFT - FEE
const SPREAD = GROSS - LEFT - PARTNER
const otherId = '018f2b1c-0000-7000-8000-000000000002'
const exactly = (units: bigint) => ({ least: units, most: units })
const published: Published = {
  partnerBps: 20n,
  hasNetworkFee: (_from, to) => to === 'ltc@ltc',
  networkFee: (_from, to) => exactly(to === 'ltc@ltc' ? FIRST_LEG_FEE : FEE),
  refundFee: () => exactly(REFUND_FEE),
  minimum: () => exactly(ETHER / 10n),
}
const terms: Terms = {
  from: 'eth@eth',
  to: 'usdt@eth',
  flow: 'standard',
  privateType: null,
  fromUnits: ETHER,
  toUnits: DUE,
  creditsPartner: false,
}
const paid = (units = ETHER): Payment => ({ network: 'eth', hash: `0x${units}`, units, raw: null, payer: null })

let path: Awaited<ReturnType<typeof startMoneyPath>>
let purchase: Purchase
beforeAll(async () => {
  path = await startMoneyPath()
  await path.database.query("insert into partners (id, name) values ($1, 'sandbox'), ($2, 'other')", [
    partnerId,
    otherId,
  ])
})
beforeEach(async () => {
  for (const table of ['postings', 'journal', 'balances']) await tamper(path.database, table, [`delete from ${table}`])
  const { id } = await path.createExchange()
  purchase = {
    id,
    partner: 'sandbox',
    from: 'eth@eth',
    to: 'usdt@eth',
    terms,
    depositAddress: `0x${'3'.repeat(40)}`,
    recipient: `0x${'1'.repeat(40)}`,
    refund: `0x${'2'.repeat(40)}`,
    payments: [paid()],
  }
})
afterAll(() => path.close())

type Planted = Readonly<{ bought?: Purchase; payout?: bigint; refund?: bigint; isOnChain?: boolean }>

/** The check of a purchase whose addresses hold these units. */
function check({ bought = purchase, payout = DUE, refund = 0n, isOnChain = true }: Planted = {}) {
  const fleet = {
    database: path.database,
    cluster: {
      chains: { networks: [{ network: 'eth', tokens: { usdt: '0xusdt' } }] },
      call: async (_network: string, method: string) => `0x${(method === 'eth_call' ? payout : refund).toString(16)}`,
    },
  } as unknown as Fleet
  const customers = { purchases: [bought], published, isDoubleSpent: () => false } as unknown as Customers
  return checkIncome(fleet, customers, new Map(bought.payments.map((one) => [one, isOnChain])))
}

const post = async (...entries: readonly JournalEntry[]) => {
  for (const entry of entries) await path.store.ledger.post(entry)
}
type Options = Readonly<{ orderId?: string; units?: bigint; give?: AssetId; owedTo?: string }>
/** Its deposit and its conversion with these parts. */
function convert(
  parts: Partial<Conversion['take']> = {},
  { orderId = 'order', units = ETHER, give = 'eth@eth', owedTo = partnerId }: Options = {},
) {
  const exchangeId = purchase.id
  const take: Conversion['take'] = {
    assetId: 'usdt@eth',
    dueUnits: DUE,
    spreadUnits: SPREAD,
    partnerUnits: PARTNER,
    networkUnits: FEE,
    ...parts,
  }
  return [
    journalEntry(`${orderId}:deposit`, 'deposit', exchangeId, [
      { debit: 'asset:deposits', credit: `liability:exchange:${exchangeId}`, assetId: give, units },
    ]),
    conversionEntry({ orderId, exchangeId, give: { assetId: give, units }, take, partnerId: owedTo }),
  ]
}
const other = { orderId: 'second' }
const income = (units: bigint, kept = SPREAD + FEE) =>
  `exchange ${purchase.id} kept ${kept} of usdt@eth, and the ledger has an income of ${units}`
const credit = (units: bigint, due: bigint | string = PARTNER) =>
  `exchange ${purchase.id} credits its partner with ${units} of usdt@eth, and ${due} is due`
const move = (units: bigint, debit: Account, to: Account, exchangeId: string | null) =>
  journalEntry('planted', 'planted', exchangeId, [{ debit, credit: to, assetId: 'usdt@eth', units }])

test('finds nothing where the ledger has the spread, the network fee and the fee of the partner', async () => {
  await post(...convert())
  expect(await check()).toEqual([])
})

test('finds nothing where nothing was paid, and nothing beside what the addresses do not have', async () => {
  expect(await check({ payout: 0n, isOnChain: false })).toEqual([])
  expect(await check({ payout: DUE - 1n })).toEqual([])
})

describe('the check of income finds', () => {
  test.each([-1n, 1n, SPREAD])('an income of %i units more than the customer gave up', async (more) => {
    await post(...convert({ spreadUnits: SPREAD + more }))
    expect(await check()).toEqual([income(SPREAD + FEE + more)])
  })

  test('a conversion that is not in the ledger', async () => {
    expect(await check()).toEqual([credit(0n), income(0n, GROSS - DUE)])
  })

  test('an income of a currency that the exchange does not have', async () => {
    await post(
      ...convert(),
      ...convert({ assetId: 'btc@btc', spreadUnits: 7n, partnerUnits: 0n, networkUnits: 0n }, other),
    )
    expect(await check()).toEqual([`exchange ${purchase.id} kept 0 of btc@btc, and the ledger has an income of 7`])
  })

  test('a refund whose fee is not booked, beside a second deposit that is converted', async () => {
    const small = ETHER / 100n
    const bought = { ...purchase, payments: [paid(), paid(small)] }
    const refund = small - REFUND_FEE
    await post(...convert())
    const line = `exchange ${purchase.id} kept ${REFUND_FEE} of eth@eth, and the ledger has an income of`
    expect(await check({ bought, refund })).toEqual([`${line} 0`])
    const fee = (units: bigint) =>
      journalEntry(`fee:${units}`, 'refund fee', purchase.id, [
        { debit: 'equity:inventory', credit: 'income:network-fee', assetId: 'eth@eth', units },
      ])
    await post(fee(REFUND_FEE))
    expect(await check({ bought, refund })).toEqual([])
    await post(fee(1n))
    expect(await check({ bought, refund })).toEqual([`${line} ${REFUND_FEE + 1n}`])
  })

  test('a second conversion whose parts are not booked', async () => {
    const bought = { ...purchase, payments: [paid(), paid(ETHER + 1n)] }
    const payout = 2n * DUE
    await post(...convert())
    expect(await check({ bought, payout })).toEqual([
      credit(PARTNER, 2n * PARTNER),
      income(SPREAD + FEE, 2n * GROSS - payout - PARTNER),
    ])
    await post(...convert({}, { ...other, units: ETHER + 1n }))
    expect(await check({ bought, payout })).toEqual([])
  })

  test('what is left in the ledger of a conversion whose deposit left the chain', async () => {
    const [deposit, conversion] = convert()
    if (!deposit || !conversion) throw new Error('a conversion has two entries')
    await post(deposit, conversion, reversalOf(conversion, 'reversed', 'conversion reversed'))
    expect(await check({ payout: 0n, isOnChain: false })).toEqual([])
    await post({ ...conversion, id: 'again' })
    const others = conversion.postings.filter((posting) => posting.credit !== partnerAccount(partnerId))
    await post(reversalOf({ ...conversion, postings: others }, 'partly', 'conversion reversed'))
    expect(await check({ payout: 0n, isOnChain: false })).toEqual([credit(PARTNER, 0n), income(0n, -PARTNER)])
  })
})

describe('the check of what partners are owed finds', () => {
  test.each([0n, PARTNER - 1n, PARTNER + 1n, 2n * PARTNER])('a fee of %i units', async (units) => {
    await post(...convert({ partnerUnits: units, spreadUnits: SPREAD + PARTNER - units }))
    // The sum of both is what the customer gave up, so that only the fee shows.
    expect(await check()).toEqual([credit(units)])
  })

  test('the fee of an exchange that another partner is owed', async () => {
    await post(...convert({}, { owedTo: otherId }))
    expect(await check()).toEqual([
      credit(0n),
      income(SPREAD + FEE, GROSS - DUE),
      `partner other usdt@eth is owed ${PARTNER}, and its exchanges credit 0`,
    ])
  })

  test('a credit of another currency', async () => {
    const parts = { assetId: 'btc@btc', spreadUnits: 0n, partnerUnits: 5n, networkUnits: 0n } as const
    await post(...convert(), ...convert(parts, other))
    expect(await check()).toEqual([`exchange ${purchase.id} credits its partner with 5 of btc@btc, and 0 is due`])
  })

  test('proceeds without a recipient that are credited never, twice, or with a unit less', async () => {
    const bought = { ...purchase, recipient: null, terms: { ...terms, creditsPartner: true } }
    const proceeds = (id: string, units: bigint) => toPartnerEntry(id, purchase.id, partnerId, 'usdt@eth', units)
    const sum = DUE + PARTNER
    await post(...convert())
    expect(await check({ bought })).toEqual([credit(PARTNER, sum), income(SPREAD + FEE, GROSS - PARTNER)])
    await post(proceeds('first', DUE - 1n))
    expect(await check({ bought })).toContain(credit(sum - 1n, sum))
    await post(proceeds('rest', 1n))
    expect(await check({ bought })).toEqual([])
    await post(move(DUE, 'equity:inventory', partnerAccount(partnerId), purchase.id))
    expect(await check({ bought })).toContain(credit(sum + DUE, sum))
  })

  test('a balance that is not the sum of the credits of the exchanges', async () => {
    await post(...convert())
    const line = (units: bigint) => `partner sandbox usdt@eth is owed ${units}, and its exchanges credit ${PARTNER}`
    await post(move(3n, partnerAccount(partnerId), 'equity:inventory', null))
    expect(await check()).toEqual([line(PARTNER - 3n)])
    await tamper(path.database, 'balances', [
      `update balances set units = 0 where account = '${partnerAccount(partnerId)}'`,
    ])
    expect(await check()).toEqual([line(0n)])
  })
})

describe('of a private exchange, the check of income', () => {
  /** What 1 ether is worth in units of LTC, what the first leg keeps of it, and what the second converts. */
  const FIRST_GROSS = 3_287_146_416n
  const FIRST_KEPT = FIRST_GROSS - (FIRST_GROSS * 9_960n) / 10_000n + FIRST_LEG_FEE
  const BETWEEN = FIRST_GROSS - FIRST_KEPT
  const firstLeg = (kept: bigint) =>
    convert({
      assetId: 'ltc@ltc',
      dueUnits: BETWEEN,
      spreadUnits: kept - FIRST_LEG_FEE,
      partnerUnits: 0n,
      networkUnits: FIRST_LEG_FEE,
    })
  /** The value of what is between the legs in units of USDT, and what is left of it for the partner and the recipient. */
  const SECOND_GROSS = 3_403_592_879n
  const SECOND_LEFT = (((SECOND_GROSS * 9_960n) / 10_000n) * 9_980n) / 10_000n
  const SECOND_PARTNER = (SECOND_LEFT * 20n) / 9_980n
  const secondLeg = (spreadMore = 0n, partnerUnits = SECOND_PARTNER) =>
    convert(
      {
        dueUnits: SECOND_LEFT - FEE,
        partnerUnits,
        spreadUnits: SECOND_GROSS - SECOND_LEFT - partnerUnits + spreadMore,
      },
      { ...other, give: 'ltc@ltc', units: BETWEEN },
    )
  const checkLegs = () =>
    check({
      bought: { ...purchase, terms: { ...terms, privateType: 'efficient' } },
      payout: SECOND_LEFT - FEE,
    })
  const lines = (...endings: readonly RegExp[]) => endings.map((ending) => expect.stringMatching(ending))

  test('finds nothing where both legs are booked', async () => {
    await post(...firstLeg(FIRST_KEPT), ...secondLeg())
    expect(await checkLegs()).toEqual([])
  })

  test('finds a leg without income, and a wrong one', async () => {
    await post(...secondLeg())
    expect(await checkLegs()).toEqual([`exchange ${purchase.id} has no income between its legs in the ledger`])
    await post(...firstLeg(FIRST_KEPT - FIRST_LEG_FEE))
    expect(await checkLegs()).toEqual(lines(/of ltc@ltc, and the ledger has/, /of usdt@eth, and the ledger has/))
  })

  test.each([-10n, 10n])('finds an income of %i units more in the second leg', async (more) => {
    await post(...firstLeg(FIRST_KEPT), ...secondLeg(more))
    expect(await checkLegs()).toEqual(lines(/of usdt@eth, and the ledger has/))
  })

  test('finds a fee of the partner in no leg', async () => {
    await post(...firstLeg(FIRST_KEPT), ...secondLeg(0n, 0n))
    expect(await checkLegs()).toEqual([expect.stringMatching(/credits its partner with 0 of usdt@eth/)])
  })
})
