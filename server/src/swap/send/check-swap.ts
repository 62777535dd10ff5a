import { AppError, type Problem } from '../../core/domain/errors.ts'
import type { Partner } from '../../core/domain/partner.ts'
import { parsePercent } from '../../core/domain/percent.ts'
import type { BuiltTerms, SwapRefs } from '../build/swap-refs.ts'
import type { Expiry } from '../domain/expiry.ts'
import { isPaused, type PoolPauses } from '../domain/pool-pauses.ts'
import type { SwapTerms } from '../domain/swap.ts'
import type { Token } from '../domain/token.ts'
import type { SendRequest } from '../interfaces.ts'
import { poolToken, type SwapNetwork } from '../networks.ts'
import type { SignedTransaction, SwapAction, SwapChain } from '../ports/swap-chain.ts'
import { isSameAsset, type ReadSwapDeps, readAmount, readSides, refusal } from '../quotes/read-swap-request.ts'
import { invalid } from './send-approval.ts'

export type CheckSwapDeps = ReadSwapDeps & Readonly<{ refs: SwapRefs }>

type BuiltAction = SwapAction & Pick<BuiltTerms, 'owesFee'>

/**
 * Checks that a signed transaction is a swap that we built for this partner: in our form, by the current executor, and with exactly
 * the terms and the route that the reference binds.
 */
export function checkBuilt(
  refs: SwapRefs,
  partner: Partner,
  chain: SwapChain,
  signed: SignedTransaction,
  field: string,
): BuiltAction {
  const { action } = signed
  if (action?.kind !== 'swap')
    throw invalid(`it is not ${describeSwap(chain)}; set isExchange: false for other transactions`, field)
  if (action.executor !== (action.aggregatorCall ? chain.aggregatorTaker : chain.executor))
    throw invalid('it names an executor that is not in use: build again', field)
  const terms = { ...action, partnerId: partner.id, network: chain.network.id, account: signed.signer }
  const built = refs.read(action.ref, terms)
  if (built === null)
    throw invalid(
      'its terms or its route differ from what was built: sign what /v1/defi/transaction/swap returned',
      field,
    )
  return { ...action, ...built }
}

const describeSwap = ({ spender, formatAddress }: SwapChain): string =>
  spender === null ? 'a swap that we built' : `a swap of the router ${formatAddress(spender)}`

/** Whether the route of a signed swap has a DEX, pool or token that is paused. */
export function isPausedSwap(
  pauses: PoolPauses,
  refs: Pick<SwapRefs, 'mayUseDex'>,
  chain: SwapChain,
  { ref, pools, tokenIn, tokenOut, routeTokens }: SwapAction,
): boolean {
  const tokens = [tokenIn, tokenOut, ...routeTokens].map((token) => poolToken(chain, token))
  return (
    [...pauses.dexes].some((dex) => refs.mayUseDex(ref, dex)) ||
    ['', ...pools].some((id) => isPaused({ dex: '', id, tokens }, pauses))
  )
}

/** The terms that a signed swap states, with its expiry. */
export function termsOf(
  { network }: SwapChain,
  { hash, signer, nonce }: SignedTransaction,
  { recipient, minReceived, feePpm, feeTo }: SwapAction,
  expiry: Expiry,
): Omit<SwapTerms, 'from' | 'to'> {
  return { network: network.id, hash, sender: signer, nonce, recipient, minReceived, feePpm, feeTo, expiry }
}

/** Checks that the request agrees with the transaction. Throws one error with all differences. */
export async function checkRequest(
  deps: CheckSwapDeps,
  network: SwapNetwork,
  request: SendRequest,
  action: SwapAction,
): Promise<Pick<SwapTerms, 'from' | 'to'>> {
  const { chain } = network
  const problems: Problem[] = []
  const [from, to] = await readSides(deps, network, request, problems)
  const differs = (field: string) =>
    void problems.push({ code: 'RAW_TX_INVALID', field, message: `${field} differs from the transaction` })
  if (from && !isSameAsset(network, from.address, action.tokenIn)) differs('fromTokenAddress')
  if (to && !isSameAsset(network, to.address, action.tokenOut)) differs('toTokenAddress')
  const amountIn = readAmount(network, request.amountFrom, from, 'amountFrom', problems)
  if (from && amountIn !== null && amountIn !== action.amountIn) differs('amountFrom')
  const expected = readAmount(network, request.amountTo, to, 'amountTo', problems)
  if (parsePercent(request.commissionPercentage) !== action.feePpm) differs('commissionPercentage')
  checkRecipient(chain, request.account, 'account', action, problems)
  if (request.to !== undefined) checkRecipient(chain, request.to, 'to', action, problems)
  // The transaction is valid; the request contradicts it.
  const [first] = problems
  if (first?.code === 'RAW_TX_INVALID') throw new AppError('VALIDATION_ERROR', first.message ?? '', { problems })
  if (problems.length > 0 || !from || !to || expected === null) throw refusal(problems)
  return { from: sideOf(from, action.amountIn), to: sideOf(to, expected) }
}

const sideOf = ({ address, decimals }: Token, units: bigint) => ({ token: address, decimals, units })

function checkRecipient(
  chain: SwapChain,
  text: string,
  field: string,
  { recipient }: SwapAction,
  problems: Problem[],
): void {
  const address = chain.parseAccount(text)
  if (address === null)
    problems.push({ code: 'INVALID_ADDRESS', field, message: `${field} is not an account on ${chain.network.id}` })
  else if (address !== recipient)
    problems.push({ code: 'RAW_TX_INVALID', field, message: `${field} is not the recipient in the transaction` })
}
