import { AppError } from '../../core/domain/errors.ts'
import type { Partner } from '../../core/domain/partner.ts'
import type { Screening } from '../../core/ports/screening.ts'
import { checkpoint } from '../../core/services/checkpoint.ts'
import type { WithIdempotency } from '../../core/services/interfaces.ts'
import { screen } from '../accounts.ts'
import type { SwapServices } from '../interfaces.ts'
import type { SwapNetworks } from '../networks.ts'
import type { BuiltApprovals } from '../ports/store/approvals.ts'
import type { SignedTransaction, SwapChain } from '../ports/swap-chain.ts'
import { broadcastSwap, refusalOf } from './broadcast-swap.ts'

export type CheckApprovalDeps = Readonly<{ approvals: BuiltApprovals }>
export type SendApprovalDeps = CheckApprovalDeps &
  Readonly<{ networks: SwapNetworks; screening: Screening; withIdempotency: WithIdempotency }>

/** Broadcasts a signed approval, if its spender is our router and its amount is one that we built. */
export function createSendApproval(deps: SendApprovalDeps): SwapServices['sendApproval'] {
  const { networks, withIdempotency } = deps
  return (partner, { network, rawApproveTx }, idempotency) =>
    withIdempotency(partner, idempotency, async () => {
      const { chain } = networks.getOpen(network)
      if (chain.spender === null)
        throw new AppError(
          'APPROVAL_NOT_NEEDED',
          `swaps on ${chain.network.id} need no approval: sign and send the swap`,
          { field: 'network' },
        )
      const signed = await readAs(chain, rawApproveTx, 'rawApproveTx')
      await checkApproval(deps, partner, chain, signed, 'rawApproveTx')
      if (signed.action?.kind !== 'approve') throw invalid('it is not an approval of a token', 'rawApproveTx')
      await screenTransaction(deps.screening, chain, signed)
      checkpoint('approval.checked')
      await sendOnly(chain, signed, rawApproveTx, 'rawApproveTx')
      checkpoint('approval.sent')
      return signed.hash
    })
}

/** Screens the signer of a transaction and everything that it calls or pays before we broadcast it. */
export async function screenTransaction(
  screening: Screening,
  chain: SwapChain,
  { signer, targets }: SignedTransaction,
): Promise<void> {
  const field = 'account'
  await screen(screening, chain, signer, { field, direction: 'sender' })
  for (const target of targets)
    if (target !== chain.spender) await screen(screening, chain, target, { field, direction: 'recipient' })
}

/** Decodes a transaction. Errors name the request member in `field`. */
export async function readAs(chain: SwapChain, raw: string, field: string): Promise<SignedTransaction> {
  try {
    return await chain.readSigned(raw)
  } catch (error) {
    if (error instanceof AppError) throw new AppError(error.code, error.message, { field, cause: error })
    throw error
  }
}

/**
 * An approval must name our router and the amount that we built for this partner, account and token. An approval of 0 for our
 * router revokes and needs no build. Other transactions pass.
 */
export async function checkApproval(
  { approvals }: CheckApprovalDeps,
  partner: Partner,
  chain: SwapChain,
  { action, signer }: SignedTransaction,
  field: string,
): Promise<void> {
  if (action?.kind === 'unsupported-approval')
    throw invalid('it grants an allowance by another call than a plain approve', field)
  if (action?.kind !== 'approve') return
  const { token, spender, units } = action
  if (spender !== chain.spender)
    throw invalid(`its spender is not the router ${chain.formatAddress(chain.spender ?? '')}`, field)
  if (units === 0n) return
  const built = { partnerId: partner.id, network: chain.network.id, account: signer, token, units }
  if (await approvals.has(built)) return
  throw invalid('its amount was not built in the last 24 hours: sign what /v1/defi/transaction/swap returned', field)
}

/** Broadcasts a transaction that is not recorded. */
export async function sendOnly(chain: SwapChain, signed: SignedTransaction, raw: string, field: string): Promise<void> {
  const sent = await broadcastSwap(chain, signed, raw)
  if (sent.kind === 'unknown')
    throw new AppError('NETWORK_UNAVAILABLE', `no node of ${chain.network.id} accepted the transaction: send it again`)
  if (sent.kind === 'refused') throw refusalOf(sent, field)
}

export function invalid(problem: string, field: string): AppError {
  return new AppError('RAW_TX_INVALID', `the signed transaction cannot be used: ${problem}`, { field })
}
