import type { Hex } from 'viem'
import { limitOf } from '../../swap/routing/pools/concentrated.ts'
import { type UniswapV3Pool, uniswapV3 } from '../../swap/routing/pools/uniswap-v3.ts'
import type { ReadContext } from './tracked-pool.ts'
import { callOf, signed, wordAt, wordsOf } from './abi-words.ts'

/** swap(address,bool,int256,uint160,bytes) */
const SWAP = '0x128acb08'
/** Code that reverts with whatever it is called with: the pool's callback, which names both amounts. */
const REVERTER: Hex = '0x366000600037366000fd'
/** The part of what lies at the price with which a pool is tried: enough to tell the smallest fee. */
const TRIAL_PART = 97n
const Q96 = 1n << 96n
/** Somebody. Not nobody: some tokens refuse to go there. */
const RECIPIENT = '0x7377617079617264000000000000000000000003'

export type Verdict = 'agrees' | 'differs' | 'nothing to try'

/**
 * Lets the pool swap each of its tokens in a simulated call, up to where it asks to be paid, and compares both amounts with ours:
 * fee, ticks, order of tokens and steps at once. A node that takes no state overrides lets no pool agree.
 */
export async function trySwaps({ reader }: ReadContext, at: string, pool: UniswapV3Pool): Promise<Verdict> {
  const trials = [0, 1].flatMap((tokenIn) => {
    const amountIn = trialOf(pool, tokenIn)
    const amountOut = uniswapV3.swap(pool, tokenIn, 1 - tokenIn, amountIn)?.amountOut
    return amountOut === undefined ? [] : [{ tokenIn, amountIn, amountOut }]
  })
  if (trials.length === 0) return 'nothing to try'
  const answers = await reader.revertsOf(
    at,
    REVERTER,
    trials.map(({ tokenIn, amountIn }) => ({
      to: pool.address,
      calldata: callOf(SWAP, RECIPIENT, 1 - tokenIn, amountIn, limitOf(tokenIn === 0), 160, 0),
    })),
  )
  const agree = trials.every(({ tokenIn, amountIn, amountOut }, place) => {
    // Behind the callback's selector, which each fork has its own of.
    const words = wordsOf(`0x${(answers[place] ?? '0x').slice(10)}`)
    const told = [0, 1].map((side) => signed(wordAt(words, side), 256))
    return told[tokenIn] === amountIn && told[1 - tokenIn] === -amountOut
  })
  return agree ? 'agrees' : 'differs'
}

/** What moves the price by about two percent where the liquidity at it goes so far. */
function trialOf({ liquidity, sqrtPrice }: UniswapV3Pool, tokenIn: number): bigint {
  const reserve = tokenIn === 0 ? (liquidity * Q96) / sqrtPrice : (liquidity * sqrtPrice) / Q96
  return reserve / TRIAL_PART + 1n
}
