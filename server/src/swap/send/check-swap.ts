import { AppError, type Problem } from '../../core/domain/errors.ts'
import type { Partner } from '../../core/domain/partner.ts'
import { parsePercent } from '../../core/domain/percent.ts'
import type { BuiltTerms, SwapRefs } from '../build/swap-refs.ts'
import type { SwapTerms } from '../domain/swap.ts'
import type { Token } from '../domain/token.ts'
import type { SendRequest } from '../interfaces.ts'
import type { SwapNetwork } from '../networks.ts'
import type { SignedTransaction, SwapChain } from '../ports/swap-chain.ts'
import { isSameAsset, type ReadSwapDeps, readAmount, readSides, refusal } from '../quotes/read-swap-request.ts'
import { invalid } from './send-approval.ts'

export type CheckSwapDeps = ReadSwapDeps & Readonly<{ refs: SwapRefs }>

type Act = Extract<NonNullable<SignedTransaction['act']>, { kind: 'swap' }>
type BuiltAct = Act & Pick<BuiltTerms, 'owesFee'>

/**
 * Whether a signed transaction is a swap of ours: our router, an executor in force, and the very terms that we built for this
 * partner, its least output among them, by the very route.
 */
export function checkBuilt(
  refs: SwapRefs,
  partner: Partner,
  chain: SwapChain,
  signed: SignedTransaction,
  field: string,
): BuiltAct {
  const { act } = signed
  if (signed.to !== chain.router || act?.kind !== 'swap')
    throw invalid(`it is no swap by the router ${chain.formatAddress(chain.router)}; say isExchange: false for others`, field)
  if (act.executor !== (act.aggregatorCall ? chain.externalExecutor : chain.executor))
    throw invalid('it names another executor than the one in force', field)
  const terms = { ...act, partnerId: partner.id, network: chain.network.id, account: signed.signer }
  const built = refs.read(act.ref, terms)
  if (built === null)
    throw invalid(
      'its terms, or its route, are not those that were built: sign what /v1/defi/transaction/swap returned',
      field,
    )
  return { ...act, ...built }
}

/** What the request says of the swap must be what the transaction does. Throws with every difference at once. */
export async function checkRequest(
  deps: CheckSwapDeps,
  network: SwapNetwork,
  request: SendRequest,
  act: Act,
): Promise<Pick<SwapTerms, 'from' | 'to'>> {
  const { chain } = network
  const problems: Problem[] = []
  const [from, to] = await readSides(deps, network, request, problems)
  const differs = (field: string) =>
    void problems.push({ code: 'RAW_TX_INVALID', field, message: `${field} is not that of the transaction` })
  if (from && !isSameAsset(network, from.address, act.tokenIn)) differs('fromTokenAddress')
  if (to && !isSameAsset(network, to.address, act.tokenOut)) differs('toTokenAddress')
  const amountIn = readAmount(request.amountFrom, from, 'amountFrom', problems)
  if (from && amountIn !== null && amountIn !== act.amountIn) differs('amountFrom')
  const expected = readAmount(request.amountTo, to, 'amountTo', problems)
  if (parsePercent(request.commissionPercentage) !== act.feePpm) differs('commissionPercentage')
  checkRecipient(chain, request.account, 'account', act, problems)
  if (request.to !== undefined) checkRecipient(chain, request.to, 'to', act, problems)
  // The transaction is sound: it is the request that says otherwise.
  const [first] = problems
  if (first?.code === 'RAW_TX_INVALID') throw new AppError('VALIDATION_ERROR', first.message ?? '', { problems })
  if (problems.length > 0 || !from || !to || expected === null) throw refusal(problems)
  return { from: sideOf(from, act.amountIn), to: sideOf(to, expected) }
}

const sideOf = ({ address, decimals }: Token, units: bigint) => ({ token: address, decimals, units })

function checkRecipient(chain: SwapChain, text: string, field: string, { recipient }: Act, problems: Problem[]): void {
  const address = chain.parseAccount(text)
  if (address === null)
    problems.push({ code: 'INVALID_ADDRESS', field, message: `${field} is not an account on ${chain.network.id}` })
  else if (address !== recipient)
    problems.push({ code: 'RAW_TX_INVALID', field, message: `${field} is not the recipient of the transaction` })
}
