import { AppError } from '../../core/domain/errors.ts'
import type { Partner } from '../../core/domain/partner.ts'
import type { Screening } from '../../core/ports/screening.ts'
import { checkpoint } from '../../core/services/checkpoint.ts'
import type { WithIdempotency } from '../../core/services/interfaces.ts'
import { timeOrderedId } from '../../lib/id.ts'
import { screen } from '../build/build-swap.ts'
import type { Swap } from '../domain/swap.ts'
import type { SendRequest, SwapServices } from '../interfaces.ts'
import type { SwapStore, TrackedSwap } from '../ports/store/swaps.ts'
import type { SignedTransaction, SwapChain } from '../ports/swap-chain.ts'
import { broadcastSwap, refusalOf } from './broadcast-swap.ts'
import { type CheckSwapDeps, checkBuilt, checkRequest } from './check-swap.ts'
import { type CheckApprovalDeps, checkApproval, invalid, readAs, sendOnly } from './send-approval.ts'

export type SendSwapDeps = CheckSwapDeps &
  CheckApprovalDeps &
  Readonly<{
    swaps: SwapStore
    screening: Screening
    withIdempotency: WithIdempotency
    now(): number
  }>

/** The tracker looks again after this: by then its first broadcast is over. */
const FIRST_LOOK_MS = 1_000

/** Checks, records and broadcasts a signed swap, or records one that was broadcast already. */
export function createSendSwap(deps: SendSwapDeps): SwapServices['sendSwap'] {
  return (partner, request, idempotency) => deps.withIdempotency(partner, idempotency, () => send(deps, partner, request))
}

async function send(deps: SendSwapDeps, partner: Partner, request: SendRequest): Promise<string> {
  const { rawTx, hash } = request
  if (rawTx === undefined && hash === undefined)
    throw new AppError('VALIDATION_ERROR', 'rawTx is required, or the hash of what was sent already', {
      field: 'rawTx',
    })
  const network = deps.networks.getOpen(request.network)
  const { chain } = network
  const field = rawTx === undefined ? 'hash' : 'rawTx'
  const signed = rawTx === undefined ? await lookUp(chain, hash ?? '') : readAs(chain, rawTx, field)
  if (hash !== undefined && hash.toLowerCase() !== signed.hash) throw otherHash()
  if (!request.isExchange) return sendOther(deps, partner, chain, { signed, raw: rawTx ?? null, field })
  const act = checkBuilt(deps.refs, partner, chain, signed, field)
  const sides = await checkRequest(deps, network, request, act)
  if (rawTx !== undefined && isLate(deps, act.deadline)) return repeatLate(deps, partner, chain, signed)
  await screen(deps.screening, chain, chain.formatAddress(signed.signer))
  const recorded = await deps.swaps.record({
    ...sides,
    id: timeOrderedId(),
    partnerId: partner.id,
    network: chain.network.id,
    hash: signed.hash,
    sender: signed.signer,
    nonce: signed.nonce,
    recipient: act.recipient,
    minReceived: act.minReceived,
    feePpm: act.feePpm,
    feeTo: act.feeTo,
    owesFee: act.owesFee,
    deadline: act.deadline,
    raw: rawTx ?? null,
  })
  checkpoint('swap.recorded')
  if (recorded === null) throw invalid('it was built for another partner', field)
  if (rawTx !== undefined && !isOver(recorded.swap)) await broadcast(deps, chain, { recorded, signed, raw: rawTx })
  return signed.hash
}

/** What waits or is gone is broadcast as often as it is sent; what the chain has, and what it reverted, is not. */
const isOver = ({ status, reason }: Swap): boolean =>
  status === 'confirming' || status === 'finished' || reason === 'reverted'

const otherHash = () =>
  new AppError('VALIDATION_ERROR', 'hash is not that of rawTx', {
    problems: [{ code: 'RAW_TX_INVALID', field: 'hash', message: 'hash is not that of rawTx' }],
  })

async function lookUp(chain: SwapChain, hash: string): Promise<SignedTransaction> {
  if (!/^0x[0-9a-fA-F]{64}$/.test(hash))
    throw new AppError('VALIDATION_ERROR', 'hash is none of a transaction: 0x and 64 hexadecimal digits', {
      field: 'hash',
    })
  const found = await chain.lookUp(hash.toLowerCase())
  if (found !== null) return found
  throw new AppError('VALIDATION_ERROR', 'no node knows a transaction with this hash: send rawTx, or ask again', {
    field: 'hash',
  })
}

type Other = Readonly<{ signed: SignedTransaction; raw: string | null; field: string }>

/** Nothing is recorded of it. A swap or an approval is held to what holds for them. */
async function sendOther(deps: SendSwapDeps, partner: Partner, chain: SwapChain, other: Other): Promise<string> {
  const { signed, raw, field } = other
  await checkApproval(deps, partner, chain, signed, field)
  if (signed.to === chain.router) {
    const act = checkBuilt(deps.refs, partner, chain, signed, field)
    if (raw !== null && isLate(deps, act.deadline)) throw late()
    await screen(deps.screening, chain, chain.formatAddress(signed.signer))
  }
  if (raw !== null) await sendOnly(chain, signed, raw, field)
  return signed.hash
}

const isLate = ({ now }: SendSwapDeps, deadline: number): boolean => deadline * 1000 <= now()
const late = () => invalid('its deadline has passed: build again', 'rawTx')

/** Whoever lost our reply and asks late must not be told to build again what is on its way, or done. */
async function repeatLate(
  { swaps }: SendSwapDeps,
  partner: Partner,
  { network }: SwapChain,
  { hash }: SignedTransaction,
): Promise<string> {
  const known = await swaps.findSent(partner.id, network.id, hash)
  if (known === null || known.status === 'failed') throw late()
  return hash
}

type Sending = Readonly<{ recorded: TrackedSwap; signed: SignedTransaction; raw: string }>

/** What no node answered is the tracker's to send again: the row is there. */
async function broadcast({ swaps }: SendSwapDeps, chain: SwapChain, { recorded, signed, raw }: Sending): Promise<void> {
  const sent = await broadcastSwap(chain, signed, raw)
  if (sent.kind === 'unknown') return
  const isRefused = sent.kind === 'refused'
  const progress = {
    status: isRefused ? 'failed' : 'pending',
    reason: isRefused ? 'rejected' : null,
    receivedUnits: null,
    feeUnits: null,
    block: null,
    isFinal: false,
  } as const
  const advanced = await swaps.advance(recorded, {
    progress,
    fee: null,
    isSeen: !isRefused,
    isSent: true,
    nextLookMs: FIRST_LOOK_MS,
  })
  checkpoint('swap.sent')
  if (!isRefused) return
  // Where the tracker, or another sender of it, was faster they know more.
  const now = advanced ? null : await swaps.find(recorded.swap.id)
  if (now === null || now.swap.status === 'failed') throw refusalOf(sent, 'rawTx')
}
