import type { Network } from '../../core/domain/network.ts'
import { checkpoint } from '../../core/services/checkpoint.ts'
import type { SwapRefs } from '../build/swap-refs.ts'
import { poolPausesOf } from '../domain/pool-pauses.ts'
import { decideProgress, type Swap, unmined } from '../domain/swap.ts'
import { type SwapNetwork, type SwapNetworks, tokenAsset } from '../networks.ts'
import type { SwapStore, TrackedSwap } from '../ports/store/swaps.ts'
import { broadcastSwap, canEndSwap } from '../send/broadcast-swap.ts'
import { isPausedSwap } from '../send/check-swap.ts'

export type TrackSwapDeps = Readonly<{
  networks: SwapNetworks
  swaps: SwapStore
  /** Scopes of paused pools, of all networks. */
  poolPauses(): Iterable<string>
  refs: Pick<SwapRefs, 'mayUseDex'>
  settings: Readonly<{ droppedMs: number }>
  /** The database's clock, which dates the rows. */
  databaseNow(): number
  /** Called for every change of status. */
  onMoved?(network: string, status: string): void
  log: Readonly<{ info(fields: object, message: string): void; error(fields: object, message: string): void }>
}>

const CHECK_MIN_MS = 500
const CHECK_MAX_MS = 15_000
/** Factor of the check interval for finished swaps that are not final, and for failed ones that may still be mined. */
const SLOW_FACTOR = 4

/** Checks one swap on its chain and records its progress. */
export function createTrackSwap(deps: TrackSwapDeps): (id: string) => Promise<void> {
  return async (id) => {
    const tracked = await deps.swaps.find(id)
    const served = tracked && deps.networks.find(tracked.swap.network)
    // Another process may serve the network.
    if (!tracked || !served) return
    const raw = tracked.swap.status === 'pending' ? tracked.raw : null
    await (raw === null ? check(deps, served, tracked) : rebroadcast(deps, served, tracked, raw))
  }
}

/** Sends the same bytes again: the first broadcast was interrupted, no node answered, or nodes do not keep pending transactions. */
async function rebroadcast(
  deps: TrackSwapDeps,
  network: SwapNetwork,
  tracked: TrackedSwap,
  raw: string,
): Promise<void> {
  const { chain } = network
  if (await isHeld(deps, network, raw)) return check(deps, network, tracked)
  // An expired swap can only revert, at the user's cost. It may already be pending.
  if (await chain.isExpired(tracked.swap.expiry, deps.databaseNow())) return check(deps, network, tracked)
  // The recorded bytes were checked. To read them again may need nodes that do not answer now.
  const { hash, sender: signer, nonce, expiry } = tracked.swap
  const sent = await broadcastSwap(chain, { hash, signer, nonce }, raw)
  if (sent.kind === 'sent') return check(deps, network, tracked, { isSent: true })
  // An earlier broadcast may be included, also if no node answered: only `observe` proves that it is not, and it throws without answers.
  if (sent.kind === 'unknown' || !canEndSwap(sent, expiry)) return check(deps, network, tracked)
  await advance(deps, tracked, {
    progress: { ...unmined, status: 'failed', reason: 'rejected', isFinal: false },
    fee: null,
    isSeen: false,
    isSent: true,
    nextCheckMs: CHECK_MAX_MS,
  })
}

/** Whether a pause forbids to send these bytes. They are kept, and sent again after it. */
async function isHeld({ networks, poolPauses, refs }: TrackSwapDeps, { chain }: SwapNetwork, raw: string) {
  const { id } = chain.network
  if (networks.isPaused(id)) return true
  const pauses = poolPausesOf(poolPauses(), id)
  if (pauses.dexes.size + pauses.pools.size + pauses.tokens.size === 0) return false
  try {
    const { action } = await chain.readSigned(raw)
    return action?.kind !== 'swap' || isPausedSwap(pauses, refs, chain, action)
  } catch {
    // Its route cannot be read now, so it may be one that is paused.
    return true
  }
}

async function check(
  deps: TrackSwapDeps,
  network: SwapNetwork,
  tracked: TrackedSwap,
  { isSent } = { isSent: false },
): Promise<void> {
  const { chain } = network
  const { swap, lastSeenAt } = tracked
  const { sender: signer, nonce, expiry, block } = swap
  const observation = await chain.observe(swap.hash, { signer, nonce, expiry, block })
  checkpoint('swap.observed')
  if (observation.kind === 'included' && observation.ok && observation.received === null)
    throw new Error(`the receipt of swap ${swap.id} has no payment amount`)
  const isSeen = isSent || observation.kind === 'included' || observation.kind === 'pending'
  const nowMs = deps.databaseNow()
  const { confirmations, finalityBlocks } = chain.network
  const progress = decideProgress(
    swap,
    observation,
    { nowMs, lastSeenMs: isSeen ? nowMs : lastSeenAt.getTime() },
    { confirmations, finalityBlocks, droppedMs: deps.settings.droppedMs },
  )
  const isSlow = progress.status === 'finished' || progress.status === 'failed'
  const nextCheckMs = checkIntervalMs(chain.network) * (isSlow ? SLOW_FACTOR : 1)
  const { status, feeUnits } = progress
  const fee =
    status === 'finished' && feeUnits !== null && feeUnits > 0n
      ? { assetId: tokenAsset(network, swap.to.token), units: feeUnits }
      : null
  // A swap that no node has seen needs its bytes again. Where nodes keep nothing, a reorg may, too, also after a revert.
  const isGivenUp = status === 'failed' && progress.reason !== 'reverted'
  const isDone = (chain.keepsPending && isSeen) || progress.isFinal || isGivenUp
  await advance(deps, tracked, { progress, fee, isSeen, isSent: isDone, nextCheckMs })
}

const checkIntervalMs = ({ blockTimeMs }: Network): number =>
  Math.min(Math.max(blockTimeMs / 2, CHECK_MIN_MS), CHECK_MAX_MS)

async function advance(deps: TrackSwapDeps, tracked: TrackedSwap, next: Parameters<SwapStore['advance']>[1]) {
  const { swap } = tracked
  if (!(await deps.swaps.advance(tracked, next))) return
  checkpoint('swap.tracked')
  const { status, reason, receivedUnits } = next.progress
  if (status === swap.status && reason === swap.reason) return
  if (status !== swap.status) deps.onMoved?.(swap.network, status)
  deps.log.info({ swapId: swap.id, network: swap.network, from: swap.status, status, reason }, 'swap moved')
  if (isReversed(swap, status))
    deps.log.error({ swapId: swap.id, network: swap.network }, 'a reorg reversed a finished swap')
  if (status === 'finished' && (receivedUnits ?? 0n) < swap.minReceived)
    deps.log.error(
      { swapId: swap.id, network: swap.network, received: String(receivedUnits), minimum: String(swap.minReceived) },
      'a swap paid less than its minimum',
    )
}

const isReversed = ({ status: before }: Swap, after: string): boolean => before === 'finished' && after !== 'finished'
