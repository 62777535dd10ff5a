import { parseUnits } from '../../core/domain/amount.ts'
import { AppError, errorCodes, type Problem } from '../../core/domain/errors.ts'
import { FEE_PPM, formatPercent, parsePercent, SLIPPAGE_PPM } from '../../core/domain/percent.ts'
import type { Token } from '../domain/token.ts'
import type { SwapRequest } from '../interfaces.ts'
import { ledgerToken, type SwapNetwork, type SwapNetworks } from '../networks.ts'
import type { FindToken, PeekToken } from '../tokens/known-tokens.ts'

/** Whoever must not wait recalls tokens, in place of finding them. */
export type ReadSwapDeps = Readonly<{ networks: SwapNetworks; findToken: FindToken | PeekToken }>

/** A request whose every part is right by itself. Tokens in canonical form. */
export type ParsedSwap = Readonly<{
  network: SwapNetwork
  from: Token
  to: Token
  amountIn: bigint
  slippagePpm: number
  feePpm: number
}>

/** What nodes commonly need for three questions. */
const READ_SECONDS = 1
const UINT256_MAX = (1n << 256n) - 1n

/** Throws with every problem of the request at once. */
export async function readSwapRequest(deps: ReadSwapDeps, request: SwapRequest): Promise<ParsedSwap> {
  const network = deps.networks.getOpen(request.network)
  const problems: Problem[] = []
  const [from, to] = await readSides(deps, network, request, problems)
  // Two spellings of one address need no reading.
  const [given, wanted] = [request.fromTokenAddress, request.toTokenAddress].map((text) => network.chain.parse(text))
  if (given && wanted && isSameAsset(network, given, wanted))
    problems.push({ code: 'SAME_CURRENCY', field: 'toTokenAddress', message: 'both tokens are the same' })
  const amountIn = readAmount(request.amount, from, 'amount', problems)
  const slippagePpm = readPercent(request.slippage, SLIPPAGE_PPM, problems, ['SLIPPAGE_OUT_OF_RANGE', 'slippage'])
  const feePpm = readPercent(request.referrerFee, FEE_PPM, problems, ['REFERRER_FEE_OUT_OF_RANGE', 'referrerFee'])
  if (problems.length > 0 || !from || !to || amountIn === null || slippagePpm === null || feePpm === null)
    throw refusal(problems)
  return { network, from, to, amountIn, slippagePpm, feePpm }
}

export function refusal(found: readonly Problem[]): AppError {
  // What must be corrected comes before what the moment does not allow.
  const isOfMoment = ({ code }: Problem) => errorCodes[code] === 'refused'
  const problems = [...found.filter((one) => !isOfMoment(one)), ...found.filter(isOfMoment)]
  const [first] = problems
  return new AppError(first?.code ?? 'VALIDATION_ERROR', first?.message ?? 'the request is not valid', {
    problems,
    ...(first?.code === 'NO_ROUTE' ? { retryAfterSeconds: READ_SECONDS } : {}),
  })
}

/** The tokens of both sides; null with a problem added, in the order of the sides. */
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
  // As of a token whose pools are looked up: who asks first is told so, who asks next is served.
  const message = `the token at ${field} is met for the first time and being read: ask again in a moment`
  if (token === undefined) problems.push({ code: 'NO_ROUTE', field, message })
  return token ?? null
}

export const isSameAsset = (network: SwapNetwork, a: string, b: string): boolean =>
  ledgerToken(network, a) === ledgerToken(network, b)

/** Units of a positive amount; null with a problem added. Without a token its decimals are not judged. */
export function readAmount(text: string, token: Token | null, field: string, problems: Problem[]): bigint | null {
  const decimals = token?.decimals ?? 80
  const asset = { id: 'token@swap', ticker: token?.symbol ?? '', network: '', decimals, contract: null } as const
  try {
    const units = parseUnits(text, asset, field)
    if (token === null || (units > 0n && units <= UINT256_MAX)) return units
    const tooMuch = { code: 'AMOUNT_ABOVE_MAX', field, message: `${field} is more than a chain can count` } as const
    const nothing = { code: 'AMOUNT_MALFORMED', field, message: `${field} must be greater than zero` } as const
    problems.push(units > 0n ? tooMuch : nothing)
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
