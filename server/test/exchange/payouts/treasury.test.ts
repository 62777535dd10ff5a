import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createMaxFees } from '../../../src/app/max-fees.ts'
import { freeCapitalOf } from '../../../src/exchange/domain/free-capital.ts'
import { createOperateBalances } from '../../../src/exchange/operations/operate-balances.ts'
import { createOperatePayouts } from '../../../src/exchange/operations/operate-payouts.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
let treasury: ReturnType<typeof createOperateBalances>
beforeAll(async () => {
  fixture = await startMoneyPath()
  treasury = createOperateBalances(fixture.store, maxFeesOf)
  Object.assign(fixture.settings, { coldAddresses: ['eth:cold', 'eth:cold-dropped', 'btc:cold'] })
  await fixture.fundWallets({ btc: 10n * COIN, eth: 100n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => fixture.expectBalanced())

const maxFeesOf = createMaxFees('sandbox')
const note = { actor: 'anna', reason: 'the wallet holds too much' }
const toCold = (address = 'cold') =>
  ({ assetId: 'eth@eth', network: 'eth', destination: { address, memo: null } }) as const
const countReceived = (address: string) => fixture.fakes.eth.listPayments(address).length
const readCapital = () => fixture.store.ledger.balance('equity:capital', 'eth@eth')

test('capital is withdrawn to a cold address once, booked as capital, and raises no intrusion alarm', async () => {
  const before = await readCapital()
  const withdraw = () => treasury.withdraw({ ...toCold(), units: 10n * ETHER }, 'first', note)
  expect(await withdraw()).toMatchObject({ state: 'reserved', repeated: false })
  // Also above the limit of one payout, 20 000 dollars: it is no outflow.
  await fixture.mineBlocks(4)
  expect(await withdraw()).toMatchObject({ state: 'confirmed', repeated: true })
  expect(countReceived('cold')).toBe(1)
  expect((await readCapital()) - before).toBe(10n * ETHER)
  expect(await fixture.readWalletUnits('eth@eth')).toBe(fixture.fakes.eth.balanceOf('eth-hot', null))
  expect(await fixture.listAlarmKinds()).not.toContain('intrusion')
  const [act] = await fixture.database.query("select actor, subject from operator_acts where act = 'treasury withdraw'")
  expect(act).toEqual({ actor: 'anna', subject: 'the treasury' })
})

test('what is owed or reserved is not withdrawn', async () => {
  const exchange = await fixture.queuePayout()
  const fees = maxFeesOf('eth')
  const { units: free } = freeCapitalOf('eth@eth', await fixture.store.inventory.capital('eth@eth', fees), fees)
  expect(free).toBeLessThan((await fixture.readWalletUnits('eth@eth')) - ETHER / 10n)
  const aboveFree = { ...toCold(), units: free + 1n }
  await expect(treasury.withdraw(aboveFree, 'above', note)).rejects.toThrow('cannot be paid out')
  await fixture.mineBlocks(5)
  expect(await fixture.readStatus(exchange)).toBe('finished')
})

test('a ceiling withdraws what is above it', async () => {
  const held = await fixture.readWalletUnits('eth@eth')
  const done = await treasury.withdrawAbove(toCold(), 20n * ETHER, 'ceiling', note)
  expect(done.units).toBe(held - 20n * ETHER)
  await fixture.mineBlocks(4)
  // 20 ETH, less the network fee.
  const left = await fixture.readWalletUnits('eth@eth')
  expect(left <= 20n * ETHER && left > 19n * ETHER).toBe(true)
  await expect(treasury.withdrawAbove(toCold(), 20n * ETHER, 'again', note)).rejects.toThrow('nothing above')
})

test('a ceiling with a used key answers what it moved, and refuses another currency or address', async () => {
  await fixture.fundWallets({ eth: 10n * ETHER })
  const above = (given: Partial<Parameters<typeof treasury.withdrawAbove>[0]> = {}) =>
    treasury.withdrawAbove({ ...toCold(), ...given }, 20n * ETHER, 'week-20', note)
  const { payoutId, units } = await above()
  await fixture.mineBlocks(4)
  await fixture.fundWallets({ eth: ETHER })
  expect(await above()).toEqual({ payoutId, state: 'confirmed', repeated: true, units })
  await expect(above({ assetId: 'btc@btc', network: 'btc' })).rejects.toThrow('already has a payout')
  await expect(above({ destination: { address: 'another', memo: null } })).rejects.toThrow('already has a payout')
  await expect(above({ destination: { address: 'cold', memo: '7' } })).rejects.toThrow('already has a payout')
  expect(countReceived('cold')).toBe(3)
})

test('a ceiling with the key of a dropped payout is refused', async () => {
  const above = () => treasury.withdrawAbove(toCold(), 5n * ETHER, 'dropped', note)
  const { payoutId } = await above()
  await createOperatePayouts(fixture.store).drop(payoutId, note)
  await expect(above()).rejects.toThrow('was dropped: use another --key')
})

test('a payout to a cold address that is not signed is dropped, whether it is queued or waits', async () => {
  const before = await readCapital()
  await fixture.store.pauses.pause('payouts:eth', 'decide about it', 'the test')
  const withdraw = (key: string) => treasury.withdraw({ ...toCold('cold-dropped'), units: ETHER }, key, note)
  const [queued, waiting] = [await withdraw('queued'), await withdraw('waiting')]
  // To the same address, and not dropped.
  await withdraw('kept')
  await fixture.store.payouts.postpone([waiting.payoutId], 'payout-fee:eth')
  const operate = createOperatePayouts(fixture.store)
  await expect(operate.release(queued.payoutId, note)).rejects.toThrow('no decision is needed')
  for (const { payoutId } of [queued, waiting]) await operate.drop(payoutId, note)
  await expect(operate.drop(queued.payoutId, note)).rejects.toThrow('is void')
  await fixture.store.pauses.resume('payouts:eth')
  await fixture.mineBlocks(3)
  expect([(await readCapital()) - before, countReceived('cold-dropped')]).toEqual([ETHER, 1])
})

test('an address that is not in the config is refused by the worker, whatever the database says', async () => {
  const { payoutId } = await treasury.withdraw({ ...toCold('a thief'), units: ETHER }, 'elsewhere', note)
  await fixture.mineBlocks(3)
  expect(countReceived('a thief')).toBe(0)
  const [row] = await fixture.database.query('select state, attention from payouts where id = $1', [payoutId])
  expect(row).toEqual({ state: 'reserved', attention: 'SIMULATION_FAILED' })
  await fixture.store.payouts.void(payoutId)
})

// M27.6: a customer who paid the hot wallet by mistake had given the coins to the operator.
test('M27.6: coins that arrive at a hot wallet for no exchange are unclaimed until the operator claims or returns them', async () => {
  Object.assign(fixture.settings, { fundingsAreCapital: false })
  const capital = await readCapital()
  const readAvailable = async () => (await fixture.store.inventory.available()).get('eth@eth') ?? 0n
  const available = await readAvailable()
  fixture.fakes.eth.pay('eth-hot', 2n * ETHER)
  fixture.fakes.eth.pay('eth-hot', ETHER)
  await fixture.mineBlocks(4)
  expect([await readCapital(), await readAvailable()]).toEqual([capital, available])
  const listAlarms = async () => (await fixture.store.alarms.list(99)).map(({ subject }) => subject)
  expect(await listAlarms()).toContain('unclaimed:eth')
  const [own, mistake] = (await fixture.store.operator.listUnclaimed(9)).toSorted((a, b) => Number(b.units - a.units))

  await createOperatePayouts(fixture.store).claim(own?.depositId ?? '', note)
  // Capital is a liability: more of it is a lower balance.
  expect([await readCapital(), await readAvailable()]).toEqual([capital - 2n * ETHER, available + 2n * ETHER])
  expect(await listAlarms()).toContain('unclaimed:eth')

  await treasury.payUnclaimed(mistake?.depositId ?? '', async () => ({ address: 'her wallet', memo: null }), note)
  await fixture.mineBlocks(4)
  expect(fixture.fakes.eth.listPayments('her wallet').map(({ units }) => units)).toEqual([ETHER])
  expect(await readCapital()).toBe(capital - 2n * ETHER)
  expect(await listAlarms()).not.toContain('unclaimed:eth')
  Object.assign(fixture.settings, { fundingsAreCapital: true })
})

test('an unclaimed deposit that left the chain answers with the payout that it has, and has none after it is dropped', async () => {
  Object.assign(fixture.settings, { fundingsAreCapital: false })
  await fixture.store.pauses.pause('payouts:eth', 'decide about it', 'the test')
  const txHash = fixture.fakes.eth.pay('eth-hot', ETHER)
  await fixture.mineBlocks(2)
  const [deposit] = await fixture.store.operator.listUnclaimed(9)
  const pay = (address = 'her wallet') =>
    treasury.payUnclaimed(deposit?.depositId ?? '', async () => ({ address, memo: null }), note)
  // The first payout was dropped, and the second waits.
  await createOperatePayouts(fixture.store).drop((await pay('another wallet')).payoutId, note)
  const { payoutId } = await pay()
  fixture.fakes.eth.reorg(2, (hash) => hash === txHash)
  await fixture.runWorkers()
  const expected = { payoutId, state: 'reserved', repeated: true, assetId: 'eth@eth', units: ETHER }
  expect(await pay()).toEqual(expected)
  await expect(pay('another wallet')).rejects.toThrow('already has a payout')
  await createOperatePayouts(fixture.store).drop(payoutId, note)
  await expect(pay()).rejects.toThrow('is not unclaimed')
  await fixture.store.pauses.resume('payouts:eth')
  Object.assign(fixture.settings, { fundingsAreCapital: true })
})

test.each([
  ['before', 1],
  ['after', 2],
])(
  'M27.6: an unclaimed deposit whose pay-out is dropped %s it returns to the chain is owed once',
  async (_when, order) => {
    Object.assign(fixture.settings, { fundingsAreCapital: false })
    const readBalances = async () =>
      Promise.all(
        (['liability:unclaimed', 'equity:capital', 'asset:wallet'] as const).map((account) =>
          fixture.store.ledger.balance(account, 'eth@eth'),
        ),
      )
    const [unclaimed = 0n, capital, wallet = 0n] = await readBalances()
    const txHash = fixture.fakes.eth.pay('eth-hot', ETHER)
    await fixture.mineBlocks(2)
    const payment = fixture.fakes.eth.listPayments('eth-hot').find((one) => one.txHash === txHash)
    const [deposit] = await fixture.store.operator.listUnclaimed(9)
    await fixture.store.pauses.pause('payouts:eth', 'decide about it', 'the test')
    const destination = async () => ({ address: 'her wallet', memo: null })
    const { payoutId } = await treasury.payUnclaimed(deposit?.depositId ?? '', destination, note)
    fixture.fakes.eth.reorg(2, (hash) => hash === txHash)
    await fixture.runWorkers()
    const drop = () => createOperatePayouts(fixture.store).drop(payoutId, note)
    const returnToChain = async () => {
      fixture.fakes.eth.resubmit(payment)
      await fixture.mineBlocks(3)
    }
    if (order === 1) {
      await drop()
      expect(await readBalances()).toEqual([unclaimed, capital, wallet])
    }
    await returnToChain()
    if (order === 2) await drop()
    expect(await fixture.store.ledger.balance(`liability:withdrawal:${payoutId}`, 'eth@eth')).toBe(0n)
    // Liabilities are credits, so they are negative.
    expect(await readBalances()).toEqual([unclaimed - ETHER, capital, wallet + ETHER])
    expect((await fixture.store.alarms.list(99)).map(({ subject }) => subject)).toContain('unclaimed:eth')
    await createOperatePayouts(fixture.store).claim(deposit?.depositId ?? '', note)
    await fixture.store.pauses.resume('payouts:eth')
    Object.assign(fixture.settings, { fundingsAreCapital: true })
  },
)
