import type { DexNetwork } from '../src/swap/domain/dex.ts'

/**
 * Programs and mints as published by each project: docs.raydium.io, developers.circle.com, tether.to. Pools are found by the mints of
 * their tokens. Nothing was ever compared with a real node, so swaps need `swaps.networks.sol.enabled`.
 */
export const sol: DexNetwork = {
  network: 'sol',
  wrapped: 'So11111111111111111111111111111111111111112',
  connectors: [
    // USDC
    'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    // USDT
    'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
  ],
  stablecoin: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  dexes: [{ name: 'raydium-cpmm', kind: 'raydium-cpmm', factory: 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C' }],
}
