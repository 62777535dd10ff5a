import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Pool, swapExact } from '../../../src/swap/routing/pool-kinds.ts'

/** Swaps of real pools as other projects recorded them lie beside the repository where it is developed; they are not part of it. */
const folder = new URL('../../../../../shared/vectors/', import.meta.url)

/** Every pool here is known by what it trades, not by where it is. */
export const anywhere = { id: 'vector', address: '0x0', dex: 'vector' }

export type Case = Readonly<{
  name: string
  pool: Pool
  tokenIn: string
  tokenOut: string
  amountIn: bigint
  /** To the last unit; zero where nothing is paid. */
  amountOut: bigint
}>

/** One file of vectors, or null with a line that says so where it is not there. */
export function readVectors<T>(name: string): T | null {
  const file = new URL(`${name}.json`, folder)
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as T
  console.info(`swap vectors: ${name}.json is not beside the repository, its cases are not compared`)
  return null
}

/** One test for all: a difference names its case. `count` guards against a reader that sees fewer cases than there are. */
export function comparesAll(title: string, cases: readonly Case[] | null, count: number): void {
  test.skipIf(cases === null)(`${title}: ${count} cases`, () => {
    expect(cases).toHaveLength(count)
    const differences = (cases ?? []).flatMap((row) => {
      const paid = amountOutOf(row)
      return paid === row.amountOut ? [] : [{ name: row.name, paid, expected: row.amountOut }]
    })
    expect(differences).toEqual([])
  })
}

export function amountOutOf({ pool, tokenIn, tokenOut, amountIn }: Omit<Case, 'name' | 'amountOut'>): bigint {
  const places = [tokenIn, tokenOut].map((token) => pool.tokens.indexOf(token.toLowerCase()))
  expect(Math.min(...places)).toBeGreaterThanOrEqual(0)
  return swapExact(pool, places[0] as number, places[1] as number, amountIn)?.amountOut ?? 0n
}
