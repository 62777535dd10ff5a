import { fail } from '../print.ts'
import { replayCetus } from './cetus.ts'
import { replayDeepbook } from './deepbook.ts'
import type { LabSwap } from './lab-swap.ts'
import { replayMeteoraDammV2 } from './meteora-damm-v2.ts'
import { replayMeteoraDlmm } from './meteora-dlmm.ts'
import { replayPumpSwap } from './pump-swap.ts'
import { replayRaydiumAmmV4 } from './raydium-amm-v4.ts'
import { replayRaydiumClmm } from './raydium-clmm.ts'
import { replayRaydiumCpmm } from './raydium-cpmm.ts'
import { replayTurbos } from './turbos.ts'

export type Replay = (content: unknown) => LabSwap[]

/** By the address of the program on Solana, or by the repository of the package on Sui. */
const replays: ReadonlyMap<string, Replay> = new Map([
  ['675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8', replayRaydiumAmmV4],
  ['CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK', replayRaydiumClmm],
  ['LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo', replayMeteoraDlmm],
  ['cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG', replayMeteoraDammV2],
  ['pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA', replayPumpSwap],
  ['CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C', replayRaydiumCpmm],
  ['github.com/CetusProtocol/cetus-contracts', replayCetus],
  ['github.com/MystenLabs/deepbookv3', replayDeepbook],
  ['github.com/turbos-finance/turbos-clmm-public', replayTurbos],
])

/**
 * The replay of a file of recorded swaps, by the `source` of the file; null if the file names no program or has no pools. A repository may
 * have a remark after a space.
 */
export function findReplay(content: unknown): Replay | null {
  const { source, pools, books } = (content ?? {}) as { source?: Source | null; pools?: unknown; books?: unknown }
  if (!Array.isArray(pools) && !Array.isArray(books)) return null
  const named = source?.programId ?? source?.repository ?? null
  if (named === null) return null
  const [name = ''] = String(named).split(' ')
  return replays.get(name) ?? fail(`source names ${name}, which is none of ${[...replays.keys()].join(', ')}`)
}

type Source = Readonly<{ programId?: unknown; repository?: unknown }>
