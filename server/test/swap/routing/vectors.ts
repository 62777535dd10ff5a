import { expect, test } from 'vitest'
import { type Pool, swapExact } from '../../../src/swap/routing/pool-kinds.ts'

/** Identity of all pools in these tests, which do not depend on it. */
export const noIdentity = { id: 'vector', address: '0x0', dex: 'vector' }

export type Case = Readonly<{
  name: string
  pool: Pool
  tokenIn: string
  tokenOut: string
  amountIn: bigint
  /** Exact output in base units; zero if the pool pays nothing. */
  amountOut: bigint
}>

/**
 * Defines one test for all cases; a failure lists the differing cases. `count` detects a reader that skips cases. Null: the
 * optional file is missing.
 */
export function compareAll(title: string, cases: readonly Case[] | null, count: number): void {
  test.skipIf(cases === null)(`${title}: ${count} cases`, () => {
    expect(cases).toHaveLength(count)
    const differences = (cases ?? []).flatMap((row) => {
      const output = amountOutOf(row)
      return output === row.amountOut ? [] : [{ name: row.name, output, expected: row.amountOut }]
    })
    expect(differences).toEqual([])
  })
}

export function amountOutOf({ pool, tokenIn, tokenOut, amountIn }: Omit<Case, 'name' | 'amountOut'>): bigint {
  const indexes = [tokenIn, tokenOut].map((token) => pool.tokens.indexOf(token.toLowerCase()))
  expect(Math.min(...indexes)).toBeGreaterThanOrEqual(0)
  return swapExact(pool, indexes[0] as number, indexes[1] as number, amountIn)?.amountOut ?? 0n
}
