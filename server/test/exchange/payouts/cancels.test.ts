import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { checkpoints, onCheckpoint } from '../../../src/core/services/checkpoint.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { restoreSignedPayouts } from '../../../src/exchange/operations/restore-signed-payouts.ts'
import type { Transfer } from '../../../src/exchange/ports/chain.ts'
import { isCancel, type SignIntent } from '../../../src/exchange/ports/signer.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'
import { crashAt, ignoreSimulatedCrash } from '../settlement/crash-at.ts'

/*
 * The second half of M13: a payout whose deposit left the chain kept every later nonce of its wallet waiting. Its nonce is
 * now used up by a transfer of zero to ourselves, and the payout is queued again when that one is final.
 */
const SMALL = COIN / 200n
/** More blocks than make a transaction of the fake chains final. */
const FINAL = 13

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
  await mineTogether(FINAL)
})
afterAll(() => fixture.close())
afterEach(async () => {
  onCheckpoint(null)
  await fixture.expectBalanced()
  // The network costs of cancels are in the ledger.
  expect(await fixture.readWalletUnits('eth@eth')).toBe(fixture.fakes.eth.balanceOf('eth-hot', null))
  expect(await listCostsWithoutExchange()).toEqual([])
})

const listCostsWithoutExchange = async () => {
  const period = { from: new Date(Date.now() - 86_400_000), to: new Date(Date.now() + 86_400_000) }
  return (await fixture.store.reports.costs(period, 'exchange', 1_000)).filter(({ group }) => group === null)
}

type Stranded = Readonly<{ exchange: Exchange; later: Exchange; id: string; deposit: Transfer; raw: string }>

const age = (id: string, table: 'attempts' | 'transactions') =>
  fixture.database.query(
    `update ${table} set created_at = created_at - interval '1 day' where ${table === 'attempts' ? 'transaction_id' : 'id'} = $1`,
    [id],
  )
const readTransactionId = async (exchange: Exchange): Promise<string> => {
  const [row] = await fixture.database.query<{ id: string | null }>(
    'select transaction_id as id from payouts where exchange_id = $1 and transaction_id is not null',
    [exchange.id],
  )
  return row?.id ?? ''
}
const loadTransaction = (id: string) => fixture.store.transactions.load(id)
const listKinds = async (id: string) =>
  (await loadTransaction(id))?.attempts.map(({ intent }) => (isCancel(intent) ? 'cancel' : 'payment'))

/** Two signed payouts that no node has. The deposit behind the first one left the chain; the second one waits behind it. */
async function strand({ hasLater = true } = {}): Promise<Stranded> {
  const { fakes } = fixture
  const [exchange, later] = [await fixture.createExchange(), await fixture.createExchange()]
  fakes.eth.behaviour.dropsBroadcasts = true
  const txHash = fixture.payDeposit(exchange, SMALL)
  await mineTogether(2)
  const id = await readTransactionId(exchange)
  if (hasLater) {
    fixture.payDeposit(later, SMALL)
    await mineTogether(2)
    await age(await readTransactionId(later), 'transactions')
  }
  await age(id, 'attempts')
  const [deposit] = fakes.btc.listPayments(exchange.deposit.address)
  fakes.btc.reorg(4, (hash) => hash === txHash)
  for (let n = 0; n < 3; n++) fakes.btc.mine()
  await fixture.runWatchers()
  fakes.eth.behaviour.dropsBroadcasts = false
  if (!deposit) throw new Error('the deposit was mined')
  return { exchange, later, id, deposit, raw: (await loadTransaction(id))?.attempts[0]?.raw ?? '' }
}

/** Mines blocks on both chains at once. */
async function mineTogether(blocks: number): Promise<void> {
  fixture.fakes.btc.mine(blocks)
  fixture.fakes.eth.mine(blocks)
  await fixture.runWorkers()
}

/** The deposit is mined again, and everything ends. */
async function finish({ exchange, later, deposit }: Stranded): Promise<void> {
  fixture.fakes.btc.resubmit(deposit)
  const isOpen = async () =>
    (await fixture.readStatus(exchange)) !== 'finished' || (await fixture.readStatus(later)) !== 'finished'
  for (let n = 0; n < 8 && (await isOpen()); n++) await mineTogether(n === 0 ? FINAL : 2)
  expect([await fixture.readStatus(exchange), await fixture.readStatus(later)]).toEqual(['finished', 'finished'])
  expect([fixture.countEtherPayments(exchange), fixture.countEtherPayments(later)]).toEqual([1, 1])
}

const readNonce = (intent: SignIntent | undefined) => (intent?.family === 'evm' ? intent.nonce : null)

describe('M13: a payout whose deposit left the chain, with later nonces behind it', () => {
  test('is cancelled once; its nonce pays nothing, and it is paid with another nonce when its deposit is back', async () => {
    const stranded = await strand()
    const { exchange, later, id } = stranded
    await fixture.services.advance(id)
    expect(await listKinds(id)).toEqual(['payment', 'cancel'])
    await fixture.runJobs(1)
    await mineTogether(FINAL)
    expect(await listKinds(id)).toEqual(['payment', 'cancel'])
    const cancelled = await loadTransaction(id)
    expect(cancelled?.state).toBe('invalidated')
    expect([fixture.countEtherPayments(exchange), fixture.countEtherPayments(later)]).toEqual([0, 1])
    // Its hash is never shown as that of a payout, and there is no alarm.
    expect((await fixture.readExecution(exchange)).payout?.txHash ?? null).toBeNull()
    expect(await fixture.listAlarmKinds()).not.toContain('intrusion')
    expect(await fixture.listAlarmKinds()).not.toContain('invalid')
    await finish(stranded)
    const paid = await loadTransaction(await readTransactionId(exchange))
    expect(readNonce(paid?.attempts[0]?.intent)).toBeGreaterThan(readNonce(cancelled?.attempts[0]?.intent) ?? 0)
  })

  test('gets a higher fee for its cancel, and no payment any more, also when the deposit is back', async () => {
    const stranded = await strand()
    const { id, deposit } = stranded
    fixture.fakes.eth.behaviour.dropsBroadcasts = true
    await fixture.services.advance(id)
    fixture.fakes.btc.resubmit(deposit)
    fixture.fakes.btc.mine(3)
    await fixture.runWatchers()
    await age(id, 'attempts')
    await fixture.services.advance(id)
    await age(id, 'attempts')
    await fixture.services.advance(id)
    expect(await listKinds(id)).toEqual(['payment', 'cancel', 'cancel'])
    fixture.fakes.eth.behaviour.dropsBroadcasts = false
    await finish(stranded)
  })

  test('is not cancelled while nothing waits behind it, nor while its network is paused', async () => {
    const alone = await strand({ hasLater: false })
    await fixture.services.advance(alone.id)
    expect(await listKinds(alone.id)).toEqual(['payment'])
    fixture.payDeposit(alone.later, SMALL)
    await finish(alone)
    const paused = await strand()
    await fixture.store.pauses.pause('payouts:eth', 'a test', 'test')
    await fixture.services.advance(paused.id)
    expect(await listKinds(paused.id)).toEqual(['payment'])
    await fixture.store.pauses.resume('payouts:eth')
    await finish(paused)
  })

  test('is paid once if the chain mines the payment after all', async () => {
    const stranded = await strand()
    const { exchange, id, raw } = stranded
    await fixture.services.advance(id)
    await fixture.fakes.eth.chain.sender.broadcast(raw)
    await fixture.mineBlocks(3)
    expect(fixture.countEtherPayments(exchange)).toBe(1)
    await finish(stranded)
    expect((await loadTransaction(id))?.state).not.toBe('invalidated')
  })

  test('is paid once if a reorganisation replaces the cancel by the payment', async () => {
    const stranded = await strand()
    const { exchange, id, raw } = stranded
    await fixture.services.advance(id)
    await fixture.mineBlocks(3)
    const cancelHash = (await loadTransaction(id))?.attempts[1]?.txHash
    fixture.fakes.eth.reorg(3, (hash) => hash === cancelHash)
    await fixture.fakes.eth.chain.sender.broadcast(raw)
    await fixture.mineBlocks(2)
    expect(fixture.countEtherPayments(exchange)).toBe(1)
    await finish(stranded)
  })

  test('waits for the operator if a reorganisation replaces the confirmed payment by the cancel', async () => {
    const stranded = await strand()
    const { exchange, later, id, raw, deposit } = stranded
    await fixture.services.advance(id)
    await fixture.fakes.eth.chain.sender.broadcast(raw)
    fixture.fakes.btc.resubmit(deposit)
    await fixture.mineBlocks(4)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    const attempts = (await loadTransaction(id))?.attempts
    fixture.fakes.eth.reorg(4, (hash) => hash === attempts?.[0]?.txHash)
    await fixture.fakes.eth.chain.sender.broadcast(attempts?.[1]?.raw ?? '')
    await fixture.database.query("update transactions set next_check_at = clock_timestamp() where state = 'confirmed'")
    await mineTogether(FINAL)
    expect([fixture.countEtherPayments(exchange), fixture.countEtherPayments(later)]).toEqual([0, 1])
    expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'reserved', attention: 'LOST' }])
    await fixture.store.alarms.clear(...(await fixture.store.alarms.list(100)).map(({ subject }) => subject))
  })

  // Between the stored bytes and the nodes, and between the nodes and the proof.
  test.each(checkpoints.filter((name) => name.startsWith('transaction.') && name !== 'transaction.confirming'))(
    'is cancelled and paid once when a process crashes at %s',
    async (checkpoint) => {
      const stranded = await strand()
      const hasCrashed = crashAt(checkpoint, 1)
      for (let n = 0; n < 3; n++) await ignoreSimulatedCrash(fixture.services.advance(stranded.id))
      for (const blocks of [2, FINAL, 1]) {
        fixture.fakes.eth.mine(blocks)
        await ignoreSimulatedCrash(fixture.runWatchers())
        for (const key of await fixture.takeJobKeys()) await ignoreSimulatedCrash(fixture.runJob(key))
      }
      expect(hasCrashed()).toBe(true)
      onCheckpoint(null)
      expect(await listKinds(stranded.id)).toEqual(['payment', 'cancel'])
      await finish(stranded)
    },
  )
})

describe('a restored database that only the journal tells of', () => {
  test.each([
    ['the cancel', false],
    ['the cancel and the second payment', true],
  ])('imports %s, and the payout is paid once', async (_what, isPaidAgain) => {
    const { store, fakes, signer } = fixture
    const exchange = await fixture.queuePayout()
    const [payout] = await store.payouts.find((await fixture.listPayouts(exchange)).map(({ id }) => id))
    const [lane] = await fixture.database.query<{ next: string }>(
      "select next from nonce_lanes where network = 'eth' and address = 'eth-hot'",
    )
    if (!payout) throw new Error('the payout is queued')
    const nonce = Number(lane?.next)
    const release = async (which: 'first' | 'cancel' | 'again') => {
      const from = { branch: 'hot', index: 0 } as const
      const { id: payoutId, address, units } = payout
      const intent: SignIntent = {
        family: 'evm',
        network: 'eth',
        chainId: 1,
        from,
        nonce: which === 'again' ? nonce + 1 : nonce,
        pay: { payoutId, address, memo: null, asset: eth.asset, units },
        gasLimit: 21_000n,
        maxFeePerGas: which === 'cancel' ? 20n : 10n,
        maxPriorityFeePerGas: 1n,
        ...(which === 'cancel' ? { cancels: true as const } : {}),
      }
      const { txHash, raw } = await signer.sign(intent)
      const conflictKey = `eth-hot:${intent.nonce}`
      const transaction = {
        network: 'eth',
        txHash,
        raw,
        intent,
        feeUnits: 420_000n,
        conflictKey,
        wallet: 'eth-hot',
        from,
      }
      const at = new Date(Date.now() + ['first', 'cancel', 'again'].indexOf(which))
      const { assetId, memo } = payout
      await store.signingJournal.recordMissing([
        { payoutId, network: 'eth', txHash, assetId, address, memo, units, at },
      ])
      await store.signingJournal.storeForImport([transaction])
      return raw
    }
    await release('first')
    await fakes.eth.chain.sender.broadcast(await release('cancel'))
    if (isPaidAgain) await fakes.eth.chain.sender.broadcast(await release('again'))
    const outcomes = await restoreSignedPayouts(store)
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(outcomes.map(() => 'imported'))
    for (const blocks of [FINAL, 2]) await mineTogether(blocks)
    if (!isPaidAgain) {
      // What a journal shows as released is paid again only by a person's decision.
      expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'reserved', attention: 'RELEASED' }])
      expect(fixture.countEtherPayments(exchange)).toBe(0)
      await fixture.decide(exchange, 'release')
      for (const blocks of [1, 2, 2]) await mineTogether(blocks)
    }
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect(fixture.countEtherPayments(exchange)).toBe(1)
    expect(await fixture.listAlarmKinds()).not.toContain('intrusion')
  })
})
