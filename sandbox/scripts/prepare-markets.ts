import { writeFileSync } from 'node:fs'
import { constants, zstdCompressSync } from 'node:zlib'
import { type MarketSnapshot, packSnapshots, snapshotFile } from '../src/market/snapshot.ts'
import { evmNetworks } from '../src/networks.ts'
import { prepareMarket } from './markets/prepare-market.ts'

/**
 * Deploys the published contracts of real DEXes, tokens and pools on a fresh chain of each EVM network and packs the
 * chains into `src/generated/markets.zst`. New sandbox chains start from them. Takes about a minute.
 */
export async function prepareMarkets(networks = evmNetworks.map(({ network }) => network)) {
  const snapshots: Record<string, MarketSnapshot> = {}
  for (const network of networks) snapshots[network] = await prepareMarket(network)
  return snapshots
}

if (import.meta.main) {
  const startedAt = performance.now()
  const packed = packSnapshots(await prepareMarkets())
  // The window spans several chains, because most of their code is identical.
  const params = {
    [constants.ZSTD_c_compressionLevel]: 19,
    [constants.ZSTD_c_windowLog]: 27,
    [constants.ZSTD_c_enableLongDistanceMatching]: 1,
  }
  const file = zstdCompressSync(packed, { params })
  writeFileSync(snapshotFile, file)
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  process.stdout.write(`${packed.length} bytes as ${file.length}, ${seconds} s\n`)
}
