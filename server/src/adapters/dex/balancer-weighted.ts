import type { BalancerWeightedPool } from '../../swap/routing/pools/balancer-weighted.ts'
import { listOf, wordAt, wordsOf } from './abi-words.ts'
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
import { readEach } from './block-reader.ts'
import type { DexReader, PoolIdentity, ReadContext, TrackedPool } from './tracked-pool.ts'

const WEIGHTS = '0xf89f27ed'
/** inRecoveryMode(): exists in pools of version 2 and later (factories since September 2022). */
const RECOVERY = '0xb35056b8'
const ONE = 10n ** 18n

/** Weighted pools of Balancer's V2 vault. */
export const balancerWeightedDex: DexReader = vaultDex([FEE_CHANGED, PAUSED_CHANGED], readWeighted)

async function readWeighted(
  readContext: ReadContext,
  at: string,
  identities: readonly PoolIdentity[],
): Promise<(TrackedPool | null)[]> {
  const calls = [POOL_ID, WEIGHTS, SWAP_FEE, PAUSED_STATE, RECOVERY] as const
  const answers = await readEach(readContext.reader, at, identities, calls)
  const ids = answers.map(([id]) => id)
  const holdings = await readHoldings(readContext, at, identities, ids)
  return identities.map(({ dex }, index) => {
    const holding = holdings[index]
    const [, normalized, fee, paused, recovery] = answers[index] ?? []
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
