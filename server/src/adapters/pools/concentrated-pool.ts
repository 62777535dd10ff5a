import type { Pool } from '../../swap/routing/pool-kinds.ts'

export type ConcentratedPool = Extract<Pool, { kind: 'uniswap-v3' | 'uniswap-v4' | 'algebra' }>

export const isConcentrated = (pool: Pool): pool is ConcentratedPool =>
  pool.kind === 'uniswap-v3' || pool.kind === 'uniswap-v4' || pool.kind === 'algebra'
