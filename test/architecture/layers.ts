import type { Architecture, Place } from './rules.ts'

/** Layers of the top folders of server/src. A file imports from its own module or from a lower layer. */
const layers: Readonly<Record<string, number>> = {
  lib: 0,
  core: 1,
  exchange: 3,
  swap: 3,
  events: 3,
  admin: 5,
  adapters: 6,
  pages: 6,
  config: 7,
  app: 8,
  cli: 9,
}
/** Layers of the data folders beside server/src, chosen by the types that they use. */
const dataLayers: Readonly<Record<string, number>> = { networks: 2, currencies: 2, dexes: 4 }
const serverMain = 'server/src/main.ts'

/** Ranks inside core, exchange, swap and admin: domain ← ports ← services ← HTTP. */
const ranks: Readonly<Record<string, number>> = { domain: 0, routing: 1, ports: 2, api: 4, http: 4 }
const portsRank = 2
const serviceRank = 3
const highestRank = 4
const ranked = new Set(['core', 'exchange', 'swap', 'events', 'admin'])

/** Returns the position of a file in the layers that ARCHITECTURE.md describes. */
function placeOf(path: string): Place | null {
  const [workspace, top, first = '', second = '', third = ''] = path.split('/')
  if (workspace === 'schema' || workspace === 'sandbox' || workspace === 'lib')
    return { layer: 0, module: workspace, rank: 0, sees: 0 }
  if (workspace === 'sdk')
    return {
      layer: top === 'src' && first === 'cli' ? 1 : 0,
      module: first === 'cli' ? 'sdk/cli' : 'sdk',
      rank: 0,
      sees: 0,
    }
  if (workspace !== 'server') return null
  const dataLayer = dataLayers[top ?? '']
  if (dataLayer !== undefined) return { layer: dataLayer, module: top ?? '', rank: 0, sees: 0 }
  if (top !== 'src') return null
  if (path === serverMain) return { layer: 10, module: 'main', rank: 0, sees: highestRank }
  const layer = layers[first]
  if (layer === undefined || second === '') return null
  if (ranked.has(first)) {
    const rank = ranks[second] ?? serviceRank
    return { layer, module: first, rank, sees: rank }
  }
  if (first !== 'adapters') return { layer, module: first, rank: 0, sees: highestRank }
  if (third === '') return null
  // Adapters import the ports of exchange and swap, not the services.
  const module = second === 'chains' || second === 'postgres' ? `${second}/${third}` : second
  return { layer, module, rank: 0, sees: portsRank }
}

/** Adapters that import another adapter. All other imports between modules of one layer are forbidden. */
const allowedEdges: Readonly<Record<string, readonly string[]>> = {
  'chains/bitcoin': ['chains/shared'],
  'chains/evm': ['chains/shared'],
  'chains/monero': ['chains/shared'],
  dex: ['chains/evm', 'pools'],
  explorer: ['solana', 'sui'],
  solana: ['chains/shared', 'dex', 'pools'],
  sui: ['chains/shared', 'pools'],
  'swap-chain': ['chains/evm', 'chains/shared', 'dex'],
  signers: ['chains/monero'],
  'postgres/events': ['postgres/core'],
  'postgres/exchange': ['postgres/core'],
  'postgres/swap': ['postgres/core'],
  'postgres/queue': ['postgres/core'],
  'postgres/admin': ['postgres/core', 'postgres/events', 'postgres/exchange', 'postgres/swap'],
}

const adapters = 'server/src/adapters'
const chains = `${adapters}/chains`
const postgres = `${adapters}/postgres`
const http = [
  'server/src/core/http',
  'server/src/exchange/api',
  'server/src/swap/api',
  'server/src/events/api',
  'server/src/admin/http',
]
const columns = 'block heights, key indexes and counts: bigint columns, which pg returns as text'

export const architecture: Architecture = {
  placeOf,
  allowedEdges,
  importers: {
    '@fastify/under-pressure': ['server/src/core/http'],
    '@lifi/data-types': [`${adapters}/token-lists`],
    '@mysten/sui': [`${adapters}/sui`, 'lib/src/pools/sui', 'sandbox/src/sui'],
    '@noble/curves': [
      ...[`${chains}/evm`, `${chains}/monero`],
      ...[`${adapters}/signers`, `${adapters}/solana`, `${adapters}/swap-chain`],
    ],
    '@noble/hashes': [`${chains}/monero`, `${chains}/shared`, 'sandbox/src/sui'],
    '@scure/base': [`${chains}/bitcoin`, `${adapters}/solana`, `${adapters}/sui`],
    '@scure/bip32': [`${adapters}/signers`],
    '@scure/bip39': [`${adapters}/signers`],
    '@scure/btc-signer': [`${chains}/bitcoin`, 'sandbox/src/bitcoin'],
    '@solana-program/system': ['sandbox/src/solana'],
    '@solana-program/token': ['sandbox/src/solana'],
    '@solana/kit': ['sandbox/src/solana'],
    litesvm: ['sandbox/src/solana'],
    ws: ['sandbox/src/solana'],
    '@simplewebauthn/server': ['server/src/admin/identity'],
    '@swapyard/contracts': [`${adapters}/dex`, `${adapters}/swap-chain`, 'sandbox/src/evm'],
    '@swapyard/lib': [adapters, 'server/src/lib', 'server/src/cli/lab', 'server/src/swap/routing', 'sandbox/src'],
    '@swapyard/schema': [...http, 'server/src/app/http.ts', 'server/src/admin', 'server/src/cli'],
    commander: ['server/src/cli'],
    fastify: [...http, 'server/src/app/http.ts', 'server/src/pages', 'sandbox/src/control-server.ts'],
    'graphile-worker': [`${postgres}/queue`],
    'ipaddr.js': ['server/src/lib'],
    'lru-cache': ['server/src/lib', `${adapters}/dex`, `${adapters}/signers`, 'server/src/swap/tokens'],
    marked: ['server/src/pages/docs'],
    minisearch: ['server/src/pages/docs'],
    nodemailer: [`${adapters}/mail`],
    'p-limit': [`${adapters}/dex`, 'server/src/app/router-thread.ts', 'sandbox/src'],
    'p-map': [`${adapters}/chains/bitcoin`, `${adapters}/dex`, 'server/src/exchange/settlement'],
    otpauth: ['server/src/admin/identity'],
    'p-retry': ['lib/src'],
    pg: [`${postgres}/core`, `${postgres}/queue`],
    pino: ['server/src/lib'],
    'prom-client': ['server/src/app/metrics.ts', `${adapters}/router`],
    typebox: ['schema/src', 'server/src/core/http', 'server/src/admin/http', 'server/src/config'],
    undici: ['lib/src', 'server/src/lib'],
    uqr: ['sdk/src/cli', 'server/src/pages/tracking'],
    viem: [`${chains}/evm`, `${adapters}/dex`, `${adapters}/swap-chain`, 'sandbox/src/evm', 'sandbox/src/keys.ts'],
  },
  linesMax: 400,
  functionLinesMax: 70,
  isData: (path) => /^(server\/(networks|currencies|dexes)|sdk\/src\/generated)\//.test(path),
  vagueWords: [
    'util',
    'utils',
    'helper',
    'helpers',
    'common',
    'misc',
    'manager',
    'data',
    'info',
    'handle',
    'process',
    'do',
  ],
  numbers: {
    'server/src/admin/reads/pool-reads.ts': 'the depth of a pool in US dollars, in the cursor of a list',
    'server/src/exchange/api/present.ts': "the rate quote's numbers, which the spec requires: exact by construction",
    'server/src/cli/lab-commands.ts': 'the position of a pool in a lab case; the cost of a swap as a price of gas',
    'server/src/cli/print.ts': 'an integer from the command line',
    'server/src/app/workers.ts': 'a gauge for people; the alarm has the exact units',
    'server/src/swap/routing/pools/algebra-fee.ts': 'a fee of 16 bits, and an index among six powers',
    'server/src/swap/routing/route-breakdown.ts': 'shares in 128ths of a percent, for people',
    'server/src/swap/routing/pool-fee.ts': 'a fee in millionths, for display and for the depth of pools',
    'server/src/swap/routing/exact-paths.ts': 'the choice of pools to ask; their amounts are computed in bigint',
    'server/src/swap/routing/certificate.ts': 'amounts as float64, for an upper bound of what routes pay',
    'server/src/swap/routing/route.ts':
      'the amount that the search compares; the chosen route is computed again in bigint',
    'server/src/swap/routing/pools/balancer-stable.ts':
      'the float curve that the search compares; the chosen route is computed again in bigint',
    'server/src/swap/routing/pools/balancer-weighted.ts':
      'the float curve that the search compares; the chosen route is computed again in bigint',
    'server/src/swap/routing/pools/concentrated.ts':
      'the float curve that the search compares; the chosen route is computed again in bigint',
    'server/src/swap/routing/pools/curve-stable.ts':
      'the float curve that the search compares; the chosen route is computed again in bigint',
    'server/src/swap/routing/pools/liquidity-book.ts':
      'the float curve that the search compares; the chosen route is computed again in bigint',
    'server/src/swap/routing/pools/solidly.ts':
      'the float curve that the search compares; the chosen route is computed again in bigint',
    'server/src/swap/routing/pools/solana/raydium-cpmm.ts':
      'the float curve that the search compares; the chosen route is computed again in bigint',
    'server/src/swap/routing/pools/solana/raydium-amm-v4.ts':
      'the float curve that the search compares; the chosen route is computed again in bigint',
    'server/src/swap/routing/pools/solana/raydium-clmm.ts':
      'the float curve that the search compares; the chosen route is computed again in bigint',
    'server/src/swap/routing/pools/solana/meteora-dlmm.ts':
      'the float curve that the search compares; the chosen route is computed again in bigint',
    'server/src/swap/routing/pools/solana/meteora-damm-v2.ts':
      'the float curve that the search compares; the chosen route is computed again in bigint',
    'server/src/adapters/solana/dexes/meteora-damm-v2.ts': 'periods of a schedule, at most 2^16',
    'server/src/swap/routing/pools/solana/pump-swap.ts':
      'the float curve that the search compares; the chosen route is computed again in bigint',
    'server/src/swap/routing/pools/solana/solana-pool.ts':
      'the float curve that the search compares; the chosen route is computed again in bigint',
    'server/src/swap/routing/pools/uniswap-v2.ts':
      'the float curve that the search compares; the chosen route is computed again in bigint',
    'server/src/swap/routing/pools/sui/q64-curve.ts': 'a fee in millionths, for the float curve',
    'server/src/swap/routing/pools/sui/deepbook.ts':
      'the float curve that the search compares; the chosen route is computed again in bigint',
    'lib/src/pools/sui/q64-tick.ts': 'a first estimate of a tick; the exact prices decide',
    'server/src/swap/routing/pools/tick-math.ts': 'a first estimate of a tick; the exact prices decide',
    'server/src/core/domain/api-key.ts': 'a remainder of 62',
    'server/src/swap/quotes/aggregator-reliability.ts': 'a penalty in millionths',
    'server/src/exchange/settlement/steps/convert.ts': 'the ordinal of a repeated order',
    'server/src/app/start.ts': 'seconds since the start, for people',
    [`${chains}/bitcoin/cash-addr.ts`]: 'five bits of a checksum',
    [`${adapters}/swap-chain/decode-action.ts`]: 'seconds and millionths, checked before the conversion',
    [`${adapters}/swap-chain/token-facts.ts`]: 'decimals, at most 36',
    [`${chains}/evm/replies.ts`]: 'counts and nonces, checked to be safe integers',
    'sandbox/src/sui/deepbook-tree.ts': 'ids and sizes of the nodes of a tree',
    'sandbox/src/sui/sui-node.ts': 'the height of a checkpoint',
    [`${adapters}/sui/node.ts`]: 'heights, epochs and times, far below 2^53',
    [`${adapters}/sui/read-deepbook.ts`]: 'an epoch, and times in milliseconds',
    [`${adapters}/sui/read-swap.ts`]: 'a fee in millionths and an epoch',
    [`${adapters}/sui/track.ts`]: 'an epoch',
    [`${adapters}/dex/algebra.ts`]: 'fees of at most 24 bits',
    [`${adapters}/dex/algebra-fee.ts`]: 'seconds of 32 bits, fees of at most 24',
    [`${adapters}/dex/balancer-stable.ts`]: 'seconds, checked before the conversion',
    [`${adapters}/dex/decode-route.ts`]: 'bit fields of a route, of at most 24 bits',
    [`${adapters}/dex/curve.ts`]: 'the number of pools of a factory',
    [`${adapters}/dex/liquidity-book.ts`]: 'bins, seconds and periods of at most 40 bits',
    [`${adapters}/dex/dynamic-fee-v3.ts`]: 'fees in millionths',
    [`${adapters}/dex/slipstream-fee.ts`]: 'seconds of 32 bits, fees of at most 24',
    [`${adapters}/pools/depth.ts`]: 'an order of pools, in float64',
    [`${adapters}/dex/read-all.ts`]: 'decimals of a token',
    [`${adapters}/dex/solidly.ts`]: 'fees in millionths, under a million',
    [`${adapters}/dex/uniswap-v3.ts`]: 'ticks and spacings of 24 bits',
    [`${adapters}/dex/uniswap-v4.ts`]: 'fees of at most 24 bits',
    [`${adapters}/dex/abi-words.ts`]: 'offsets within a response',
    [`${adapters}/router/find-route.ts`]: 'the price of gas in the target, for the float search',
    [`${adapters}/router/middle-price.ts`]: 'mid prices, from which the price impact is computed',
    [`${postgres}/swap/pool-snapshots.ts`]: columns,
    [`${adapters}/signers/journal-segments.ts`]: 'the number of a file',
    [`${adapters}/explorer/node.ts`]: 'seconds since 1970, which Date takes as a number',
    [`${chains}/shared/account-transfer.ts`]: 'a nonce',
    [`${chains}/monero/base58.ts`]: 'a digit',
    [`${chains}/monero/scan.ts`]: 'a count of blocks, limited to the range of its column',
    [`${chains}/monero/byte-reader.ts`]: 'counts of at most 32 bits',
    [`${postgres}/exchange/record-transfers.ts`]: columns,
    [`${postgres}/exchange/steps.ts`]: columns,
    [`${postgres}/exchange/recovery.ts`]: columns,
    [`${postgres}/exchange/wallets.ts`]: columns,
    [`${postgres}/exchange/key-indexes.ts`]: columns,
    [`${postgres}/exchange/exchanges.ts`]: columns,
    [`${postgres}/exchange/poll-cache.ts`]: columns,
    [`${postgres}/exchange/payouts.ts`]: columns,
    [`${postgres}/swap/swap-fees.ts`]: columns,
    [`${postgres}/swap/swaps.ts`]: 'block heights, nonces and seconds: bigint columns, which pg returns as text',
    [`${postgres}/core/database.ts`]: columns,
    [`${postgres}/core/throttle.ts`]: columns,
    [`${postgres}/exchange/nonce-lanes.ts`]: columns,
    [`${postgres}/exchange/transactions.ts`]: columns,
    [`${postgres}/exchange/rows.ts`]: columns,
    'sandbox/src/bitcoin/core-arguments.ts': 'bitcoin amounts of a request in satoshi; bcoin takes numbers',
    'sandbox/src/evm/anvil.ts': 'a chain id',
    'sandbox/src/evm/evm-miner.ts': 'block numbers and counts of pending transactions',
    'sandbox/src/evm/txpool.ts': 'nonces',
    'sandbox/src/evm/deployments.ts': 'a nonce',
    'sandbox/src/monero/monero-chain.ts': 'heights and counts of monerod',
    'sandbox/src/solana/token-state.ts': 'uiAmount, which the RPC gives as a float beside the exact text',
    'sandbox/src/solana/solana-trader.ts': 'prices, by which the trader decides',
    'sandbox/src/solana/dexes/meteora-damm-v2.ts': 'prices, by which the trader decides',
    'sandbox/src/solana/dexes/raydium-amm-v4.ts': 'prices, by which the trader decides',
    'sandbox/src/solana/dexes/raydium-cpmm.ts': 'prices, by which the trader decides',
    'sandbox/src/solana/dexes/pump-swap.ts': 'prices, by which the trader decides',
    'sandbox/src/solana/dexes/raydium-clmm.ts':
      'prices, by which the trader decides, and the first liquidity of the sandbox',
    'sandbox/src/solana/dexes/meteora-dlmm.ts':
      'prices, by which the trader decides, and the first liquidity of the sandbox',
    'sandbox/src/log.ts': 'seconds since the start, for people',
    'sandbox/src/settings.ts': 'a process id',
  },
  environmentReaders: ['server/src/config/environment.ts', 'sandbox/src/settings.ts', 'sdk/src/cli/main.ts'],
}
