import type { DexNetwork } from '../src/swap/domain/dex.ts'

/** Multicall3 has this address on every network that we list (github.com/mds1/multicall3). */
const multicall3 = '0xcA11bde05977b3631167028862bE2a173976CA11'

export function defineDexes(definition: DexNetwork): DexNetwork {
  return { multicall3, ...definition }
}
