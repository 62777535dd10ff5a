import { timeOrderedId } from '../../lib/id.ts'
import type { SwapRefs } from '../build/swap-refs.ts'
import { isNative } from '../domain/token.ts'
import type { SwapSettings } from '../interfaces.ts'
import { ledgerToken, type SwapNetwork, type SwapNetworks } from '../networks.ts'
import type { FeeScanResult, SwapFeeStore, UnclaimedFee } from '../ports/store/swap-fees.ts'
import type { NewSwap, SwapDesk } from '../ports/store/swaps.ts'
import type { PaidFee, SignedTransaction, SwapChain } from '../ports/swap-chain.ts'
import type { FindToken } from '../tokens/known-tokens.ts'

export type ScanFeeEventsDeps = Readonly<{
  networks: Pick<SwapNetworks, 'find'>
  /** Tickers of those that are served. */
  served: readonly string[]
  fees: SwapFeeStore
  desk: Pick<SwapDesk, 'fees'>
  refs: SwapRefs
  findToken: FindToken
  settings: Pick<SwapSettings, 'feeAddresses'>
  log: Readonly<{ info(fields: object, message: string): void; warn(fields: object, message: string): void }>
}>

/** Blocks of one question: what most providers answer at once. */
const RANGE = 2_000
/** Ranges of a network in one turn: after a long absence it takes several. */
const RANGES_MAX = 10

/**
 * Searches the final blocks of every network for fees of swaps that we built and were never told of: broadcast elsewhere, or
 * with `isExchange: false`. The router's event names the reference, the transaction the terms, and both together the partner
 * for whom they were built: that swap then has a row, and its fee is booked as of any other. True where more is left.
 */
export function createScanFeeEvents(deps: ScanFeeEventsDeps): () => Promise<boolean> {
  return async () => {
    const outcomes = await Promise.all(
      deps.served.map(async (id) => {
        const network = deps.networks.find(id)
        // A network whose nodes are silent keeps no other waiting.
        return network === null
          ? false
          : search(deps, network).catch((err: unknown) => {
              deps.log.warn({ network: id, err }, 'fees not searched')
              return false
            })
      }),
    )
    return outcomes.includes(true)
  }
}

async function search(deps: ScanFeeEventsDeps, network: SwapNetwork): Promise<boolean> {
  const { chain } = network
  const { id } = chain.network
  const final = await chain.finalHeight()
  let from = await deps.fees.searched(id, final)
  for (let n = 0; n < RANGES_MAX && from < final; n++) {
    const to = Math.min(from + RANGE, final)
    const finds = await sort(deps, network, await chain.paidFees(from + 1, to))
    // Another process searches, too: it goes on from there.
    if (!(await deps.fees.keep(id, { from, to }, finds))) return false
    tell(deps, id, finds)
    from = to
  }
  return from < final
}

function tell({ log }: ScanFeeEventsDeps, network: string, { swaps, unclaimed }: FeeScanResult): void {
  for (const { hash, partnerId } of swaps) log.info({ network, hash, partner: partnerId }, 'an untold swap was found')
  for (const { hash, token, units } of unclaimed)
    log.warn({ network, hash, token, units: units.toString() }, 'a fee of a swap is nobody’s')
}

async function sort(deps: ScanFeeEventsDeps, network: SwapNetwork, paid: readonly PaidFee[]): Promise<FeeScanResult> {
  if (paid.length === 0) return { swaps: [], unclaimed: [] }
  const { chain } = network
  const untold = await deps.fees.untold(chain.network.id, [...new Set(paid.map(({ hash }) => hash))])
  const [swaps, unclaimed]: [NewSwap[], UnclaimedFee[]] = [[], []]
  if (untold.size === 0) return { swaps, unclaimed }
  const [partnerIds, ours] = await Promise.all([deps.fees.partnerIds(), ourAddresses(deps, chain)])
  for (const fee of paid.filter(({ hash }) => untold.has(hash))) {
    const signed = await chain.lookUp(fee.hash)
    const act = signed === null ? null : actOf(chain, signed, fee)
    if (signed === null || act === null) {
      unclaimed.push(...(await byWayOfOthers(network, fee, ours)))
      continue
    }
    const built = builtFor(deps.refs, chain, { signed, act, partnerIds })
    if (built?.owesFee) swaps.push(await swapOf(deps, chain, { signed, act, partnerId: built.partnerId }))
    // Terms that we did not build, or under another pepper.
    if (built === null && ours.has(act.feeTo)) unclaimed.push(unclaimedOf(chain, fee, act.feeTo))
  }
  return { swaps, unclaimed }
}

type Act = Extract<NonNullable<SignedTransaction['act']>, { kind: 'swap' }>
type Call = Readonly<{ signed: SignedTransaction; act: Act }>

/** Only where the event is of the transaction's own call: what another contract makes of our terms is not in sight. */
function actOf({ router }: SwapChain, { signer, to, act }: SignedTransaction, fee: PaidFee): Act | null {
  const isOwn = to === router && act?.kind === 'swap' && signer === fee.sender && act.ref === fee.ref
  return isOwn ? act : null
}

function builtFor(
  refs: SwapRefs,
  { network }: SwapChain,
  { signed, act, partnerIds }: Call & Readonly<{ partnerIds: readonly string[] }>,
): Readonly<{ partnerId: string; owesFee: boolean }> | null {
  for (const partnerId of partnerIds) {
    const built = refs.read(act.ref, { ...act, partnerId, network: network.id, account: signed.signer })
    if (built !== null) return { partnerId, ...built }
  }
  return null
}

async function swapOf(
  { findToken }: ScanFeeEventsDeps,
  chain: SwapChain,
  { signed, act, partnerId }: Call & Readonly<{ partnerId: string }>,
): Promise<NewSwap> {
  const side = async (token: string, units: bigint) => {
    const { decimals } = (await findToken(chain, token)) ?? { decimals: 0 }
    return { token, decimals, units }
  }
  return {
    id: timeOrderedId(),
    partnerId,
    network: chain.network.id,
    hash: signed.hash,
    sender: signed.signer,
    nonce: signed.nonce,
    recipient: act.recipient,
    from: await side(act.tokenIn, act.amountIn),
    to: await side(act.tokenOut, act.minReceived),
    minReceived: act.minReceived,
    feePpm: act.feePpm,
    feeTo: act.feeTo,
    owesFee: true,
    deadline: act.deadline,
    raw: null,
  }
}

/** The settings' address, and every one that took fees before. */
async function ourAddresses({ desk, settings }: ScanFeeEventsDeps, chain: SwapChain): Promise<ReadonlySet<string>> {
  const held = (await desk.fees()).map(({ address }) => address)
  const set = settings.feeAddresses.get(chain.network.id)
  return new Set([...held, ...(set === undefined ? [] : [set])].flatMap((one) => chain.parseAccount(one) ?? []))
}

/**
 * A contract called the router, as wallets that are contracts do. A token's own events say whether an address of ours got the
 * fee; of the coin there is no trace, so that it may be ours.
 */
async function byWayOfOthers(
  network: SwapNetwork,
  fee: PaidFee,
  ours: ReadonlySet<string>,
): Promise<readonly UnclaimedFee[]> {
  const { chain } = network
  const token = ledgerToken(network, fee.token)
  if (isNative(token)) return [unclaimedOf(chain, fee, null)]
  for (const to of ours) {
    const moved = await chain.payment(fee.hash, { token, from: chain.router, to })
    if (moved !== null && moved.units >= fee.units) return [unclaimedOf(chain, fee, to)]
  }
  return []
}

const unclaimedOf = (chain: SwapChain, fee: PaidFee, feeTo: string | null): UnclaimedFee => ({
  ...fee,
  network: chain.network.id,
  feeTo,
})
