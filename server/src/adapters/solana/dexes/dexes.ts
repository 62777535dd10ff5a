import type { SolanaDexKind } from '../../../swap/domain/dex.ts'
import type { Pool } from '../../../swap/routing/pool-kinds.ts'
import type { Instruction } from '../transaction.ts'
import { meteoraDammV2Dex } from './meteora-damm-v2.ts'
import { meteoraDlmmDex } from './meteora-dlmm.ts'
import { pumpSwapDex } from './pump-swap.ts'
import { raydiumAmmV4Dex } from './raydium-amm-v4.ts'
import { raydiumClmmDex } from './raydium-clmm.ts'
import { raydiumCpmmDex } from './raydium-cpmm.ts'
import type { DexSwap, SolanaDex, SolanaPool, StatedSwap } from './solana-dex.ts'

/** The DEXes of Solana. To add one, add a file to this folder and a line here. */
const dexes: Readonly<{ [K in SolanaDexKind]: SolanaDex<Extract<SolanaPool, { kind: K }>> }> = {
  'raydium-cpmm': raydiumCpmmDex,
  'raydium-clmm': raydiumClmmDex,
  'raydium-amm-v4': raydiumAmmV4Dex,
  'meteora-dlmm': meteoraDlmmDex,
  'meteora-damm-v2': meteoraDammV2Dex,
  'pump-swap': pumpSwapDex,
}

/** The cast is sound because the table maps each kind to the DEX of that kind's pool type. */
export const dexOf = (kind: SolanaDexKind): SolanaDex<SolanaPool> => dexes[kind] as unknown as SolanaDex<SolanaPool>

export const isSolanaKind = (kind: string): kind is SolanaDexKind => Object.hasOwn(dexes, kind)

export const isSolanaPool = (pool: Pool): pool is SolanaPool => isSolanaKind(pool.kind)

const byProgram = new Map(Object.values(dexes).map(({ kind, program }) => [program, dexOf(kind)]))

export const dexOfProgram = (program: string): SolanaDex<SolanaPool> | undefined => byProgram.get(program)

export const swapIn = (pool: SolanaPool, swap: DexSwap): Instruction => dexOf(pool.kind).swap(pool, swap)

/** The swap of an instruction of any DEX; null for any other instruction. */
export const readDexSwap = (instruction: Instruction): StatedSwap | null =>
  dexOfProgram(instruction.program)?.readSwap(instruction) ?? null
