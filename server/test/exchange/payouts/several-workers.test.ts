import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openSigningJournal } from '../../../src/adapters/signers/signing-journal.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createAdvanceTransaction } from '../../../src/exchange/payouts/advance-transaction.ts'
import { createDispatchPayouts } from '../../../src/exchange/payouts/dispatch-payouts.ts'
import type { Signer, SignIntent } from '../../../src/exchange/ports/signer.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

const SMALL = COIN / 200n
const folder = mkdtempSync(join(tmpdir(), 'swapyard-workers-'))
let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(async () => {
  await fixture.close()
  rmSync(folder, { recursive: true, force: true })
})
afterEach(() => fixture.expectBalanced())

const conflictKeyOf = (intent: SignIntent) =>
  intent.family === 'evm' ? `${intent.from.index}:${intent.nonce}` : `${intent.inputs[0]?.outpoint}`
const paysOf = (intent: SignIntent) => (intent.family === 'evm' ? [intent.pay] : intent.pays)

/** A worker with a journal of its own, as on another machine. */
async function startWorker(name: string, chains = fixture.dependencies.chains) {
  const journal = await openSigningJournal(join(folder, name))
  const signer: Signer = {
    ...fixture.dependencies.signer,
    sign: async (intent) => {
      await journal.check(paysOf(intent), conflictKeyOf(intent))
      return fixture.dependencies.signer.sign(intent)
    },
    release: (transaction) =>
      journal.release(paysOf(transaction.intent), conflictKeyOf(transaction.intent), transaction),
    recordInvalidation: journal.recordInvalidation,
  }
  const dependencies = { ...fixture.dependencies, signer, chains }
  return {
    dispatch: createDispatchPayouts(dependencies),
    advance: createAdvanceTransaction(dependencies),
    close: journal.close,
  }
}

/** The transaction of a network that is signed and not confirmed. */
async function findLive(network: string) {
  const [row] = await fixture.database.query<{ id: string; conflictKey: string }>(
    `select id, conflict_key as "conflictKey" from transactions where network = $1 and state = 'live'`,
    [network],
  )
  if (!row) throw new Error('no live transaction')
  return row
}

/** Signs and pays the payout of an exchange with another transaction than `id`, without an alarm. */
async function payAgain(
  worker: Awaited<ReturnType<typeof startWorker>>,
  network: string,
  id: string,
  exchange: Exchange,
): Promise<void> {
  await worker.dispatch(network)
  const again = await findLive(network)
  expect(again.id).not.toBe(id)
  await worker.advance(again.id)
  await fixture.mineBlocks(4)
  expect(await fixture.readStatus(exchange)).toBe('finished')
  expect(await fixture.listAlarmKinds()).not.toContain('payout')
  expect(await fixture.listAlarmKinds()).not.toContain('release')
}

test('M14: a worker learns a conflict proof that another one found, and pays', async () => {
  const [first, second] = [await startWorker('first.log'), await startWorker('second.log')]
  await fixture.store.pauses.pause('payouts:eth', 'collect the payout', 'the test')
  const exchange = await fixture.createExchange()
  fixture.payDeposit(exchange, SMALL)
  await fixture.mineBlocks(4)
  await fixture.store.pauses.resume('payouts:eth')
  await fixture.clearHolds()
  // The first worker releases a transaction that never reaches a node, and somebody uses its nonce.
  fixture.fakes.eth.behaviour.dropsBroadcasts = true
  await first.dispatch('eth')
  const { id, conflictKey } = await findLive('eth')
  await first.advance(id)
  fixture.fakes.eth.behaviour.dropsBroadcasts = false
  fixture.fakes.eth.addConflict(conflictKey)
  for (let n = 0; n <= eth.network.finalityBlocks + 1; n++) fixture.fakes.eth.mine()
  await fixture.services.record(fixture.fakes.eth.chain)
  // The second worker proves it and records the proof in its own journal; the first one signs again.
  await second.advance(id)
  await payAgain(first, 'eth', id, exchange)
  expect(fixture.countEtherPayments(exchange)).toBe(1)
  await Promise.all([first.close(), second.close()])
})

test('M14: a worker learns that another one quarantined the inputs of its release, and pays', async () => {
  const { chain, behaviour, pay } = fixture.fakes.btc
  // Outputs are chosen largest first.
  behaviour.unsignableOutpoint = `${pay(chain.addresses.hot(), 60n * COIN)}:0`
  await fixture.mineBlocks(3)
  // The first worker stops between the release and the broadcast.
  const stop = () => Promise.reject(new Error('the worker stops'))
  const stopping = { ...chain, sender: { ...chain.sender, findScriptFailure: stop } }
  const chains = new Map(fixture.dependencies.chains).set('btc', stopping)
  const [stopped, second] = [await startWorker('stopped.log', chains), await startWorker('other.log')]
  const exchange = await queuePayout()
  await stopped.dispatch('btc')
  const { id } = await findLive('btc')
  await expect(stopped.advance(id)).rejects.toThrow('the worker stops')
  await stopped.close()
  const first = await startWorker('stopped.log')
  await second.advance(id)
  await payAgain(first, 'btc', id, exchange)
  behaviour.unsignableOutpoint = null
  await fixture.database.query("update coins set quarantined = false where network = 'btc'")
  await Promise.all([first.close(), second.close()])
})

/** Dispatchers of a chain whose wallet builds slowly: each build waits for `finish`. */
function startSlowDispatchers() {
  const building = Promise.withResolvers<void>()
  const { promise: gate, resolve: finish } = Promise.withResolvers<void>()
  const { chain } = fixture.fakes.btc
  const sender: typeof chain.sender = {
    ...chain.sender,
    buildsSlowly: true,
    build: async (request) => {
      building.resolve()
      await gate
      return chain.sender.build(request)
    },
  }
  const chains = new Map(fixture.dependencies.chains).set('btc', { ...chain, sender })
  const start = () => createDispatchPayouts({ ...fixture.dependencies, chains })('btc')
  return { start, building: building.promise, finish }
}

/** A payout in bitcoin that is queued. */
async function queuePayout() {
  await fixture.store.pauses.pause('payouts:btc', 'collect the payout', 'the test')
  const exchange = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER / 10n })
  fixture.payDeposit(exchange, ETHER / 10n, 'somebody')
  await fixture.mineBlocks(4)
  await fixture.store.pauses.resume('payouts:btc')
  await fixture.clearHolds()
  return exchange
}

test('M23: a wallet that builds slowly delays no pause, and what was paused meanwhile is not signed', async () => {
  const exchange = await queuePayout()
  const slow = startSlowDispatchers()
  const dispatching = slow.start()
  await slow.building
  await fixture.store.pauses.pause('payouts:btc', 'an emergency', 'the test')
  // No signature has begun.
  await fixture.store.pauses.waitForSigners()
  slow.finish()
  await dispatching
  expect((await fixture.listPayouts(exchange)).map(({ state }) => state)).toEqual(['reserved'])
  await fixture.store.pauses.resume('payouts:btc')
  await fixture.clearHolds()
  await fixture.mineBlocks(4)
  expect(await fixture.readStatus(exchange)).toBe('finished')
})

test('M23: two workers that built a transaction from the same outputs sign one', async () => {
  const exchange = await queuePayout()
  const slow = startSlowDispatchers()
  const dispatching = Promise.all([slow.start(), slow.start()])
  await slow.building
  slow.finish()
  await dispatching
  const attempts = await fixture.database.query(
    `select 1 from attempts a join payouts p on p.transaction_id = a.transaction_id where p.exchange_id = $1`,
    [exchange.id],
  )
  expect(attempts).toHaveLength(1)
  await fixture.mineBlocks(4)
  expect(await fixture.readStatus(exchange)).toBe('finished')
})

test('M23: a wallet that builds slowly delays no signature on another network', async () => {
  const networks = ['btc', 'eth'] as const
  for (const network of networks) await fixture.store.pauses.pause(`payouts:${network}`, 'collect them', 'the test')
  const toBitcoin = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER / 10n })
  fixture.payDeposit(toBitcoin, ETHER / 10n, 'somebody')
  const toEther = await fixture.createExchange()
  fixture.payDeposit(toEther, SMALL)
  await fixture.mineBlocks(4)
  for (const network of networks) await fixture.store.pauses.resume(`payouts:${network}`)
  await fixture.clearHolds()
  const slow = startSlowDispatchers()
  const dispatching = slow.start()
  await slow.building
  await fixture.services.dispatch('eth')
  const readStates = async (exchange: typeof toEther) => (await fixture.listPayouts(exchange)).map(({ state }) => state)
  expect([await readStates(toEther), await readStates(toBitcoin)]).toEqual([['signed'], ['reserved']])
  slow.finish()
  await dispatching
  await fixture.mineBlocks(4)
  expect([await fixture.readStatus(toEther), await fixture.readStatus(toBitcoin)]).toEqual(['finished', 'finished'])
})

test('M23: an output that was lost while a transaction with it was built is not signed', async () => {
  await fixture.fundWallets({ btc: 7n * COIN, eth: ETHER })
  const exchange = await queuePayout()
  const slow = startSlowDispatchers()
  const dispatching = slow.start()
  await slow.building
  // The build took the largest.
  const [lost] = await fixture.database.query<{ outpoint: string }>(
    `update coins set quarantined = true where outpoint = (
       select outpoint from coins where network = 'btc' and spent_by is null and reserved_by is null and block_height is not null
       order by units desc limit 1)
     returning outpoint`,
  )
  slow.finish()
  await dispatching
  const signed = await fixture.database.query<{ resources: string[] }>(
    `select t.resources from transactions t join payouts p on p.transaction_id = t.id where p.exchange_id = $1`,
    [exchange.id],
  )
  expect(signed).toHaveLength(1)
  expect(signed[0]?.resources).not.toContain(lost?.outpoint)
  await fixture.database.query("update coins set quarantined = false where network = 'btc'")
  await fixture.clearHolds()
  await fixture.mineBlocks(4)
  expect(await fixture.readStatus(exchange)).toBe('finished')
})
