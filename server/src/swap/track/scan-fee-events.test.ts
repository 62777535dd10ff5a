import { beforeEach, expect, it } from 'vitest'
import { sui } from '../../../networks/sui.ts'
import { AppError } from '../../core/domain/errors.ts'
import { resolveNetwork } from '../../core/domain/network.ts'
import { present } from '../../lib/assert.ts'
import { createSwapRefs } from '../build/swap-refs.ts'
import type { SwapNetwork } from '../networks.ts'
import type { FeeScanResult, SwapFeeStore } from '../ports/store/swap-fees.ts'
import type { PaidFee, SignedTransaction, SwapChain } from '../ports/swap-chain.ts'
import { createScanFeeEvents } from './scan-fee-events.ts'

/* A node that lacks a transaction of a final block cannot be arranged on a chain: these tests use scripted ports. */

const network = resolveNetwork(sui, 'sandbox')
const refs = createSwapRefs(Buffer.from('a pepper'))
const [account, feeTo, partnerId, hash] = ['an account', 'a fee address', 'a partner', 'a hash']
const FINAL = 50_000
const START = 29_000
/** Blocks in which a node that lags may miss a transaction. */
const RECENT = 20_000

const terms = {
  ...{ recipient: account, tokenIn: 'a', tokenOut: 'b', amountIn: 10n, minReceived: 9n, feePpm: 10_000, feeTo },
  ...{ expiry: null, callHash: 'a call' },
}
const ref = refs.issue({ ...terms, account, partnerId, network: network.id, owesFee: true }, [])
const signed: SignedTransaction = {
  ...{ hash, signer: account, nonce: null, targets: [], recentBlock: null },
  action: { ...terms, kind: 'swap', ref, executor: null, pools: [], routeTokens: [] },
}

/** What the nodes have. */
let found: SignedTransaction | null
let scanned: number
let saved: FeeScanResult[]
let failures: number
/** The decimals of each token; null: they cannot be read. */
let decimals: number | null
let run: () => Promise<boolean>
let height: number
/** The fees of the chain; by default one at `height`. */
let paid: readonly PaidFee[] | null
let lookups: string[]
beforeEach(() => {
  decimals = 6
  paid = null
  lookups = []
  run = present(createScans().get(network.id), 'the scan of the network')
  found = signed
  scanned = START
  saved = []
  failures = 0
})

const feeAt = (at: number, changes: Partial<PaidFee> = {}): PaidFee => ({
  ...{ hash, logIndex: 0, height: at, ref, sender: account, token: terms.tokenOut, units: 1n, feeTo, executor: null },
  ...changes,
})

/** The scans of a chain that shows these fees. */
function createScans(ids: readonly string[] = [network.id]) {
  const chain = {
    ...{ network, readFinalHeight: async () => FINAL, parseAccount: (text: string) => text },
    ownContracts: new Set(['our executor']),
    listPaidFees: async ({ from, to }: { from: number; to: number }) => {
      const fees = (paid ?? [feeAt(height)]).filter((fee) => fee.height >= from && fee.height <= to)
      return { fees, to }
    },
    findTransaction: async (one: string) => {
      lookups.push(one)
      return found && { ...found, hash: one }
    },
    readExpiry: async () => ({ by: 'never' }),
  } as unknown as SwapChain
  const fees = {
    readScannedHeight: async () => scanned,
    findUnreported: async (_: string, hashes: readonly string[]) => new Set(hashes),
    saveScan: async (_: string, { to }: { to: number }, result: FeeScanResult) => {
      scanned = to
      saved.push(result)
      return true
    },
    listPartnerIds: async () => [partnerId],
  } as unknown as SwapFeeStore
  return createScanFeeEvents({
    networks: { find: () => ({ chain, nativeIsToken: false }) as unknown as SwapNetwork },
    ...{ served: ids, fees, feeAccounts: { listHeldFees: async () => [] }, refs },
    findToken: async (_, address) => {
      if (decimals === null) throw new AppError('NETWORK_UNAVAILABLE', 'the nodes contradict each other about it')
      return { network: network.id, address, name: '', symbol: '', decimals }
    },
    settings: { feeAddresses: new Map([[network.id, feeTo]]) },
    log: { info: () => undefined, warn: ({ err }: { err?: unknown }) => void (err === undefined || failures++) },
  })
}

async function scan(at: number): Promise<void> {
  height = at
  await run()
}

const swaps = () => saved.flatMap((result) => result.swaps)
const unclaimed = () => saved.flatMap((result) => result.unclaimed)

it('reads a range again if no node has the transaction of a fee, and then finds its partner', async () => {
  const height = FINAL - RECENT + 1
  found = null
  await scan(height)
  expect([failures, swaps(), unclaimed()]).toEqual([1, [], []])
  expect(scanned).toBeLessThan(height)
  found = signed
  await scan(height)
  expect(swaps()).toMatchObject([{ hash, partnerId, owesFee: true }])
  expect([failures, unclaimed()]).toEqual([1, []])
})

it('lists an old fee as unclaimed if no node has its transaction, and continues', async () => {
  found = null
  await scan(FINAL - RECENT)
  expect(unclaimed()).toMatchObject([{ hash, network: network.id }])
  expect([failures, scanned]).toEqual([0, START + RECENT])
})

it('looks up no transaction that paid several fees, because a call of the router is one swap', async () => {
  paid = Array.from({ length: 300 }, (_, logIndex) => feeAt(START + 1, { logIndex }))
  await run()
  expect([lookups, swaps(), unclaimed().length]).toEqual([[], [], 300])
})

it('ignores a fee of a swap by an executor of a stranger, which none of our builds names', async () => {
  paid = [
    feeAt(START + 1, { hash: 'of a stranger', executor: 'an executor of a stranger' }),
    feeAt(START + 2, { hash: 'ours', executor: 'our executor' }),
  ]
  await run()
  expect(swaps()).toMatchObject([{ hash: 'ours', partnerId }])
  expect([lookups, unclaimed()]).toEqual([['ours'], []])
  expect(saved.flatMap(({ paidHashes }) => paidHashes)).toEqual(['ours'])
})

it('D10: looks up at most 500 transactions in a run, or those of one block, and continues in the next one', async () => {
  const feesAt = (at: number, count: number) =>
    Array.from({ length: count }, (_, n) => feeAt(at, { hash: `${at} ${n}`, logIndex: n }))
  const [first, second, third] = [START + 1, START + 3_000, START + 3_001]
  paid = [...feesAt(first, 300), ...feesAt(second, 200), ...feesAt(third, 700)]
  expect(await run()).toBe(true)
  expect([lookups.length, scanned]).toEqual([500, second])
  expect(await run()).toBe(true)
  expect([lookups.length, scanned]).toEqual([1_200, third])
  expect(await run()).toBe(false)
  expect([lookups.length, swaps().length, new Set(lookups).size]).toEqual([1_200, 1_200, 1_200])
})

it('scans a network apart from the others, whose nodes may be slow', () => {
  expect([...createScans(['eth', network.id]).keys()]).toEqual(['eth', network.id])
})

it('waits some runs for the decimals of a token, which a contract can withhold forever, and then continues', async () => {
  const at = FINAL - RECENT + 1
  decimals = null
  for (let runs = 1; runs <= 5; runs++) {
    await scan(at)
    expect([failures, swaps()]).toEqual([runs, []])
  }
  await scan(at)
  expect(swaps()).toMatchObject([{ hash, partnerId, from: { decimals: 0 }, to: { decimals: 0 } }])
  expect([failures, scanned]).toEqual([5, START + RECENT])
  // The next range waits again.
  scanned = START
  await scan(at)
  expect(failures).toBe(6)
  decimals = 6
  await scan(at)
  expect(swaps().at(-1)).toMatchObject({ from: { decimals: 6 }, to: { decimals: 6 } })
})
