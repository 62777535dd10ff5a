import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Pool, swapExact } from '../../../src/swap/routing/pool-kinds.ts'

/** Swaps of real pools, recorded by other projects. The files are optional and are not part of the repository. */
const folder = new URL('../../../../../shared/vectors/', import.meta.url)

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

/** Reads one file of vectors. If it is missing, logs that and returns null. */
export function readVectors<T>(name: string): T | null {
  const file = new URL(`${name}.json`, folder)
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as T
  console.info(`swap vectors: ${name}.json is missing beside the repository; its tests are skipped`)
  return null
}

/** Defines one test for all cases; a failure lists the differing cases. `count` detects a reader that skips cases. */
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
