import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createWatchOutflow } from '../../../src/exchange/operations/watch-outflow.ts'
import { ETHER, startMoneyPath } from '../money-path.ts'

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ eth: 10_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => fixture.expectBalanced())

const UNITS = ETHER / 100n
const MANY = 60
const insert = (address: string, units = UNITS) => fixture.insertPayout('eth', units, address, 'withdrawal')
const insertMany = (address: string, units: bigint) =>
  Promise.all(Array.from({ length: MANY }, () => insert(address, units)))
const readState = async (id: string) =>
  (await fixture.database.query<{ state: string }>('select state from payouts where id = $1', [id]))[0]?.state
/** Runs the dispatcher once and counts what it asks of the node about single payouts. */
async function dispatch(): Promise<number> {
  const { sender } = fixture.fakes.eth.chain
  const { gasLimit } = sender
  let asked = 0
  sender.gasLimit = (...args) => {
    asked++
    return gasLimit.apply(sender, args)
  }
  await fixture.services.dispatch('eth')
  sender.gasLimit = gasLimit
  return asked
}

const insertToken = () => fixture.insertPayout('eth', 1n, 'paused', 'withdrawal', 'usdt@eth')

const USD = 10n ** 12n

/** Counts an outflow of an earlier payout in the scope of all. */
async function useOutflow(usd: bigint): Promise<void> {
  const id = await insert('paid before')
  await fixture.database.query("update payouts set state = 'void' where id = $1", [id])
  await fixture.database.query("insert into outflows (payout_id, scope, usd) values ($1, 'all', $2)", [id, usd])
}

/** Runs a test with these limits of the outflow, and with these dollars as the outflow so far. */
async function withLimits(
  limits: Partial<typeof fixture.settings.limits>,
  usedUsd: bigint,
  run: () => Promise<void>,
): Promise<void> {
  const before = { ...fixture.settings.limits }
  Object.assign(fixture.settings.limits, limits)
  await fixture.database.query('delete from outflows')
  await useOutflow(usedUsd)
  try {
    await run()
  } finally {
    Object.assign(fixture.settings.limits, before)
  }
}

// M7: paused and limited payouts were taken oldest first, for ever, and each cost several requests to the node.
test('M7: many paused payouts delay none of another asset, and cost no request', async () => {
  const paused = await Promise.all(Array.from({ length: MANY }, insertToken))
  const other = await insert('another asset')
  await fixture.store.pauses.pause('asset:usdt@eth', 'a test', 'test')
  expect(await dispatch()).toBe(1)
  expect([await readState(paused[0] ?? ''), await readState(other)]).toEqual(['reserved', 'signed'])
  await fixture.store.pauses.resume('asset:usdt@eth')
  expect(await fixture.store.payouts.queue('eth', 100)).toHaveLength(MANY)
  await fixture.database.query("update payouts set state = 'void' where id = any($1::uuid[])", [paused])
})

test('M7: many payouts above what is left of a limit delay none below it, and cost no request', async () => {
  // 3 ETH are 12 000 dollars: within the limit, and more than is left of it.
  const limits = { hourUsd: 15_000n * USD, dayUsd: 15_000n * USD, perTransactionUsd: 15_000n * USD }
  await withLimits(limits, 10_000n * USD, async () => {
    const limited = await insertMany('limited', 3n * ETHER)
    const small = await insert('small')
    expect(await dispatch()).toBe(0)
    expect(await dispatch()).toBe(1)
    expect(await readState(small)).toBe('signed')
    expect(await fixture.listAlarmKinds()).toContain('limit')
    // Each wait is twice as long as the one before, from 5 s to 5 min.
    const waits: number[] = []
    await fixture.database.query('update payouts set postponed = 0 where id = $1', [limited[0]])
    for (let n = 0; n < 7; n++) {
      await fixture.store.payouts.postpone(limited.slice(0, 1), 'limit:all')
      const [row] = await fixture.database.query<{ seconds: string }>(
        'select round(extract(epoch from held_until - clock_timestamp())) as seconds from payouts where id = $1',
        [limited[0]],
      )
      waits.push(Number(row?.seconds))
    }
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 300])
    await fixture.database.query("update payouts set state = 'void' where id = any($1::uuid[])", [limited])
  })
})

test('a payout above a whole limit waits for a person, then for the whole limit', async () => {
  const limits = { hourUsd: 10_000n * USD, dayUsd: 10_000n * USD, perTransactionUsd: 15_000n * USD }
  await withLimits(limits, 1n * USD, async () => {
    const large = await insert('large', 3n * ETHER)
    expect(await dispatch()).toBe(0)
    const read = async () =>
      (await fixture.database.query('select state, attention, postponed from payouts where id = $1', [large]))[0]
    expect(await read()).toMatchObject({ state: 'reserved', attention: 'LIMIT' })
    await fixture.store.payouts.approve(large)
    expect(await dispatch()).toBe(0)
    expect(await read()).toMatchObject({ state: 'reserved', attention: null, postponed: 1 })
    expect(await fixture.listAlarmKinds()).toContain('limit')
    // The alarm stays while the payout waits, although less than half of the limit is used.
    await createWatchOutflow({ store: fixture.store, settings: fixture.settings })()
    expect(await fixture.listAlarmKinds()).toContain('limit')
    await fixture.database.query("update outflows set at = at - interval '25 hours'")
    await fixture.clearHolds()
    expect(await dispatch()).toBe(1)
    expect(await read()).toMatchObject({ state: 'signed' })
  })
})

test('M7: the alarm of what payouts wait for names the oldest, and ends when none waits for it', async () => {
  const { alarms } = fixture.store
  const watch = createWatchOutflow(fixture)
  const drop = (ids: readonly string[]) =>
    fixture.database.query("update payouts set state = 'void' where id = any($1::uuid[])", [ids])
  const limits = { hourUsd: 15_000n * USD, dayUsd: 15_000n * USD, perTransactionUsd: 15_000n * USD }
  await withLimits(limits, 10_000n * USD, async () => {
    const older = await insert('older', 3n * ETHER)
    const younger = await insert('younger', (29n * ETHER) / 10n)
    await dispatch()
    await fixture.database.query('update payouts set held_until = null where id = $1', [younger])
    await dispatch()
    expect(await alarms.find('limit:all')).toMatchObject({
      detail: {
        payoutId: older,
        assetId: 'eth@eth',
        units: '3000000000000000000',
        since: expect.stringMatching(/^20/),
        payouts: 2,
      },
    })
    const uncovered = await fixture.insertPayout('eth', 4_000_000_000n, 'a token', 'withdrawal', 'usdt@eth')
    await dispatch()
    await drop([older, younger])
    await watch()
    expect(await alarms.find('limit:all')).toBeNull()
    expect(await alarms.find('wallet:usdt@eth')).toMatchObject({ detail: { payoutId: uncovered } })
    // A payout of another asset says nothing about this one.
    const other = await insert('another asset')
    await dispatch()
    expect(await readState(other)).toBe('signed')
    await watch()
    expect(await alarms.find('wallet:usdt@eth')).not.toBeNull()
    await drop([uncovered])
    await watch()
    expect(await alarms.find('wallet:usdt@eth')).toBeNull()
  })
})

// Each retry of a large payout moved all younger payouts of its asset behind it, also those that the wallet covered.
test('M7: many large payouts that the wallet does not cover delay no small ones behind them, and cost no request', async () => {
  const { eth } = fixture.fakes
  const insertToken = (units: bigint) => fixture.insertPayout('eth', units, 'a token', 'withdrawal', 'usdt@eth')
  const large = await Promise.all(Array.from({ length: MANY }, () => insertToken(5_000_000_000n)))
  const small = await Promise.all(Array.from({ length: 10 }, () => insertToken(50_000_000n)))
  for (let n = 0; n < 2; n++) expect(await dispatch()).toBe(0)
  eth.pay(eth.chain.addresses.hot(), 1_000_000_000n, { contract: '0xusdt' })
  for (let n = 0; n < 3; n++) {
    eth.mine()
    await fixture.runWatchers()
  }
  let asked = 0
  for (let n = 0; n < 3; n++) {
    await fixture.database.query("update payouts set held_until = held_until - interval '1 minute'")
    asked += await dispatch()
  }
  expect(new Set(await Promise.all(small.map(readState)))).toEqual(new Set(['signed']))
  expect(new Set(await Promise.all(large.map(readState)))).toEqual(new Set(['reserved']))
  expect(asked).toBe(10)
  expect(await fixture.listAlarmKinds()).toContain('wallet')
  // The wallet is filled: the large ones are paid, too.
  eth.pay(eth.chain.addresses.hot(), 400_000_000_000n, { contract: '0xusdt' })
  for (let n = 0; n < 3; n++) {
    eth.mine()
    await fixture.runWatchers()
  }
  for (let n = 0; n < 3; n++) {
    await fixture.database.query("update payouts set held_until = held_until - interval '1 minute'")
    await dispatch()
  }
  expect(new Set(await Promise.all(large.map(readState)))).toEqual(new Set(['signed']))
})

test('a payout that was held stands behind those that became ready meanwhile, and before later ones', async () => {
  const [held, before] = [await insert('held'), await insert('before')]
  await fixture.database.query('update payouts set held_until = clock_timestamp() where id = $1', [held])
  const after = await insert('after')
  expect((await fixture.store.payouts.queue('eth', 9)).map(({ id }) => id)).toEqual([before, held, after])
})
