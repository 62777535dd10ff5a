import { AppError } from '../../core/domain/errors.ts'
import { checkpoint } from '../../core/services/checkpoint.ts'
import { type Expiry, isProvenByChain } from '../domain/expiry.ts'
import type { SignedTransaction, SwapBroadcast, SwapChain } from '../ports/swap-chain.ts'

type Rejected = Extract<SwapBroadcast, { kind: 'rejected' }>

/** Outcome of a broadcast. `refused`: no node accepted the transaction, and it is neither mined nor pending. */
export type BroadcastOutcome =
  | Readonly<{ kind: 'sent' }>
  | Readonly<{ kind: 'unknown' }>
  | (Omit<Rejected, 'kind'> & { kind: 'refused' })

/** Broadcasts to every node. A refused transaction that is mined or pending counts as sent: nodes answer "nonce too low" to it, too. */
export async function broadcastSwap(
  chain: SwapChain,
  { hash, signer, nonce }: Pick<SignedTransaction, 'hash' | 'signer' | 'nonce'>,
  raw: string,
): Promise<BroadcastOutcome> {
  checkpoint('swap.before-broadcast')
  const outcome = await chain.broadcast(raw)
  checkpoint('swap.broadcast')
  if (outcome.kind === 'unknown') return { kind: 'unknown' }
  if (outcome.kind !== 'rejected') return { kind: 'sent' }
  // Here an expired transaction is one that is neither mined nor pending.
  const observed = await chain.observe(hash, { signer, nonce, expiry: { by: 'never' } })
  if (observed.kind === 'included' || observed.kind === 'pending') return { kind: 'sent' }
  return { kind: 'refused', reason: outcome.reason, because: outcome.because }
}

/**
 * Whether a refused repeat may end the swap. An expiry may not: the nodes' newest blocks may be replaced, and the row's expiry may
 * be later than the real one. Where the chain proves the expiry, only a used input may: another refusal says nothing about an earlier
 * broadcast.
 */
export function canEndSwap({ because }: Pick<Rejected, 'because'>, expiry: Expiry): boolean {
  if (because === 'expired') return false
  return !isProvenByChain(expiry) || because === 'nonce-used'
}

/** The partner's error for a refused transaction. */
export function refusalOf({ because }: Pick<Rejected, 'because'>, field: string): AppError {
  switch (because) {
    case 'nonce-used':
      return new AppError(
        'NONCE_CONFLICT',
        'another transaction of this account has used its nonce or its coins: build again',
        {
          field,
        },
      )
    case 'underpriced':
      return new AppError(
        'NONCE_CONFLICT',
        'another transaction with this nonce is pending, or the fee is below the base fee: build again',
        { field },
      )
    case 'insufficient-funds':
      return new AppError('INSUFFICIENT_BALANCE', 'the account cannot pay for the transaction and its gas', { field })
    case 'expired':
      return new AppError('RAW_TX_INVALID', 'the transaction has expired: build again', { field })
    case 'other':
      return new AppError('RAW_TX_INVALID', 'the nodes refuse the transaction', { field })
  }
}
