import { AppError } from '../domain/errors.ts'
import type { SignedTransaction, SwapChain } from '../ports/swap-chain.ts'
import type { AnswerOnce } from './answer-once.ts'
import { broadcastSwap, refusalOf, silence } from './broadcast-swap.ts'
import type { SwapServices } from './swap-interfaces.ts'
import type { SwapNetworks } from './swap-networks.ts'

export type SendApprovalDeps = Readonly<{ networks: SwapNetworks; answerOnce: AnswerOnce }>

/** Broadcasts a signed approval: of our router, and of nobody else. */
export function createSendApproval({ networks, answerOnce }: SendApprovalDeps): SwapServices['sendApproval'] {
  return (partner, { network, rawApproveTx }, idempotency) =>
    answerOnce(partner, idempotency, async () => {
      const { chain } = networks.getOpen(network)
      const signed = readAs(chain, rawApproveTx, 'rawApproveTx')
      if (signed.act?.kind !== 'approve') throw invalid('it is no approval of a token', 'rawApproveTx')
      checkSpender(chain, signed, 'rawApproveTx')
      await sendOnly(chain, signed, rawApproveTx, 'rawApproveTx')
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

export function checkSpender(chain: SwapChain, { act }: SignedTransaction, field: string): void {
  if (act?.kind === 'approve' && act.spender !== chain.router)
    throw invalid(`it approves another spender than the router ${chain.spell(chain.router)}`, field)
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
