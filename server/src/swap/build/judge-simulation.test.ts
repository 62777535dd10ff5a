import { describe, expect, it } from 'vitest'
import type { RoutedSwap } from '../ports/router.ts'
import { findContradiction } from './judge-simulation.ts'

const at = (height: number, fork = '') => ({ height, hash: `0x${height}${fork}` })
const routeOf = (kind: string) => ({ block: at(10), swaps: [{ pool: { kind } }] }) as unknown as RoutedSwap
const QUOTED = 1_000_000n
const judge = (amountOut: bigint, block = at(10), kind = 'uniswap-v2') =>
  findContradiction(routeOf(kind), QUOTED, [{ block, amountOut }])

describe('D4: a simulation', () => {
  it('on the quoted block may lack two units of rounding and nothing more', () => {
    expect(judge(QUOTED)).toBeNull()
    expect(judge(QUOTED - 2n)).toBeNull()
    expect(judge(QUOTED - 3n)).toEqual({ simulated: QUOTED - 3n, isProof: true })
  })

  it('on a later block may lack a thousandth per block, five thousandths at most', () => {
    expect(judge(999_000n, at(11))).toBeNull()
    expect(judge(998_900n, at(11))).toEqual({ simulated: 998_900n, isProof: false })
    expect(judge(998_000n, at(12))).toBeNull()
    expect(judge(995_000n, at(10_000))).toBeNull()
    expect(judge(994_900n, at(10_000))).toMatchObject({ isProof: false })
    // Another block of the same height is another state.
    expect(judge(999_000n, at(10, 'b'))).toBeNull()
  })

  it('may lack what a second changes in pools of rates and amplification', () => {
    expect(judge(QUOTED - 22n, at(10), 'curve-stable')).toBeNull()
    expect(judge(QUOTED - 23n, at(10), 'curve-stable')).toMatchObject({ isProof: true })
  })

  it('that pays two percent more contradicts its quote and proves nothing; fees that fall with time explain six', () => {
    expect(judge(1_020_000n)).toBeNull()
    expect(judge(1_020_001n)).toEqual({ simulated: 1_020_001n, isProof: false })
    expect(judge(1_060_000n, at(10), 'liquidity-book')).toBeNull()
    expect(judge(1_060_001n, at(10), 'liquidity-book')).toEqual({ simulated: 1_060_001n, isProof: false })
  })

  it('D5: of either node counts', () => {
    const simulations = [
      { block: at(10), amountOut: QUOTED },
      { block: at(11), amountOut: 800_000n },
    ]
    expect(findContradiction(routeOf('uniswap-v3'), QUOTED, simulations)).toMatchObject({ simulated: 800_000n })
  })

  it('proves nothing about the pools if another node pays what was quoted', () => {
    const honest = { block: at(10), amountOut: QUOTED }
    const short = { block: at(10), amountOut: 800_000n }
    const contradicted = { simulated: 800_000n, isProof: false }
    expect(findContradiction(routeOf('uniswap-v3'), QUOTED, [honest, short])).toEqual(contradicted)
    expect(findContradiction(routeOf('uniswap-v3'), QUOTED, [short, honest])).toEqual(contradicted)
    expect(findContradiction(routeOf('uniswap-v3'), QUOTED, [short, short])).toMatchObject({ isProof: true })
    // Nodes that differ about the direction show that one of them is wrong.
    const excess = { block: at(10), amountOut: 1_200_000n }
    expect(findContradiction(routeOf('uniswap-v3'), QUOTED, [short, excess])).toEqual(contradicted)
  })
})
