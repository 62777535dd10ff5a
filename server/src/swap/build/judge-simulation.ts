import type { BlockRef } from '../../core/ports/chain.ts'
import { absolute } from '../../lib/bigint.ts'
import type { RoutedSwap } from '../ports/router.ts'
import type { SwapSimulation } from '../ports/swap-chain.ts'

const MILLION = 1_000_000n
/** Tokens that count in shares may lose this per transfer, as in the trial of tokens (docs/pools.md). */
const ROUNDING_UNITS = 2n
/** Rates and amplification that change with every second, millionths per block. */
const BY_TIME_PPM = 20n
const kindsByTime: ReadonlySet<string> = new Set(['curve-stable', 'balancer-stable'])
/** What trades of others may take within a block, and at most. */
const PER_BLOCK_PPM = 1_000n
const BETWEEN_MAX_PPM = 5_000n
/** A route that pays more than this above its quote was quoted at a wrong state. */
const EXCESS_PPM = 20_000n
/** Of pools whose fee falls with time, and is forecast high. */
const FALLING_FEE_EXCESS_PPM = 60_000n
const kindsOfFallingFee: ReadonlySet<string> = new Set(['algebra', 'liquidity-book'])

/**
 * A simulation that contradicts its quote. `isProof`: it ran on the state that was quoted, and every node's simulation pays less than that,
 * so something on the route pays less than it says. A surplus proves nothing: anyone can send tokens into a pool and take them back.
 */
export type Contradiction = Readonly<{ simulated: bigint; isProof: boolean }>

/**
 * Compares what a route was quoted to pay with what it pays in each simulation. Our amounts are exact, so at the same block every unit
 * counts; else what the blocks between can explain.
 */
export function findContradiction(
  { block, swaps }: Pick<RoutedSwap, 'block' | 'swaps'>,
  quoted: bigint,
  simulations: readonly SwapSimulation[],
): Contradiction | null {
  const hasKind = (kinds: ReadonlySet<string>) => swaps.some(({ pool }) => kinds.has(pool.kind))
  const byTimePpm = hasKind(kindsByTime) ? BY_TIME_PPM : 0n
  const excessPpm = hasKind(kindsOfFallingFee) ? FALLING_FEE_EXCESS_PPM : EXCESS_PPM
  const isShort = ({ block: simulatedAt, amountOut: simulated }: SwapSimulation) => {
    const allowedPpm = byTimePpm + movePpm(block, simulatedAt)
    return quoted - simulated > (quoted * allowedPpm) / MILLION + ROUNDING_UNITS
  }
  const isExcess = ({ amountOut: simulated }: SwapSimulation) => simulated - quoted > (quoted * excessPpm) / MILLION
  const first = simulations.find((one) => isShort(one) || isExcess(one))
  if (first === undefined) return null
  const isProof = simulations.every(isShort) && simulations.some((one) => one.block.hash === block.hash)
  return { simulated: first.amountOut, isProof }
}

/**
 * Whether newer pools say what a simulation paid, rather than what was quoted before: the price moved, and no pool pays other than it says.
 * `paid`: null if that is not known.
 */
export const isMove = (quoted: bigint, paid: bigint | null, newlyQuoted: bigint): boolean =>
  paid !== null && absolute(newlyQuoted - paid) < absolute(newlyQuoted - quoted)

function movePpm(quotedAt: BlockRef, simulatedAt: BlockRef): bigint {
  if (quotedAt.hash === simulatedAt.hash) return 0n
  const blocks = BigInt(Math.max(1, Math.abs(simulatedAt.height - quotedAt.height)))
  const ppm = blocks * PER_BLOCK_PPM
  return ppm < BETWEEN_MAX_PPM ? ppm : BETWEEN_MAX_PPM
}
