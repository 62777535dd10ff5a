import { formatUnits, parseUnits } from '../../core/domain/amount.ts'
import { AppError, errorCodes, type Problem } from '../../core/domain/errors.ts'
import { FEE_PPM, formatPercent, LOSS_PPM, parsePercent, SLIPPAGE_PPM } from '../../core/domain/percent.ts'
import type { Token } from '../domain/token.ts'
import type { SwapRequest } from '../interfaces.ts'
import { ledgerToken, type SwapNetwork, type SwapNetworks } from '../networks.ts'
import type { FindToken, PeekToken } from '../tokens/token-cache.ts'

/** `PeekToken` for callers that must not wait for a node. */
export type ReadSwapDeps = Readonly<{ networks: SwapNetworks; findToken: FindToken | PeekToken }>

/** A request with valid members. Token addresses in canonical form. */
export type ParsedSwap = Readonly<{
  network: SwapNetwork
  from: Token
  to: Token
  amountIn: bigint
  slippagePpm: number
  feePpm: number
  /** The loss that the request accepts; null = the operator's limits. */
  lossMaxPpm: number | null
}>

/** `Retry-After` of a token that is being read: the usual time of three node calls. */
const READ_SECONDS = 1

/** Throws one error with all problems of the request: first those that the caller found. */
export async function readSwapRequest(
  deps: ReadSwapDeps,
  request: SwapRequest,
  found: readonly Problem[] = [],
): Promise<ParsedSwap> {
  const network = deps.networks.getOpen(request.network)
  const problems = [...found]
  const [from, to] = await readSides(deps, network, request, problems)
  // The same address in two notations is detected without reading the tokens.
  const [fromAddress, toAddress] = [request.fromTokenAddress, request.toTokenAddress].map((text) =>
    network.chain.parse(text),
  )
  if (fromAddress && toAddress && isSameAsset(network, fromAddress, toAddress))
    problems.push({ code: 'SAME_CURRENCY', field: 'toTokenAddress', message: 'both tokens are the same' })
  const amountIn = readAmount(network, request.amount, from, 'amount', problems)
  const slippagePpm = readPercent(request.slippage, SLIPPAGE_PPM, problems, ['SLIPPAGE_OUT_OF_RANGE', 'slippage'])
  const feePpm = readPercent(request.referrerFee, FEE_PPM, problems, ['REFERRER_FEE_OUT_OF_RANGE', 'referrerFee'])
  const lossMaxPpm =
    request.maxPriceImpact === undefined
      ? null
      : readPercent(request.maxPriceImpact, LOSS_PPM, problems, ['VALIDATION_ERROR', 'maxPriceImpact'])
  if (problems.length > 0 || !from || !to || amountIn === null || slippagePpm === null || feePpm === null)
    throw refusal(problems)
  return { network, from, to, amountIn, slippagePpm, feePpm, lossMaxPpm }
}

/** The first problem becomes the error. Errors of the request come before temporary refusals. */
export function refusal(unsorted: readonly Problem[]): AppError {
  const isTemporary = ({ code }: Problem) => errorCodes[code] === 'refused'
  const problems = [...unsorted.filter((one) => !isTemporary(one)), ...unsorted.filter(isTemporary)]
  const [first] = problems
  return new AppError(first?.code ?? 'VALIDATION_ERROR', first?.message ?? 'the request is not valid', {
    problems,
    ...(first?.code === 'NO_ROUTE' ? { retryAfterSeconds: READ_SECONDS } : {}),
  })
}

/** The tokens of both sides; null with a problem added. Problems are in the order of the sides. */
export async function readSides(
  deps: ReadSwapDeps,
  network: SwapNetwork,
  { fromTokenAddress, toTokenAddress }: Pick<SwapRequest, 'fromTokenAddress' | 'toTokenAddress'>,
  problems: Problem[],
): Promise<readonly [Token | null, Token | null]> {
  const [ofFrom, ofTo]: [Problem[], Problem[]] = [[], []]
  const sides = await Promise.all([
    readSide(deps, network, fromTokenAddress, 'fromTokenAddress', ofFrom),
    readSide(deps, network, toTokenAddress, 'toTokenAddress', ofTo),
  ])
  problems.push(...ofFrom, ...ofTo)
  return sides
}

async function readSide(
  { findToken }: ReadSwapDeps,
  { chain }: SwapNetwork,
  text: string,
  field: string,
  problems: Problem[],
): Promise<Token | null> {
  const address = chain.parse(text)
  if (address === null) {
    problems.push({ code: 'INVALID_ADDRESS', field, message: `${field} is not an address on ${chain.network.id}` })
    return null
  }
  const token = await findToken(chain, address)
  if (token === null) problems.push({ code: 'TOKEN_NOT_FOUND', field, message: `there is no token at ${field}` })
  // The first request for an unknown token fails and starts the read; a later one succeeds.
  const message = `the token at ${field} is not cached and is being read from the chain: try again in a moment`
  if (token === undefined) problems.push({ code: 'NO_ROUTE', field, message })
  return token ?? null
}

export const isSameAsset = (network: SwapNetwork, a: string, b: string): boolean =>
  ledgerToken(network, a) === ledgerToken(network, b)

/** Units of a positive amount; null with a problem added. Without a token the decimals are not checked. */
export function readAmount(
  { chain: { unitsMax } }: SwapNetwork,
  text: string,
  token: Token | null,
  field: string,
  problems: Problem[],
): bigint | null {
  const decimals = token?.decimals ?? 80
  const asset = { id: 'token@swap', ticker: token?.symbol ?? '', network: '', decimals, contract: null } as const
  try {
    const units = parseUnits(text, asset, field)
    if (token === null || (units > 0n && units <= unitsMax)) return units
    const max = formatUnits(unitsMax, token.decimals)
    const message = `${field} is above ${max}, the most that a transaction on this network can state`
    const aboveMax = { code: 'AMOUNT_ABOVE_MAX', field, message, max } as const
    const zero = { code: 'AMOUNT_MALFORMED', field, message: `${field} must be greater than zero` } as const
    problems.push(units > 0n ? aboveMax : zero)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    problems.push(...error.problems)
  }
  return null
}

function readPercent(
  text: string,
  { least, most }: Readonly<{ least: number; most: number }>,
  problems: Problem[],
  [code, field]: readonly [Problem['code'], string],
): number | null {
  const ppm = parsePercent(text)
  if (ppm !== null && ppm >= least && ppm <= most) return ppm
  const [min, max] = [formatPercent(least), formatPercent(most)]
  problems.push({ code, field, message: `${field} must be ${min} to ${max} percent, in steps of 0.0001`, min, max })
  return null
}
