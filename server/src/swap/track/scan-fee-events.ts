import { AppError } from '../../core/domain/errors.ts'
import { timeOrderedId } from '../../lib/id.ts'
import type { SwapRefs } from '../build/swap-refs.ts'
import type { SwapSettings } from '../interfaces.ts'
import type { SwapNetwork, SwapNetworks } from '../networks.ts'
import type { FeeAccounts } from '../ports/store/fee-accounts.ts'
import type { FeeScanResult, SwapFeeStore, UnclaimedFee } from '../ports/store/swap-fees.ts'
import type { NewSwap } from '../ports/store/swaps.ts'
import type { FoundFees, PaidFee, SignedTransaction, SwapAction, SwapChain } from '../ports/swap-chain.ts'
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
/** Look-ups of transactions per network and run: strangers may pay us as many fees as they like. */
const LOOKUPS_MAX = 500
const LOOKUPS_AT_ONCE = 8
/** Blocks up to the final one in which a node that lags may miss a transaction. Older ones may be pruned and must not stop the scan. */
const RECENT_BLOCKS = RANGES_MAX * RANGE_BLOCKS
/** Runs that a token may stop in a row whose decimals cannot be read: its contract may answer each node otherwise, forever. */
const UNREADABLE_RUNS_MAX = 5

/**
 * Scans of the final blocks for fees of unreported swaps, by network: swaps that we built and that were broadcast elsewhere or with
 * `isExchange: false`. The reference in the router's event and the terms in the transaction identify the partner. The swap gets a row,
 * and its fee is booked as usual. A scan returns true if more blocks are left. Strangers can make one network slow, so that each has a
 * scan of its own.
 */
export function createScanFeeEvents(deps: ScanFeeEventsDeps): ReadonlyMap<string, () => Promise<boolean>> {
  const decimals = createDecimals(deps)
  const scan = async (id: string): Promise<boolean> => {
    const network = deps.networks.find(id)
    if (network === null) return false
    return scanNetwork(deps, network, decimals).catch((err: unknown) => {
      deps.log.warn({ network: id, err }, 'the fee scan failed')
      return false
    })
  }
  return new Map(deps.served.map((id) => [id, () => scan(id)]))
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
  let lookupsMax = LOOKUPS_MAX
  for (let n = 0; n < RANGES_MAX && from < final && lookupsMax > 0; n++) {
    const found = await chain.listPaidFees({ from: from + 1, to: Math.min(from + RANGE_BLOCKS, final), feeTo })
    const range = await chooseFees(deps, chain, found, lookupsMax)
    const result = await attributeFees(deps, chain, { ...range, final, decimals })
    // Another process scanned this range and continues from there.
    if (!(await deps.fees.saveScan(id, { from, to: range.to }, result))) return false
    decimals.reset(id)
    logResult(deps, id, result)
    from = range.to
    lookupsMax -= range.lookups.length
  }
  return from < final
}

type FeeRange = Readonly<{
  to: number
  paidHashes: readonly string[]
  /** Fees whose transaction is looked up. */
  lookups: readonly PaidFee[]
  unclaimed: readonly PaidFee[]
}>

/**
 * The fees of the range that may be of swaps that we built: an executor of ours traded, and the transaction paid no other fee to us, because
 * a call of the router is one swap. Ends the range before the block in which the look-ups are too many; one block is always read.
 */
async function chooseFees(
  { fees }: Pick<ScanFeeEventsDeps, 'fees'>,
  { network, ownContracts }: SwapChain,
  found: FoundFees,
  lookupsMax: number,
): Promise<FeeRange> {
  const paid = found.fees.filter(({ executor }) => executor === null || ownContracts.has(executor))
  const byHash = Map.groupBy(paid, ({ hash }) => hash)
  const unreported = byHash.size === 0 ? new Set<string>() : await fees.findUnreported(network.id, [...byHash.keys()])
  const isLookedUp = ({ hash }: PaidFee) => unreported.has(hash) && byHash.get(hash)?.length === 1
  const lookups = paid.filter(isLookedUp)
  const [first, next] = [lookups[0], lookups[lookupsMax]]
  const to = first === undefined || next === undefined ? found.to : Math.max(first.height, next.height - 1)
  const isInRange = ({ height }: PaidFee) => height <= to
  return {
    to,
    paidHashes: [...new Set(paid.filter(isInRange).map(({ hash }) => hash))],
    lookups: lookups.filter(isInRange),
    unclaimed: paid.filter((fee) => unreported.has(fee.hash) && !isLookedUp(fee) && isInRange(fee)),
  }
}

function logResult({ log }: ScanFeeEventsDeps, network: string, { swaps, unclaimed }: FeeScanResult): void {
  for (const { id: swapId, hash: txHash, partnerId } of swaps)
    log.info({ network, swapId, txHash, partnerId }, 'found an unreported swap')
  for (const { hash, token, units } of unclaimed)
    log.warn({ network, txHash: hash, token, units: units.toString() }, 'a swap fee cannot be attributed to a partner')
}

type Attribution = Omit<FeeRange, 'to'> & Readonly<{ final: number; decimals: Decimals }>

async function attributeFees(
  deps: ScanFeeEventsDeps,
  chain: SwapChain,
  { paidHashes, lookups, unclaimed: others, final, decimals }: Attribution,
): Promise<FeeScanResult> {
  const { id: network } = chain.network
  const swaps: NewSwap[] = []
  const unclaimed: UnclaimedFee[] = others.map((fee) => ({ ...fee, network }))
  const partnerIds = lookups.length === 0 ? [] : await deps.fees.listPartnerIds()
  for (let n = 0; n < lookups.length; n += LOOKUPS_AT_ONCE) {
    const batch = lookups.slice(n, n + LOOKUPS_AT_ONCE)
    const transactions = await Promise.all(batch.map(({ hash }) => chain.findTransaction(hash)))
    for (const [index, fee] of batch.entries()) {
      const signed = transactions[index] ?? null
      // The range is read again. An unclaimed fee would be the partner's loss.
      if (signed === null && fee.height > final - RECENT_BLOCKS)
        throw new AppError('NETWORK_UNAVAILABLE', `no node has ${fee.hash}, which paid a fee in block ${fee.height}`)
      const action = signed === null ? null : directCallOf(signed, fee)
      const call = signed === null || action === null ? null : { signed, action }
      const built = call === null ? null : findPartner(deps.refs, chain, { ...call, partnerIds })
      // Another contract made the call, such as a smart wallet; or terms that we did not build, or built with another pepper; or an old
      // transaction that the nodes have no longer.
      if (call === null || built === null) unclaimed.push({ ...fee, network })
      else if (built.owesFee) swaps.push(await swapOf(decimals, chain, { ...call, partnerId: built.partnerId }))
    }
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
