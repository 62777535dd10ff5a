import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { PATIENCE } from '../../../../test/support/patience.ts'
import type { AssetId } from '../../../src/core/domain/asset.ts'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createOperatePayouts } from '../../../src/exchange/operations/operate-payouts.ts'
import { createPayMonthly, MONTHLY_TURN_MS, type PayMonthlyDeps } from '../../../src/exchange/operations/pay-monthly.ts'
import type { MonthlyPayoutStore } from '../../../src/exchange/ports/store/monthly-payouts.ts'
import type { Store } from '../../../src/exchange/ports/store/store.ts'
import { createBookSnapshot } from '../../../src/exchange/quotes/book-snapshot.ts'
import { COIN, ETHER, market, startMoneyPath } from '../money-path.ts'

const SMALL = COIN / 200n

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
let settings: MonthlyPayoutStore
/** A partner of its own for each test: the payout of a month is made once. */
let partner: Readonly<{ id: string; name: string; address: string }>
let partners = 0
beforeAll(async () => {
  fixture = await startMoneyPath()
  settings = fixture.store.monthlyPayouts
  await fixture.fundWallets({ btc: COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
beforeEach(async () => {
  const n = ++partners
  partner = { id: randomUUID(), name: `partner ${n}`, address: `monthly-${n}` }
  await fixture.database.query('insert into partners (id, name) values ($1, $2)', [partner.id, partner.name])
  await fixture.database.query(
    "insert into default_recipients (partner_id, asset_id, address) values ($1, 'eth@eth', $2)",
    [partner.id, partner.address],
  )
})
afterEach(() => fixture.expectBalanced())

/** Finishes an exchange without a recipient, which credits the partner. Returns what we owe. */
async function earn(): Promise<bigint> {
  fixture.payDeposit(await fixture.createExchange({ recipient: null, partnerId: partner.id }), SMALL)
  await fixture.mineBlocks(3)
  return readOwed()
}
const readOwed = async () => -(await fixture.store.ledger.balance(`liability:partner:${partner.id}`, 'eth@eth'))
async function received(): Promise<bigint[]> {
  await fixture.mineBlocks(5)
  return fixture.fakes.eth.listPayments(partner.address).map(({ units }) => units)
}
const listAlarms = async () => (await fixture.store.alarms.list(100)).map(({ subject }) => subject)
const set = (minimumUnits: bigint | null, convertsOthers = false) =>
  settings.set(partner.name, 'eth@eth', minimumUnits === null ? null : { minimumUnits, convertsOthers })

const payMonthly = (changes: Partial<PayMonthlyDeps> = {}) =>
  createPayMonthly({
    ...fixture.dependencies,
    networkOf: () => 'eth',
    screening: { screen: async () => 'allow' },
    isOwnAddress: async () => false,
    ...changes,
  })()

/** A process that is killed at a call of the store: what it committed before stays. */
const killedAt = (method: 'setConverted' | 'listUnpaid'): Store => ({
  ...fixture.store,
  monthlyPayouts: { ...settings, [method]: kill },
})
/** A process that is killed when it marks the intent, or after this was committed. */
const killedIn = (when: 'transaction' | 'commit'): Store => ({
  ...fixture.store,
  transaction: async (work) => {
    await fixture.store.transaction((tx) =>
      work(when === 'commit' ? tx : { ...tx, monthlyPayouts: { ...tx.monthlyPayouts, setPaid: kill } }),
    )
    return kill()
  },
})
const kill = () => Promise.reject(new Error('the process was killed'))
const listStates = () =>
  fixture.database.query('select address, payout_id is null as waits from monthly_payouts where partner_id = $1', [
    partner.id,
  ])
const setSuspended = (suspended: boolean) =>
  fixture.database.query('update partners set suspended = $2 where id = $1', [partner.id, suspended])
const setRecipient = (address: string, memo = '') =>
  fixture.database.query('update default_recipients set address = $2, memo = $3 where partner_id = $1', [
    partner.id,
    address,
    memo,
  ])

test('are paid once a month to the recipient, whatever crashes', async () => {
  await set(1n)
  const owed = await earn()
  expect(owed).toBeGreaterThan(0n)
  // After the intent, while the payout is queued, and after that.
  await expect(payMonthly({ store: killedAt('listUnpaid') })).rejects.toThrow('killed')
  await expect(payMonthly({ store: killedIn('transaction') })).rejects.toThrow('killed')
  expect([await readOwed(), await listStates()]).toEqual([owed, [{ address: partner.address, waits: true }]])
  await expect(payMonthly({ store: killedIn('commit') })).rejects.toThrow('killed')
  expect([await readOwed(), await listStates()]).toEqual([0n, [{ address: partner.address, waits: false }]])
  await Promise.all(Array.from({ length: 5 }, () => payMonthly()))
  expect(await received()).toEqual([owed])
  // What is earned later in the month waits for the next one.
  const later = await earn()
  await payMonthly()
  expect([await received(), await readOwed()]).toEqual([[owed], later])
})

test('concurrent workers make one payout', async () => {
  await set(1n)
  const owed = await earn()
  await Promise.all(Array.from({ length: 8 }, () => payMonthly()))
  expect(await received()).toEqual([owed])
})

test('the first turn of a month pays the balance, also after a payout of the month before, and turns are less than 24 hours apart', async () => {
  await set(1n)
  const owed = await earn()
  await fixture.database.query(
    `insert into monthly_payouts (partner_id, month, asset_id, units, address, memo, payout_id)
     select $1, (date_trunc('month', now() at time zone 'utc') - interval '1 month')::date, 'eth@eth', 1, 'before', '', $2`,
    [partner.id, randomUUID()],
  )
  await payMonthly()
  expect([await received(), await readOwed()]).toEqual([[owed], 0n])
  expect(MONTHLY_TURN_MS).toBeLessThan(24 * 3_600_000)
})

test('a balance below the minimum, a suspended partner and an ended setting are not paid', async () => {
  const owed = await earn()
  await set(owed + 1n)
  await payMonthly()
  await set(owed)
  await setSuspended(true)
  await payMonthly()
  await setSuspended(false)
  expect(await set(null)).toBe(true)
  await payMonthly()
  expect(await readOwed()).toBe(owed)
  await set(owed)
  await payMonthly()
  expect(await received()).toEqual([owed])
})

test('a payout above the limit of one payout waits with an alarm until the operator releases it', async () => {
  await set(1n)
  const owed = await earn()
  const { limits } = fixture.settings
  const { perTransactionUsd } = limits
  onTestFinished(() => void Object.assign(limits, { perTransactionUsd }))
  Object.assign(limits, { perTransactionUsd: 10n ** 12n })
  await payMonthly()
  expect(await received()).toEqual([])
  const [alarm, ...others] = await fixture.store.alarms.list(100)
  expect(others).toEqual([])
  expect(alarm?.detail).toMatchObject({ code: 'LIMIT', partnerId: partner.id, units: owed.toString() })
  const [, payoutId = ''] = alarm?.subject.split('payout:') ?? []
  await createOperatePayouts(fixture.store).release(payoutId, { actor: 'anna', reason: 'the invoice agrees' })
  expect([await received(), await listAlarms()]).toEqual([[owed], []])
})

test('a setting needs a recipient of its currency', async () => {
  expect(await settings.set(partner.name, 'btc@btc', { minimumUnits: 1n, convertsOthers: false })).toBe(false)
  expect(await settings.set('unknown', 'eth@eth', { minimumUnits: 1n, convertsOthers: false })).toBe(false)
  expect(await set(null)).toBe(false)
})

test('a recipient that may not be served any more gets nothing, with an alarm that ends with its cause', async () => {
  await set(1n)
  const owed = await earn()
  for (const refusal of [{ screening: { screen: async () => 'block' as const } }, { isOwnAddress: async () => true }]) {
    await payMonthly(refusal)
    expect([await readOwed(), await listAlarms()]).toEqual([owed, [`monthly-payout:${partner.name} eth@eth`]])
  }
  await payMonthly()
  expect([await listAlarms(), await received()]).toEqual([[], [owed]])
})

test('an intent that the balance does not cover any more is an alarm, and the next month pays the balance', async () => {
  await set(1n)
  const owed = await earn()
  await settings.plan()
  await fixture.database.query('update monthly_payouts set units = units + 1 where partner_id = $1', [partner.id])
  await payMonthly()
  expect([await readOwed(), await listAlarms()]).toEqual([owed, [`monthly-payout:${partner.name} eth@eth`]])
  await fixture.database.query(
    "update monthly_payouts set month = (month - interval '1 month')::date where partner_id = $1",
    [partner.id],
  )
  await payMonthly()
  expect([await received(), await readOwed(), await listAlarms()]).toEqual([[owed], 0n, []])
})

describe('an intent that could not be queued at once', () => {
  afterEach(() => set(null))
  const refusedNow = { screening: { screen: async () => 'block' as const } }
  /** The intent is committed, and its payout is refused. */
  async function planned(): Promise<bigint> {
    await set(1n)
    const owed = await earn()
    await payMonthly(refusedNow)
    expect(await listStates()).toEqual([{ address: partner.address, waits: true }])
    return owed
  }

  test('goes to the recipient that replaced the one of its day', async () => {
    const owed = await planned()
    await setRecipient(`${partner.address}-new`, '7')
    await payMonthly()
    expect([await received(), await listAlarms()]).toEqual([[], []])
    expect(fixture.fakes.eth.listPayments(`${partner.address}-new`).map(({ units }) => units)).toEqual([owed])
    expect(
      await fixture.database.query('select memo from payouts where address = $1', [`${partner.address}-new`]),
    ).toEqual([{ memo: '7' }])
    // A recipient that is set later is of the next month.
    await setRecipient(partner.address)
    await payMonthly()
    expect([await received(), await listStates()]).toEqual([[], [{ address: `${partner.address}-new`, waits: false }]])
  })

  test('waits while the partner is suspended, with an alarm', async () => {
    const owed = await planned()
    await setSuspended(true)
    await payMonthly()
    const [alarm] = await fixture.store.alarms.list(100)
    expect(alarm?.subject).toBe(`monthly-payout:${partner.name} eth@eth`)
    expect(String(alarm?.detail['reason'])).toMatch(/is suspended/)
    expect(await readOwed()).toBe(owed)
    await setSuspended(false)
    await payMonthly()
    expect([await received(), await listAlarms()]).toEqual([[owed], []])
  })

  test('is not paid after the end of its setting, and raises no alarm', async () => {
    const owed = await planned()
    await set(null)
    await payMonthly()
    expect([await readOwed(), await listAlarms()]).toEqual([owed, []])
  })

  test.each([
    ['the recipient is replaced', () => setRecipient(`${partner.address}-late`)],
    ['the partner is suspended', () => setSuspended(true)],
    ['the setting is ended', () => set(null)],
  ])('is not paid to what it was read with if %s while its address is checked', async (_, change) => {
    const owed = await planned()
    await payMonthly({
      screening: {
        screen: async () => {
          await change()
          return 'allow'
        },
      },
    })
    expect([await received(), await readOwed()]).toEqual([[], owed])
  })

  test('keeps the partner and its recipient as they are until its payout is committed', async () => {
    await planned()
    const order: string[] = []
    const changes: Promise<unknown>[] = []
    const store: Store = {
      ...fixture.store,
      transaction: async (work) => {
        const result = await fixture.store.transaction(async (tx) => {
          const done = await work(tx)
          for (const change of [setSuspended(true), setRecipient('too late')])
            changes.push(change.then(() => void order.push('changed')))
          // Both statements wait for this transaction.
          await expect
            .poll(
              async () =>
                (
                  await fixture.database.query(
                    "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
                  )
                ).length,
              PATIENCE,
            )
            .toBe(2)
          order.push('committed')
          return done
        })
        return result
      },
    }
    await payMonthly({ store })
    await Promise.all(changes)
    expect(order).toEqual(['committed', 'changed', 'changed'])
    expect(await listStates()).toEqual([{ address: partner.address, waits: false }])
  })
})

describe('into one currency', () => {
  /** Credits the partner in bitcoin. Returns what we owe it there. */
  async function earnBitcoin(): Promise<bigint> {
    const exchange = await fixture.createExchange({
      ...{ from: eth, to: btc, fromUnits: ETHER, recipient: null, partnerId: partner.id },
    })
    fixture.payDeposit(exchange, ETHER)
    await fixture.mineBlocks(12)
    return readBitcoin()
  }
  const readBitcoin = async () => -(await fixture.store.ledger.balance(`liability:partner:${partner.id}`, 'btc@btc'))
  const readSpread = () => fixture.store.ledger.balance('income:spread', 'eth@eth')
  /** At the bid of bitcoin and the ask of ether, less the spread of 0.4 %, without a network fee. */
  const worth = (units: bigint): bigint => {
    const [bid, ask] = [market.prices['btc']?.bid ?? 0n, market.prices['eth']?.ask ?? 1n]
    const gross = (units * bid * 10n ** 10n) / ask
    return gross - (gross * 40n + 9_999n) / 10_000n
  }

  const pausedAsset = (assetId: AssetId): Partial<PayMonthlyDeps> => ({
    books: createBookSnapshot({
      ...fixture.books.current(),
      pauses: { networks: new Set(), assets: new Set([assetId]) },
    }),
  })

  test('other balances are converted once a month at the price of a quote, whatever crashes, and paid together', async () => {
    await set(1n, true)
    const [ether, bitcoin, spreadBefore] = [await earn(), await earnBitcoin(), await readSpread()]
    expect(bitcoin).toBeGreaterThan(0n)
    await expect(payMonthly({ store: killedAt('setConverted') })).rejects.toThrow('killed')
    expect([await readBitcoin(), await readOwed()]).toEqual([0n, ether + worth(bitcoin)])
    await Promise.all(Array.from({ length: 5 }, () => payMonthly()))
    expect(await received()).toEqual([ether + worth(bitcoin)])
    expect(spreadBefore - (await readSpread())).toBeGreaterThan((worth(bitcoin) * 40n) / 10_000n)
    // What is earned later in the month waits for the next one.
    const later = await earnBitcoin()
    await payMonthly()
    expect([await readBitcoin(), await readOwed()]).toEqual([later, 0n])
  })

  test('a currency with a payout of its own is not converted, nor one that cannot be exchanged', async () => {
    await fixture.database.query(
      "insert into default_recipients (partner_id, asset_id, address) values ($1, 'btc@btc', 'own')",
      [partner.id],
    )
    await settings.set(partner.name, 'btc@btc', { minimumUnits: COIN, convertsOthers: false })
    await set(1n, true)
    const [ether, bitcoin] = [await earn(), await earnBitcoin()]
    await payMonthly()
    expect([await received(), await readBitcoin()]).toEqual([[ether], bitcoin])
    await fixture.database.query('update monthly_payout_settings set converted_month = null')
    await settings.set(partner.name, 'btc@btc', null)
    // A pause of what is not offered delays nothing.
    const notOffered = { currencyOf: (id: AssetId) => (id === 'btc@btc' ? { ...btc, enabled: false } : eth) }
    await payMonthly({ ...notOffered, ...pausedAsset('btc@btc') })
    expect([await readBitcoin(), await listAlarms()]).toEqual([bitcoin, []])
  })

  test('nothing is paid while a conversion waits for prices, a pause, the wallet or the operator: an alarm says for what', async () => {
    await set(1n, true)
    const [ether, bitcoin] = [await earn(), await earnBitcoin()]
    const later = { now: () => fixture.dependencies.clock.now() + 24 * 3_600_000 }
    const { limits } = fixture.dependencies.settings
    const held = await fixture.readWalletUnits('eth@eth')
    for (const [changes, reason] of [
      [{ clock: later }, /price/],
      [{ settings: { limits: { ...limits, perTransactionUsd: 1n } } }, /limits\.perTransactionUsd/],
      [{ currencyOf: (id) => (id === 'eth@eth' ? null : btc) }, /not listed/],
      [pausedAsset('btc@btc'), /btc@btc is paused/],
      [pausedAsset('eth@eth'), /eth@eth is paused/],
    ] as const satisfies readonly (readonly [Partial<PayMonthlyDeps>, RegExp])[]) {
      await payMonthly(changes)
      const [alarm] = await fixture.store.alarms.list(100)
      expect(alarm?.subject).toBe(`monthly-payout:${partner.name} eth@eth`)
      expect(String(alarm?.detail['reason'])).toMatch(reason)
      expect([await readOwed(), await readBitcoin()]).toEqual([ether, bitcoin])
    }
    const all = await fixture.insertPayout('eth', held, 'elsewhere', 'withdrawal')
    await payMonthly()
    expect(await readBitcoin()).toBe(bitcoin)
    const [alarm] = await fixture.store.alarms.list(100)
    expect(String(alarm?.detail['reason'])).toMatch(/does not cover/)
    await fixture.store.payouts.void(all)
    await payMonthly()
    expect([await listAlarms(), await received()]).toEqual([[], [ether + worth(bitcoin)]])
  })

  test('one currency of a partner converts the others: the one that was set last', async () => {
    await fixture.database.query(
      "insert into default_recipients (partner_id, asset_id, address) values ($1, 'btc@btc', 'own')",
      [partner.id],
    )
    for (const assetId of ['btc@btc', 'eth@eth'] as const)
      expect(await settings.set(partner.name, assetId, { minimumUnits: 1n, convertsOthers: true })).toBe(true)
    const due = await settings.listUnconverted()
    expect(due.filter(({ partnerId: id }) => id === partner.id).map(({ assetId }) => assetId)).toEqual(['eth@eth'])
  })
})
