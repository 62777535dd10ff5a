import type { BalancerWeightedPool } from '../../swap/routing/pools/balancer-weighted.ts'
import {
  FEE_CHANGED,
  isSet,
  PAUSED_CHANGED,
  PAUSED_STATE,
  POOL_ID,
  readHoldings,
  SWAP_FEE,
  vaultDex,
} from './balancer-vault.ts'
import { readEach } from './calls.ts'
import type { DexReader, FoundPool, Ground, Tracked } from './tracked.ts'
import { listOf, wordAt, wordsOf } from './words.ts'

const WEIGHTS = '0xf89f27ed'
/** inRecoveryMode(): the pools of version 2 and later have it (factories since September 2022). */
const RECOVERY = '0xb35056b8'
const ONE = 10n ** 18n

/** Weighted pools of Balancer's V2 vault. */
export const balancerWeightedDex: DexReader = vaultDex([FEE_CHANGED, PAUSED_CHANGED], readWeighted)

async function readWeighted(ground: Ground, at: string, found: readonly FoundPool[]): Promise<(Tracked | null)[]> {
  const own = [POOL_ID, WEIGHTS, SWAP_FEE, PAUSED_STATE, RECOVERY] as const
  const told = await readEach(ground.reader, at, found, own)
  const ids = told.map(([id]) => id)
  const holdings = await readHoldings(ground, at, found, ids)
  return found.map(({ dex }, index) => {
    const holding = holdings[index]
    const [, normalized, fee, paused, recovery] = told[index] ?? []
    const weights = listOf(wordsOf(normalized ?? '0x'), 0)
    if (!holding || !fee || weights.length < 2 || weights.length !== holding.tokens.length) return null
    const scales = holding.factors.flatMap((factor) => (factor === null ? [] : [{ factor, rate: ONE }]))
    if (scales.length !== weights.length) return null
    const pool: BalancerWeightedPool = {
      kind: 'balancer-weighted',
      vault: 'v2',
      id: holding.id,
      address: holding.vault,
      dex: dex.name,
      tokens: holding.tokens,
      balances: holding.balances,
      weights,
      scales,
      swapFee: wordAt(wordsOf(fee), 0),
      aggregateFee: 0n,
      shortcuts: Boolean(recovery),
    }
    return isSet(paused) ? { pool, idle: true } : { pool }
  })
}
