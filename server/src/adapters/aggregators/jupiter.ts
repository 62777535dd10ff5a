import type { Http } from '../../lib/http.ts'
import type { Aggregator, AggregatorInstruction, AggregatorOrder } from '../../swap/ports/aggregator.ts'
import { memberOf, requestJson, textOf, unitsOf } from './request-json.ts'

export const jupiterUrl = 'https://api.jup.ag/swap/v2'
/** Jupiter's aggregator program, from its documentation. */
const program = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4'
/** A quote names no user, and `/build` requires one: that of the documentation's examples. */
const quotedTaker = 'GkwFnmMDvn3HGMpJpWBg8tgJxr3NxNvg3AXxvXVPbRGJ'
/** The instruction shares its transaction with our own. */
const ACCOUNTS_MAX = '48'
const BPS_IN_PPM = 100

export type JupiterOptions = Readonly<{
  http: Http
  key: string
  url?: string
  /** Replaces the published program, by network. */
  contracts?: ReadonlyMap<string, readonly string[]>
}>

/**
 * Jupiter's Swap API v2, `/build`: a quote with the instructions of its swap. Its transactions, its fees and its priority fees are not
 * used, and SOL is wrapped by us.
 */
export function createJupiter({ http, key, url = jupiterUrl, contracts }: JupiterOptions): Aggregator {
  const ask = (order: AggregatorOrder, taker: string, slippageBps: number, timeoutMs: number) =>
    requestJson({
      http,
      timeoutMs,
      url: `${url}/build`,
      headers: { 'x-api-key': key },
      query: {
        ...{ inputMint: order.tokenIn, outputMint: order.tokenOut, amount: order.amountIn.toString(), taker },
        ...{ slippageBps: String(slippageBps), maxAccounts: ACCOUNTS_MAX, wrapAndUnwrapSol: 'false' },
      },
    })
  return {
    id: 'jupiter',
    serves: (network) => network === 'sol',
    contracts: (network) => contracts?.get(network) ?? [program],
    async quote(order, timeoutMs) {
      const amountOut = amountOf(await ask(order, quotedTaker, 0, timeoutMs), order)
      return amountOut === null ? null : { amountOut, gas: null }
    },
    async build(order, timeoutMs) {
      const { taker, slippagePpm } = order
      const answer = await ask(order, taker, Math.ceil(slippagePpm / BPS_IN_PPM), timeoutMs)
      const amountOut = amountOf(answer, order)
      const swap = readInstruction(memberOf(answer, 'swapInstruction'))
      const setup = readInstructions(memberOf(answer, 'setupInstructions'))
      const others = readInstructions(memberOf(answer, 'otherInstructions'))
      // What it needs besides is unknown, and a transaction without it would fail.
      if (amountOut === null || swap === null || setup === null || others?.length !== 0) return null
      const tables = memberOf(answer, 'addressesByLookupTableAddress')
      return {
        amountOut,
        setup,
        swap,
        tables: typeof tables === 'object' && tables !== null ? Object.keys(tables) : [],
      }
    },
  }
}

function amountOf(answer: unknown, { tokenIn, tokenOut, amountIn }: AggregatorOrder): bigint | null {
  const isSame = memberOf(answer, 'inputMint') === tokenIn && memberOf(answer, 'outputMint') === tokenOut
  if (!isSame || unitsOf(memberOf(answer, 'inAmount')) !== amountIn) return null
  return unitsOf(memberOf(answer, 'outAmount'))
}

/** An absent list is empty. */
function readInstructions(value: unknown): readonly AggregatorInstruction[] | null {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) return null
  const read = value.map(readInstruction).filter((one) => one !== null)
  return read.length === value.length ? read : null
}

function readInstruction(value: unknown): AggregatorInstruction | null {
  const [program, data] = [memberOf(value, 'programId'), memberOf(value, 'data')].map(textOf)
  const list = memberOf(value, 'accounts')
  if (program == null || data == null || !Array.isArray(list)) return null
  const accounts = list.flatMap((one) => {
    const [address, isSigner, isWritable] = ['pubkey', 'isSigner', 'isWritable'].map((name) => memberOf(one, name))
    const isComplete = typeof address === 'string' && typeof isSigner === 'boolean' && typeof isWritable === 'boolean'
    return isComplete ? [{ address, isSigner, isWritable }] : []
  })
  return accounts.length === list.length ? { program, accounts, data } : null
}
