/* The calls by which a transaction swaps in a pool. */
import { bcs } from '@mysten/sui/bcs'
import { lastPriceOf } from '@swapyard/lib/pools/sui/concentrated-q64.ts'
import { InvariantError } from '../../lib/assert.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import type { CetusPool } from '../../swap/routing/pools/sui/cetus.ts'
import type { DeepbookPool } from '../../swap/routing/pools/sui/deepbook.ts'
import type { TurbosPool } from '../../swap/routing/pools/sui/turbos.ts'
import { type Argument, type Builder, nested, u64 } from './builder.ts'

export const CLOCK = `0x${'6'.padStart(64, '0')}`

/** A coin that is paid into a pool, with its amount. */
type Payment = Readonly<{ coin: Argument; amount: Argument; tokenIn: number; account: string }>
/** The coin that the pool pays, and what it leaves of the input; null: it takes all of it. */
type Swapped = Readonly<{ paid: Argument; rest: Argument | null }>

const flashSwap = 'pool::flash_swap'
const [baseForQuote, quoteForBase] = ['pool::swap_exact_base_for_quote', 'pool::swap_exact_quote_for_base'] as const
const [aForB, bForA] = ['swap_router::swap_a_b_with_return_', 'swap_router::swap_b_a_with_return_'] as const
/** Each swap calls one of these functions of packages. The first two type arguments are the coins of the pool. */
const swapFunctions: ReadonlySet<string> = new Set([flashSwap, baseForQuote, quoteForBase, aForB, bForA])

export const isSwapFunction = (module: string, name: string): boolean => swapFunctions.has(`${module}::${name}`)

const bool = (builder: Builder, value: boolean) => builder.pure('bool', bcs.bool().serialize(value).toBytes())
const typesOf = ({ tokens }: Pool, tokenIn: number): readonly [string, string] => {
  const [first, second] = [tokens[tokenIn], tokens[1 - tokenIn]]
  if (first === undefined || second === undefined) throw new InvariantError('a pool of Sui has two coins')
  return [first, second]
}
const limitOf = (builder: Builder, a2b: boolean) =>
  builder.pure('u128', bcs.u128().serialize(lastPriceOf(a2b)).toBytes())

function swapCetus(builder: Builder, pool: CetusPool, { coin, amount, tokenIn }: Payment): Swapped {
  const [typeIn, typeOut] = typesOf(pool, tokenIn)
  const a2b = tokenIn === 0
  const objects = [builder.shared(pool.config, false), builder.shared(pool.id, true)]
  const isExactIn = bool(builder, true)
  const terms = [bool(builder, a2b), isExactIn, amount, limitOf(builder, a2b), builder.shared(CLOCK, false)]
  const swapped = builder.call(`${pool.package}::${flashSwap}`, pool.tokens, [...objects, ...terms])
  const payment = builder.call('0x2::coin::into_balance', [typeIn], [coin])
  const zero = builder.call('0x2::balance::zero', [typeOut], [])
  builder.call('0x2::balance::destroy_zero', [typeIn], [nested(swapped, a2b ? 0 : 1)])
  const payments = a2b ? [payment, zero] : [zero, payment]
  builder.call(`${pool.package}::pool::repay_flash_swap`, pool.tokens, [...objects, ...payments, nested(swapped, 2)])
  return { paid: builder.call('0x2::coin::from_balance', [typeOut], [nested(swapped, a2b ? 1 : 0)]), rest: null }
}

/** The fee is paid in the input, with a coin of 0 DEEP, which comes back. */
function swapDeepbook(builder: Builder, pool: DeepbookPool, { coin, tokenIn }: Payment): Swapped {
  const name = tokenIn === 0 ? baseForQuote : quoteForBase
  const noFee = builder.call('0x2::coin::zero', [pool.feeCoin], [])
  const noMinimum = builder.pure('u64', u64(0n))
  const inputs = [builder.shared(pool.id, true), coin, noFee, noMinimum, builder.shared(CLOCK, false)]
  const swapped = builder.call(`${pool.package}::${name}`, pool.tokens, inputs)
  builder.call('0x2::coin::destroy_zero', [pool.feeCoin], [nested(swapped, 2)])
  return { paid: nested(swapped, 1 - tokenIn), rest: nested(swapped, tokenIn) }
}

const noDeadline = 2n ** 64n - 1n

/** The router takes a vector of coins, and returns the output and a coin of 0: it takes all. Its own minimum and deadline are not used. */
function swapTurbos(builder: Builder, pool: TurbosPool, { coin, amount, tokenIn, account }: Payment): Swapped {
  const a2b = tokenIn === 0
  const [typeIn] = typesOf(pool, tokenIn)
  builder.add({ MakeMoveVec: { type: `0x2::coin::Coin<${typeIn}>`, elements: [coin] } })
  const coins: Argument = { Result: builder.commands.length - 1 }
  const terms = [amount, builder.pure('u64', u64(0n)), limitOf(builder, a2b), bool(builder, true)]
  const recipient = builder.pure('address', bcs.Address.serialize(account).toBytes())
  const until = builder.pure('u64', u64(noDeadline))
  const inputs = [builder.shared(pool.id, true), coins, ...terms, recipient, until]
  const objects = [builder.shared(CLOCK, false), builder.shared(pool.config, false)]
  const types = [...pool.tokens, pool.feeType]
  const swapped = builder.call(`${pool.package}::${a2b ? aForB : bForA}`, types, [...inputs, ...objects])
  builder.call('0x2::coin::destroy_zero', [typeIn], [nested(swapped, 1)])
  return { paid: nested(swapped, 0), rest: null }
}

export function addPoolSwap(builder: Builder, pool: Pool, payment: Payment): Swapped {
  switch (pool.kind) {
    case 'cetus':
      return swapCetus(builder, pool, payment)
    case 'deepbook':
      return swapDeepbook(builder, pool, payment)
    case 'turbos':
      return swapTurbos(builder, pool, payment)
    default:
      throw new InvariantError(`a pool of Sui, not ${pool.kind}`)
  }
}

/** The shared objects that a swap in a pool names. */
export const sharedObjectsOf = (pool: Pool): readonly string[] =>
  pool.kind === 'cetus' || pool.kind === 'turbos' ? [pool.id, pool.config, CLOCK] : [pool.id, CLOCK]
