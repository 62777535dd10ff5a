import type { Network } from '../../core/domain/network.ts'
import { checkpoint } from '../../core/services/checkpoint.ts'
import { decideProgress, type Swap } from '../domain/swap.ts'
import { type SwapNetwork, type SwapNetworks, tokenAsset } from '../networks.ts'
import type { SwapStore, TrackedSwap } from '../ports/store/swaps.ts'
import { broadcastSwap } from '../send/broadcast-swap.ts'

export type TrackSwapDeps = Readonly<{
  networks: SwapNetworks
  swaps: SwapStore
  settings: Readonly<{ droppedMs: number }>
  /** The database's clock: rows are dated by it. */
  databaseNow(): number
  /** Told of every status that a swap comes to. */
  onMoved?(network: string, status: string): void
  log: Readonly<{ info(fields: object, message: string): void; error(fields: object, message: string): void }>
}>

const LOOK_MIN_MS = 500
const LOOK_MAX_MS = 15_000
/** A failed one that may come back, and one that is only waited for to be final. */
const SLOW = 4

/** Looks at one swap, and writes down what the chain says of it. */
export function createTrackSwap(deps: TrackSwapDeps): (id: string) => Promise<void> {
  return async (id) => {
    const tracked = await deps.swaps.find(id)
    const served = tracked && deps.networks.find(tracked.swap.network)
    // Of a network that is not served here any more: another process may serve it.
    if (!tracked || !served) return
    await (tracked.raw === null ? look(deps, served, tracked) : sendAgain(deps, served, tracked, tracked.raw))
  }
}

/** Its first broadcast was cut off, or no node answered: the same bytes again. */
async function sendAgain(deps: TrackSwapDeps, network: SwapNetwork, tracked: TrackedSwap, raw: string): Promise<void> {
  const { chain } = network
  // From then on it could only revert, at the user's cost. It may be on its way already.
  if (deps.databaseNow() > tracked.swap.deadline * 1000) return look(deps, network, tracked)
  const sent = await broadcastSwap(chain, chain.readSigned(raw), raw)
  if (sent.kind === 'sent') return look(deps, network, tracked, { isSent: true })
  const gaveUp = deps.databaseNow() - tracked.seenAt.getTime() > deps.settings.droppedMs
  if (sent.kind === 'unknown' && !gaveUp) return
  const isRefused = sent.kind === 'refused'
  await advance(deps, tracked, {
    progress: {
      status: 'failed',
      reason: isRefused ? 'rejected' : 'dropped',
      receivedUnits: null,
      feeUnits: null,
      block: null,
      isFinal: false,
    },
    fee: null,
    isSeen: false,
    isSent: true,
    nextLookMs: LOOK_MAX_MS,
  })
}

async function look(
  deps: TrackSwapDeps,
  network: SwapNetwork,
  tracked: TrackedSwap,
  { isSent } = { isSent: false },
): Promise<void> {
  const { chain } = network
  const { swap, seenAt } = tracked
  const sight = await chain.observe(swap.hash, { signer: swap.sender, nonce: swap.nonce })
  checkpoint('swap.observed')
  if (sight.kind === 'included' && sight.ok && sight.received === null)
    throw new Error(`the receipt of swap ${swap.id} does not say what it paid`)
  const isSeen = isSent || sight.kind === 'included' || sight.kind === 'pending'
  const nowMs = deps.databaseNow()
  const { confirmations, finalityBlocks } = chain.network
  const progress = decideProgress(
    swap,
    sight,
    { nowMs, seenMs: isSeen ? nowMs : seenAt.getTime() },
    { confirmations, finalityBlocks, droppedMs: deps.settings.droppedMs },
  )
  const isSlow = progress.status === 'finished' || progress.status === 'failed'
  const nextLookMs = paceOf(chain.network) * (isSlow ? SLOW : 1)
  const { status, feeUnits } = progress
  const fee =
    status === 'finished' && feeUnits !== null && feeUnits > 0n
      ? { assetId: tokenAsset(network, swap.to.token), units: feeUnits }
      : null
  await advance(deps, tracked, { progress, fee, isSeen, isSent: true, nextLookMs })
}

const paceOf = ({ blockTimeMs }: Network): number => Math.min(Math.max(blockTimeMs / 2, LOOK_MIN_MS), LOOK_MAX_MS)

async function advance(deps: TrackSwapDeps, tracked: TrackedSwap, next: Parameters<SwapStore['advance']>[1]) {
  const { swap } = tracked
  if (!(await deps.swaps.advance(tracked, next))) return
  checkpoint('swap.tracked')
  const { status, reason } = next.progress
  if (status === swap.status && reason === swap.reason) return
  if (status !== swap.status) deps.onMoved?.(swap.network, status)
  deps.log.info({ swap: swap.id, network: swap.network, from: swap.status, status, reason }, 'swap moved')
  if (isTakenBack(swap, status))
    deps.log.error({ swap: swap.id, network: swap.network }, 'a finished swap was taken back')
}

const isTakenBack = ({ status: before }: Swap, now: string): boolean => before === 'finished' && now !== 'finished'
