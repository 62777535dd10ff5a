import { AppError } from '../../core/domain/errors.ts'
import { checkpoint } from '../../core/services/checkpoint.ts'
import type { SignedTransaction, SwapBroadcast, SwapChain } from '../ports/swap-chain.ts'

type Rejected = Extract<SwapBroadcast, { kind: 'rejected' }>

/** What nodes made of it. `refused`: this very transaction is on no chain, and in no pool that we can see. */
export type Sent =
  | Readonly<{ kind: 'sent' }>
  | Readonly<{ kind: 'unknown' }>
  | (Omit<Rejected, 'kind'> & { kind: 'refused' })

/** To every node. A refusal of what is mined or waits already is none: "nonce too low" is said of it, too. */
export async function broadcastSwap(chain: SwapChain, signed: SignedTransaction, raw: string): Promise<Sent> {
  checkpoint('swap.before-broadcast')
  const outcome = await chain.broadcast(raw)
  checkpoint('swap.broadcast')
  if (outcome.kind === 'unknown') return { kind: 'unknown' }
  if (outcome.kind !== 'rejected') return { kind: 'sent' }
  const seen = await chain.observe(signed.hash, signed)
  if (seen.kind === 'included' || seen.kind === 'pending') return { kind: 'sent' }
  return { kind: 'refused', reason: outcome.reason, because: outcome.because }
}

/** Why nodes refused a transaction, for the partner's developer. */
export function refusalOf({ because }: Pick<Rejected, 'because'>, field: string): AppError {
  switch (because) {
    case 'nonce-used':
      return new AppError('NONCE_CONFLICT', 'another transaction of this account has used the nonce: build again', {
        field,
      })
    case 'underpriced':
      return new AppError(
        'NONCE_CONFLICT',
        'another transaction with this nonce waits, or this one pays less than blocks ask now: build again',
        { field },
      )
    case 'insufficient-funds':
      return new AppError('INSUFFICIENT_BALANCE', 'the account cannot pay for the transaction', { field })
    case 'other':
      return new AppError('RAW_TX_INVALID', 'the nodes refuse the transaction', { field })
  }
}

export function silence(chain: SwapChain): AppError {
  return new AppError('NETWORK_UNAVAILABLE', `no node of ${chain.network.id} has taken the transaction: send it again`)
}
