import { AppError } from '../../core/domain/errors.ts'
import type { Partner } from '../../core/domain/partner.ts'
import { checkpoint } from '../../core/services/checkpoint.ts'
import type { WithIdempotency } from '../../core/services/interfaces.ts'
import type { SwapServices } from '../interfaces.ts'
import type { SwapNetworks } from '../networks.ts'
import type { BuiltApprovals } from '../ports/store/approvals.ts'
import type { SignedTransaction, SwapChain } from '../ports/swap-chain.ts'
import { broadcastSwap, refusalOf, silence } from './broadcast-swap.ts'

export type CheckApprovalDeps = Readonly<{ approvals: BuiltApprovals }>
export type SendApprovalDeps = CheckApprovalDeps & Readonly<{ networks: SwapNetworks; withIdempotency: WithIdempotency }>

/** Broadcasts a signed approval: of our router and of nobody else, of what was built and of no more. */
export function createSendApproval(deps: SendApprovalDeps): SwapServices['sendApproval'] {
  const { networks, withIdempotency } = deps
  return (partner, { network, rawApproveTx }, idempotency) =>
    withIdempotency(partner, idempotency, async () => {
      const { chain } = networks.getOpen(network)
      const signed = readAs(chain, rawApproveTx, 'rawApproveTx')
      await checkApproval(deps, partner, chain, signed, 'rawApproveTx')
      if (signed.act?.kind !== 'approve') throw invalid('it is no approval of a token', 'rawApproveTx')
      checkpoint('approval.checked')
      await sendOnly(chain, signed, rawApproveTx, 'rawApproveTx')
      checkpoint('approval.sent')
      return signed.hash
    })
}

/** The transaction, or what is wrong with it, told of the member that it came in. */
export function readAs(chain: SwapChain, raw: string, field: string): SignedTransaction {
  try {
    return chain.readSigned(raw)
  } catch (error) {
    if (error instanceof AppError) throw new AppError(error.code, error.message, { field, cause: error })
    throw error
  }
}

/**
 * An approval names our router, and the amount that was built for this partner, account and token. An approval of nothing takes
 * back what stands, and is anybody's right. What is no approval passes.
 */
export async function checkApproval(
  { approvals }: CheckApprovalDeps,
  partner: Partner,
  chain: SwapChain,
  { act, signer }: SignedTransaction,
  field: string,
): Promise<void> {
  if (act?.kind === 'odd-approval') throw invalid('it gives an allowance otherwise than by a plain approve', field)
  if (act?.kind !== 'approve') return
  const { token, spender, units } = act
  if (spender !== chain.router)
    throw invalid(`it approves another spender than the router ${chain.formatAddress(chain.router)}`, field)
  if (units === 0n) return
  const built = { partnerId: partner.id, network: chain.network.id, account: signer, token, units }
  if (await approvals.has(built)) return
  throw invalid(
    'it approves another amount than was built in the last 24 hours: sign what /v1/defi/transaction/swap returned',
    field,
  )
}

/** Broadcasts what is not recorded. */
export async function sendOnly(chain: SwapChain, signed: SignedTransaction, raw: string, field: string): Promise<void> {
  const sent = await broadcastSwap(chain, signed, raw)
  if (sent.kind === 'unknown') throw silence(chain)
  if (sent.kind === 'refused') throw refusalOf(sent, field)
}

export function invalid(problem: string, field: string): AppError {
  return new AppError('RAW_TX_INVALID', `the signed transaction cannot be used: ${problem}`, { field })
}
