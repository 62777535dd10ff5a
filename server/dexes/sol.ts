import type { DexNetwork } from '../src/swap/domain/dex.ts'

/**
 * Raydium CPMM and the mints as published by each project: docs.raydium.io, developers.circle.com, tether.to. The other programs are those of
 * the recorded swaps that the maths of their pools equals. Pools are found by the mints of their tokens. Nothing was ever compared with a
 * real node, so swaps need `swaps.networks.sol.enabled`.
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
  dexes: [
    { name: 'raydium-cpmm', kind: 'raydium-cpmm', factory: 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C' },
    { name: 'raydium-clmm', kind: 'raydium-clmm', factory: 'CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK' },
    { name: 'raydium-amm-v4', kind: 'raydium-amm-v4', factory: '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8' },
    { name: 'meteora-dlmm', kind: 'meteora-dlmm', factory: 'LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo' },
    { name: 'meteora-damm-v2', kind: 'meteora-damm-v2', factory: 'cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG' },
    { name: 'pump-swap', kind: 'pump-swap', factory: 'pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA' },
  ],
}
