import type { Hex } from 'viem'
import { limitOf } from '../../swap/routing/pools/concentrated.ts'
import { type UniswapV3Pool, uniswapV3 } from '../../swap/routing/pools/uniswap-v3.ts'
import { callOf, signed, wordAt, wordsOf } from './abi-words.ts'
import type { ReadContext } from './tracked-pool.ts'

/** swap(address,bool,int256,uint160,bytes) */
const SWAP = '0x128acb08'
/** Code that reverts with its calldata: the pool's callback, which contains both amounts. */
const REVERTER: Hex = '0x366000600037366000fd'
/** The divisor of the virtual reserve that gives the trial amount: large enough to show the smallest fee. */
const TRIAL_PART = 97n
const Q96 = 1n << 96n
/** A recipient other than the zero address, which some tokens reject. */
const RECIPIENT = '0x7377617079617264000000000000000000000003'

export type Verdict = 'agrees' | 'differs' | 'no liquidity'

/**
 * Simulates a swap of each token up to the payment callback and compares both amounts with our maths. This verifies fee, ticks,
 * token order and steps. On a node without state overrides no pool agrees.
 */
export async function trySwaps({ reader }: ReadContext, at: string, pool: UniswapV3Pool): Promise<Verdict> {
  const trials = [0, 1].flatMap((tokenIn) => {
    const amountIn = trialOf(pool, tokenIn)
    const amountOut = uniswapV3.swap(pool, tokenIn, 1 - tokenIn, amountIn)?.amountOut
    return amountOut === undefined ? [] : [{ tokenIn, amountIn, amountOut }]
  })
  if (trials.length === 0) return 'no liquidity'
  const answers = await reader.revertsOf(
    at,
    REVERTER,
    trials.map(({ tokenIn, amountIn }) => ({
      to: pool.address,
      calldata: callOf(SWAP, RECIPIENT, 1 - tokenIn, amountIn, limitOf(tokenIn === 0), 160, 0),
    })),
  )
  const agree = trials.every(({ tokenIn, amountIn, amountOut }, place) => {
    // After the callback's selector, which differs by fork.
    const words = wordsOf(`0x${(answers[place] ?? '0x').slice(10)}`)
    const amounts = [0, 1].map((side) => signed(wordAt(words, side), 256))
    return amounts[tokenIn] === amountIn && amounts[1 - tokenIn] === -amountOut
  })
  return agree ? 'agrees' : 'differs'
}

/** An amount that moves the price by about two percent if the active liquidity reaches that far. */
function trialOf({ liquidity, sqrtPrice }: UniswapV3Pool, tokenIn: number): bigint {
  const reserve = tokenIn === 0 ? (liquidity * Q96) / sqrtPrice : (liquidity * sqrtPrice) / Q96
  return reserve / TRIAL_PART + 1n
}
