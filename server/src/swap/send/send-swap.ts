import { AppError } from '../../core/domain/errors.ts'
import type { Partner } from '../../core/domain/partner.ts'
import type { Screening } from '../../core/ports/screening.ts'
import { checkpoint } from '../../core/services/checkpoint.ts'
import type { WithIdempotency } from '../../core/services/interfaces.ts'
import { timeOrderedId } from '../../lib/id.ts'
import type { Expiry } from '../domain/expiry.ts'
import { poolPausesOf } from '../domain/pool-pauses.ts'
import { type Swap, unmined } from '../domain/swap.ts'
import type { SendRequest, SwapServices } from '../interfaces.ts'
import type { SwapStore, TrackedSwap } from '../ports/store/swaps.ts'
import type { SignedTransaction, SwapAction, SwapChain } from '../ports/swap-chain.ts'
import { broadcastSwap, canEndSwap, refusalOf } from './broadcast-swap.ts'
import { type CheckSwapDeps, checkBuilt, checkRequest, isPausedSwap, termsOf } from './check-swap.ts'
import { type CheckApprovalDeps, checkApproval, invalid, readAs, screenTransaction, sendOnly } from './send-approval.ts'

export type SendSwapDeps = CheckSwapDeps &
  CheckApprovalDeps &
  Readonly<{
    /** Scopes of paused pools, of all networks. */
    poolPauses(): Iterable<string>
    swaps: SwapStore
    screening: Screening
    withIdempotency: WithIdempotency
    now(): number
  }>

/** Delay of the tracker's first check: the first broadcast is over by then. */
const FIRST_CHECK_MS = 1_000

/** `Retry-After` of a hash that no node knows. */
const UNKNOWN_HASH_SECONDS = 2

/** Checks, records and broadcasts a signed swap, or records one that was broadcast already. */
export function createSendSwap(deps: SendSwapDeps): SwapServices['sendSwap'] {
  return (partner, request, idempotency) =>
    deps.withIdempotency(partner, idempotency, () => send(deps, partner, request))
}

async function send(deps: SendSwapDeps, partner: Partner, request: SendRequest): Promise<string> {
  const { rawTx, hash } = request
  if (rawTx === undefined && hash === undefined)
    throw new AppError('VALIDATION_ERROR', 'rawTx is required, or the hash of a transaction that was already sent', {
      field: 'rawTx',
    })
  const network = deps.networks.getOpen(request.network)
  const { chain } = network
  const field = rawTx === undefined ? 'hash' : 'rawTx'
  const signed = rawTx === undefined ? await findSentTransaction(chain, hash ?? '') : await readAs(chain, rawTx, field)
  if (hash !== undefined && chain.parseHash(hash) !== signed.hash) throw otherHash()
  if (!request.isExchange) return sendOther(deps, partner, chain, { signed, raw: rawTx ?? null, field })
  const action = checkBuilt(deps.refs, partner, chain, signed, field)
  const sides = await checkRequest(deps, network, request, action)
  const expiry = await chain.readExpiry(signed)
  if (rawTx !== undefined && (await chain.isExpired(expiry, deps.now())))
    return repeatLate(deps, partner, chain, signed)
  if (rawTx !== undefined) checkPauses(deps, chain, action)
  await screenTransaction(deps.screening, chain, signed)
  const id = timeOrderedId()
  const recorded = await deps.swaps.record({
    ...termsOf(chain, signed, action, expiry),
    ...{ ...sides, id },
    partnerId: partner.id,
    owesFee: action.owesFee,
    raw: rawTx ?? null,
    externalId: request.externalId ?? null,
    ref: action.ref,
  })
  checkpoint('swap.recorded')
  if (recorded === null) throw invalid('it was built for another partner', field)
  const isRepeat = recorded.swap.id !== id
  if (rawTx !== undefined && !isMined(recorded.swap))
    await broadcast(deps, chain, { recorded, signed, raw: rawTx, expiry, isRepeat })
  return signed.hash
}

/** A pending or dropped swap is broadcast at each request; a mined or reverted one is not. */
const isMined = ({ status, reason }: Swap): boolean =>
  status === 'confirming' || status === 'finished' || reason === 'reverted'

const otherHash = () =>
  new AppError('VALIDATION_ERROR', 'hash is not that of rawTx', {
    problems: [{ code: 'RAW_TX_INVALID', field: 'hash', message: 'hash is not that of rawTx' }],
  })

async function findSentTransaction(chain: SwapChain, text: string): Promise<SignedTransaction> {
  const hash = chain.parseHash(text)
  if (hash === null)
    throw new AppError('VALIDATION_ERROR', `hash is not a transaction hash: it needs ${chain.hashForm}`, {
      field: 'hash',
    })
  const transaction = await chain.findTransaction(hash)
  if (transaction !== null) return transaction
  // A wallet that broadcasts and reports at once is faster than the gossip between nodes.
  throw new AppError('NETWORK_UNAVAILABLE', 'no node knows a transaction with this hash yet: retry, or send rawTx', {
    field: 'hash',
    retryAfterSeconds: UNKNOWN_HASH_SECONDS,
  })
}

type Other = Readonly<{ signed: SignedTransaction; raw: string | null; field: string }>

/** Broadcasts without a record. Swaps and approvals are checked as usual; signer and targets are always screened. */
async function sendOther(deps: SendSwapDeps, partner: Partner, chain: SwapChain, other: Other): Promise<string> {
  const { signed, raw, field } = other
  await checkApproval(deps, partner, chain, signed, field)
  const callsRouter = chain.spender !== null && signed.targets.includes(chain.spender)
  if (callsRouter || signed.action?.kind === 'swap') {
    const action = checkBuilt(deps.refs, partner, chain, signed, field)
    if (raw !== null && (await chain.isExpired(await chain.readExpiry(signed), deps.now()))) throw late()
    if (raw !== null) checkPauses(deps, chain, action)
  }
  await screenTransaction(deps.screening, chain, signed)
  if (raw !== null) await sendOnly(chain, signed, raw, field)
  return signed.hash
}

/** A swap that was built before a pause must not be relayed after it. */
function checkPauses({ poolPauses, refs }: SendSwapDeps, chain: SwapChain, action: SwapAction): void {
  if (isPausedSwap(poolPausesOf(poolPauses(), chain.network.id), refs, chain, action))
    throw new AppError('NETWORK_PAUSED', 'a DEX, pool or token of this swap is paused: build again')
}

const late = () => invalid('it has expired: build again', 'rawTx')

/** A late repeat of a swap that is pending or done gets its hash: building it again would swap twice. */
async function repeatLate(
  { swaps }: SendSwapDeps,
  partner: Partner,
  { network }: SwapChain,
  { hash }: SignedTransaction,
): Promise<string> {
  const swap = await swaps.findByHash(partner.id, network.id, hash)
  if (swap === null || swap.status === 'failed') throw late()
  return hash
}

type Sending = Readonly<{
  recorded: TrackedSwap
  signed: SignedTransaction
  raw: string
  expiry: Expiry
  /** The row existed: an earlier request may have broadcast it. */
  isRepeat: boolean
}>

/** If no node answers, the tracker broadcasts again. */
async function broadcast({ swaps }: SendSwapDeps, chain: SwapChain, sending: Sending): Promise<void> {
  const { recorded, signed, raw, expiry, isRepeat } = sending
  const sent = await broadcastSwap(chain, signed, raw)
  if (sent.kind === 'unknown') return
  // An earlier broadcast may have reached a block that these nodes do not have: the tracker waits for the proof.
  if (sent.kind === 'refused' && sent.because === 'expired') return
  if (sent.kind === 'refused' && isRepeat && !canEndSwap(sent, expiry)) return
  const isRefused = sent.kind === 'refused'
  const progress = {
    ...unmined,
    status: isRefused ? 'failed' : 'pending',
    reason: isRefused ? 'rejected' : null,
    isFinal: false,
  } as const
  const advanced = await swaps.advance(recorded, {
    progress,
    fee: null,
    isSeen: !isRefused,
    isSent: isRefused || chain.keepsPending,
    nextCheckMs: FIRST_CHECK_MS,
  })
  checkpoint('swap.sent')
  if (!isRefused) return
  // If the tracker or a concurrent request updated the row first, its status decides.
  const latest = advanced ? null : await swaps.find(recorded.swap.id)
  if (latest === null || latest.swap.status === 'failed') throw refusalOf(sent, 'rawTx')
}
