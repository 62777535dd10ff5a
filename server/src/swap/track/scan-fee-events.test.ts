import { beforeEach, expect, it } from 'vitest'
import { sui } from '../../../networks/sui.ts'
import { AppError } from '../../core/domain/errors.ts'
import { resolveNetwork } from '../../core/domain/network.ts'
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
beforeEach(() => {
  decimals = 6
  run = createScan()
  found = signed
  scanned = START
  saved = []
  failures = 0
})

/** The scan of a chain that shows a fee at `height`. */
function createScan(): () => Promise<boolean> {
  const chain = {
    ...{ network, readFinalHeight: async () => FINAL, parseAccount: (text: string) => text },
    listPaidFees: async ({ from, to }: { from: number; to: number }) => {
      const fee: PaidFee = {
        ...{ hash, logIndex: 0, height, ref, sender: account, token: terms.tokenOut, units: 1n, feeTo, executor: null },
      }
      return { fees: height >= from && height <= to ? [fee] : [], to }
    },
    findTransaction: async () => found,
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
    ...{ served: [network.id], fees, feeAccounts: { listHeldFees: async () => [] }, refs },
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
