import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findLedgerFaults } from '../../../../test/support/ledger.ts'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import { createSwapFeeStore } from '../../../src/adapters/postgres/swap/swap-fees.ts'
import { createSwapStore } from '../../../src/adapters/postgres/swap/swaps.ts'
import { present } from '../../../src/lib/assert.ts'
import type { SwapNetworks } from '../../../src/swap/networks.ts'
import type { NewSwap, SwapAdvance, TrackedSwap } from '../../../src/swap/ports/store/swaps.ts'
import type { SwapChain } from '../../../src/swap/ports/swap-chain.ts'
import { createScanFeeEvents, type ScanFeeEventsDeps } from '../../../src/swap/track/scan-fee-events.ts'
import { openTestDatabase, type TestDatabase } from '../../adapters/postgres/database.ts'
import { payeeMacs } from '../../payee-macs.ts'

const [partnerId, taker] = ['0190a0b0-0000-7000-8000-000000000001', `0x${'fe'.repeat(20)}`]
const token = `0x${'aa'.repeat(20)}`
const fee = { assetId: `${token}@eth`, units: 70n } as const
const swapId = (n: number) => `0190a0b0-0000-7000-8000-00000000010${n}`

const newSwap = (n: number, changes: Partial<NewSwap> = {}): NewSwap => ({
  ...{ id: swapId(n), partnerId, network: 'eth', hash: `0x${String(n).repeat(64)}`, sender: '0x11', nonce: n },
  ...{
    recipient: '0x11',
    from: { token: '0x22', decimals: 6, units: 10n },
    to: { token, decimals: 18, units: 1_000n },
  },
  ...{
    minReceived: 900n,
    feePpm: 3_000,
    feeTo: taker,
    owesFee: true,
    raw: null,
    externalId: null,
    ref: `0x${'0'.repeat(64)}`,
  },
  expiry: { by: 'time', at: 2_000_000_000 },
  ...changes,
})

describe('the fee of a swap', () => {
  let app: TestDatabase
  beforeAll(async () => {
    app = await openTestDatabase()
    await app.database.query("insert into partners (id, name) values ($1, 'acme')", [partnerId])
  })
  afterAll(() => app.close())

  const finished = (changes: Partial<SwapAdvance> = {}, isFinal = false): SwapAdvance => ({
    progress: {
      ...{ status: 'finished', reason: null, receivedUnits: 990n, feeUnits: 70n, isFinal },
      block: { height: 5, hash: '0x5' },
    },
    ...{ fee, isSeen: true, isSent: true, nextCheckMs: 0 },
    ...changes,
  })
  const pending: SwapAdvance = {
    progress: { status: 'pending', reason: null, receivedUnits: null, feeUnits: null, block: null, isFinal: false },
    ...{ fee: null, isSeen: true, isSent: true, nextCheckMs: 0 },
  }
  const readHeld = () => createStore(app.database, payeeMacs).ledger.balance(`asset:fees:${taker}`, fee.assetId)
  const readOwed = () =>
    createStore(app.database, payeeMacs).ledger.balance(`liability:partner:${partnerId}`, fee.assetId)
  const reload = async (id: string): Promise<TrackedSwap> =>
    present(await createSwapStore(app.database).find(id), 'the swap')

  test('follows the chain, and is owed to the partner only once it is final', async () => {
    const swaps = createSwapStore(app.database)
    const first = present(await swaps.record(newSwap(1)), 'the swap')
    expect(await swaps.advance(first, finished())).toBe(true)
    expect([await readHeld(), await readOwed()]).toEqual([70n, 0n])
    // The same fee again, then a lower fee in another block.
    await swaps.advance(await reload(swapId(1)), finished())
    expect(await readHeld()).toBe(70n)
    await swaps.advance(await reload(swapId(1)), finished({ fee: { ...fee, units: 60n } }))
    expect(await readHeld()).toBe(60n)
    await swaps.advance(await reload(swapId(1)), pending)
    expect([await readHeld(), await readOwed()]).toEqual([0n, 0n])
    await swaps.advance(await reload(swapId(1)), finished())
    const last = await reload(swapId(1))
    expect(await swaps.advance(last, finished({}, true))).toBe(true)
    expect([await readHeld(), await readOwed()]).toEqual([70n, -70n])
    expect(await findLedgerFaults(app.database)).toEqual([])
    // An update from before finality is rejected.
    expect(await swaps.advance(last, finished())).toBe(false)
    expect(await swaps.advance(last, pending)).toBe(false)
    expect([await readHeld(), await readOwed()]).toEqual([70n, -70n])
  })

  test('is not booked if it was paid to the partner directly', async () => {
    const swaps = createSwapStore(app.database)
    const before = await readHeld()
    const own = present(await swaps.record(newSwap(2, { owesFee: false })), 'the swap')
    expect(await swaps.advance(own, finished({}, true))).toBe(true)
    expect(await readHeld()).toBe(before)
  })

  test('of a swap that counted as failed finally is booked after its event is found in a final block', async () => {
    const [swaps, fees] = [createSwapStore(app.database), createSwapFeeStore(app.database)]
    const before = [await readHeld(), await readOwed()]
    const sent = [
      present(await swaps.record(newSwap(4)), 'the swap'),
      present(await swaps.record(newSwap(5)), 'the swap'),
    ]
    const progress = { ...pending.progress, status: 'failed', reason: 'dropped', isFinal: true } as const
    for (const one of sent) expect(await swaps.advance(one, { ...pending, progress })).toBe(true)
    expect(await swaps.advance(await reload(swapId(4)), finished({}, true))).toBe(false)
    await fees.readScannedHeight('eth', 0)
    const { id: _, ...terms } = newSwap(4)
    const paid = { ...terms, logIndex: 0, height: 5, token, units: 70n, feeTo: taker, executor: null }
    const chain = {
      ...{ network: { id: 'eth' }, readFinalHeight: async () => 9, parseAccount: (text: string) => text },
      listPaidFees: async () => ({ fees: [paid], to: 9 }),
    } as unknown as SwapChain
    const scans = createScanFeeEvents({
      networks: { find: () => ({ chain, nativeIsToken: false }) } as unknown as SwapNetworks,
      ...{ served: ['eth'], fees, feeAccounts: { listHeldFees: async () => [] } },
      settings: { feeAddresses: new Map() },
      log: { info: () => undefined, warn: (fields: object) => expect.fail(JSON.stringify(fields)) },
    } as unknown as ScanFeeEventsDeps)
    expect(await present(scans.get('eth'), 'the scan')()).toBe(false)
    expect(await swaps.advance(await reload(swapId(4)), finished({}, true))).toBe(true)
    expect([await readHeld(), await readOwed()]).toEqual([(before[0] ?? 0n) + 70n, (before[1] ?? 0n) - 70n])
    // Without a fee on the chain, final is final.
    expect(await swaps.advance(await reload(swapId(5)), finished({}, true))).toBe(false)
  })

  test('is booked once by twenty concurrent trackers', async () => {
    const swaps = createSwapStore(app.database)
    const before = [await readHeld(), await readOwed()]
    const tracked = present(await swaps.record(newSwap(3)), 'the swap')
    const moved = await Promise.all(
      Array.from({ length: 20 }, (_, n) => swaps.advance(tracked, finished({}, n % 2 === 0))),
    )
    expect(moved.filter(Boolean).length).toBeGreaterThan(0)
    while (await swaps.advance(await reload(swapId(3)), finished({}, true)));
    expect([await readHeld(), await readOwed()]).toEqual([(before[0] ?? 0n) + 70n, (before[1] ?? 0n) - 70n])
  })
})
