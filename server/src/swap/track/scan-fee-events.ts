import { AppError } from '../../core/domain/errors.ts'
import { timeOrderedId } from '../../lib/id.ts'
import type { SwapRefs } from '../build/swap-refs.ts'
import type { SwapSettings } from '../interfaces.ts'
import type { SwapNetwork, SwapNetworks } from '../networks.ts'
import type { FeeAccounts } from '../ports/store/fee-accounts.ts'
import type { FeeScanResult, SwapFeeStore, UnclaimedFee } from '../ports/store/swap-fees.ts'
import type { NewSwap } from '../ports/store/swaps.ts'
import type { PaidFee, SignedTransaction, SwapAction, SwapChain } from '../ports/swap-chain.ts'
import { termsOf } from '../send/check-swap.ts'
import type { FindToken } from '../tokens/token-cache.ts'

export type ScanFeeEventsDeps = Readonly<{
  networks: Pick<SwapNetworks, 'find'>
  /** Tickers of the served networks. */
  served: readonly string[]
  fees: SwapFeeStore
  feeAccounts: Pick<FeeAccounts, 'listHeldFees'>
  refs: SwapRefs
  findToken: FindToken
  settings: Pick<SwapSettings, 'feeAddresses'>
  log: Readonly<{ info(fields: object, message: string): void; warn(fields: object, message: string): void }>
}>

/** Blocks per log query: most providers allow this range. */
const RANGE_BLOCKS = 2_000
/** Ranges per network and run; a long downtime takes several runs. */
const RANGES_MAX = 10
/** Blocks up to the final one in which a node that lags may miss a transaction. Older ones may be pruned and must not stop the scan. */
const RECENT_BLOCKS = RANGES_MAX * RANGE_BLOCKS
/** Runs that a token may stop in a row whose decimals cannot be read: its contract may answer each node otherwise, forever. */
const UNREADABLE_RUNS_MAX = 5

/**
 * Scans the final blocks of every network for fees of unreported swaps: swaps that we built and that were broadcast elsewhere or
 * with `isExchange: false`. The reference in the router's event and the terms in the transaction identify the partner. The swap
 * gets a row, and its fee is booked as usual. Returns true if more blocks are left to scan.
 */
export function createScanFeeEvents(deps: ScanFeeEventsDeps): () => Promise<boolean> {
  const decimals = createDecimals(deps)
  return async () => {
    const outcomes = await Promise.all(
      deps.served.map(async (id) => {
        const network = deps.networks.find(id)
        // A network whose nodes fail does not delay the others.
        return network === null
          ? false
          : scanNetwork(deps, network, decimals).catch((err: unknown) => {
              deps.log.warn({ network: id, err }, 'the fee scan failed')
              return false
            })
      }),
    )
    return outcomes.includes(true)
  }
}

type Decimals = ReturnType<typeof createDecimals>

/** Decimals only show the amounts of a swap. One that was not read in time has none. */
function createDecimals({ findToken }: Pick<ScanFeeEventsDeps, 'findToken'>) {
  const stoppedRuns = new Map<string, number>()
  return {
    async read(chain: SwapChain, token: string): Promise<number> {
      const { id } = chain.network
      try {
        return (await findToken(chain, token))?.decimals ?? 0
      } catch (error) {
        const stopped = stoppedRuns.get(id) ?? 0
        if (stopped >= UNREADABLE_RUNS_MAX) return 0
        stoppedRuns.set(id, stopped + 1)
        throw error
      }
    },
    /** A range was scanned. */
    reset: (network: string) => void stoppedRuns.delete(network),
  }
}

async function scanNetwork(deps: ScanFeeEventsDeps, network: SwapNetwork, decimals: Decimals): Promise<boolean> {
  const { chain } = network
  const { id } = chain.network
  const [final, feeTo] = await Promise.all([chain.readFinalHeight(), listFeeAddresses(deps, chain)])
  let from = await deps.fees.readScannedHeight(id, final)
  for (let n = 0; n < RANGES_MAX && from < final; n++) {
    const { fees, to } = await chain.listPaidFees({ from: from + 1, to: Math.min(from + RANGE_BLOCKS, final), feeTo })
    const result = await attributeFees(deps, chain, { paid: fees, final, decimals })
    // Another process scanned this range and continues from there.
    if (!(await deps.fees.saveScan(id, { from, to }, result))) return false
    decimals.reset(id)
    logResult(deps, id, result)
    from = to
  }
  return from < final
}

function logResult({ log }: ScanFeeEventsDeps, network: string, { swaps, unclaimed }: FeeScanResult): void {
  for (const { id: swapId, hash: txHash, partnerId } of swaps)
    log.info({ network, swapId, txHash, partnerId }, 'found an unreported swap')
  for (const { hash, token, units } of unclaimed)
    log.warn({ network, txHash: hash, token, units: units.toString() }, 'a swap fee cannot be attributed to a partner')
}

async function attributeFees(
  deps: ScanFeeEventsDeps,
  chain: SwapChain,
  { paid, final, decimals }: Readonly<{ paid: readonly PaidFee[]; final: number; decimals: Decimals }>,
): Promise<FeeScanResult> {
  const paidHashes = [...new Set(paid.map(({ hash }) => hash))]
  if (paid.length === 0) return { swaps: [], unclaimed: [], paidHashes }
  const unreported = await deps.fees.findUnreported(chain.network.id, paidHashes)
  const [swaps, unclaimed]: [NewSwap[], UnclaimedFee[]] = [[], []]
  if (unreported.size === 0) return { swaps, unclaimed, paidHashes }
  const partnerIds = await deps.fees.listPartnerIds()
  for (const fee of paid.filter(({ hash }) => unreported.has(hash))) {
    const signed = await chain.findTransaction(fee.hash)
    // The range is read again. An unclaimed fee would be the partner's loss.
    if (signed === null && fee.height > final - RECENT_BLOCKS)
      throw new AppError('NETWORK_UNAVAILABLE', `no node has ${fee.hash}, which paid a fee in block ${fee.height}`)
    const action = signed === null ? null : directCallOf(signed, fee)
    const call = signed === null || action === null ? null : { signed, action }
    const built = call === null ? null : findPartner(deps.refs, chain, { ...call, partnerIds })
    // Another contract made the call, such as a smart wallet; or terms that we did not build, or built with another pepper; or an old
    // transaction that the nodes have no longer.
    if (call === null || built === null) unclaimed.push({ ...fee, network: chain.network.id })
    else if (built.owesFee) swaps.push(await swapOf(decimals, chain, { ...call, partnerId: built.partnerId }))
  }
  return { swaps, unclaimed, paidHashes }
}

type Call = Readonly<{ signed: SignedTransaction; action: SwapAction }>

/** The swap of the transaction itself, if it paid the fee; null if another contract called the router. */
function directCallOf({ signer, action }: SignedTransaction, fee: PaidFee): SwapAction | null {
  const isDirect = action?.kind === 'swap' && signer === fee.sender && action.ref === fee.ref
  return isDirect ? action : null
}

/** Finds the partner whose reference matches the terms. */
function findPartner(
  refs: SwapRefs,
  { network }: SwapChain,
  { signed, action, partnerIds }: Call & Readonly<{ partnerIds: readonly string[] }>,
): Readonly<{ partnerId: string; owesFee: boolean }> | null {
  for (const partnerId of partnerIds) {
    const built = refs.read(action.ref, { ...action, partnerId, network: network.id, account: signed.signer })
    if (built !== null) return { partnerId, ...built }
  }
  return null
}

async function swapOf(
  decimals: Decimals,
  chain: SwapChain,
  { signed, action, partnerId }: Call & Readonly<{ partnerId: string }>,
): Promise<NewSwap> {
  const side = async (token: string, units: bigint) => ({ token, decimals: await decimals.read(chain, token), units })
  return {
    ...termsOf(chain, signed, action, await chain.readExpiry(signed)),
    id: timeOrderedId(),
    partnerId,
    from: await side(action.tokenIn, action.amountIn),
    to: await side(action.tokenOut, action.minReceived),
    owesFee: true,
    externalId: null,
    ref: action.ref,
    raw: null,
  }
}

/** The operator's fee addresses: the configured one and all that have received fees. */
async function listFeeAddresses(
  { feeAccounts, settings }: ScanFeeEventsDeps,
  chain: SwapChain,
): Promise<readonly string[]> {
  const used = (await feeAccounts.listHeldFees()).map(({ address }) => address)
  const configured = settings.feeAddresses.get(chain.network.id)
  const all = [...used, ...(configured === undefined ? [] : [configured])]
  return [...new Set(all.flatMap((one) => chain.parseAccount(one) ?? []))]
}
