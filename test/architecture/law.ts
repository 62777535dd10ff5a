import type { Law, Place } from './rules.ts'

const floors: Readonly<Record<string, number>> = {
  lib: 0,
  domain: 1,
  ports: 2,
  services: 3,
  adapters: 3,
  api: 4,
  pages: 4,
  workers: 4,
  cli: 5,
}
const serverMain = 'server/src/main.ts'

/** ARCHITECTURE.md draws it. `server/src/*.ts` but main.ts, and the command line, are one room: the program. */
function placeOf(path: string): Place | null {
  const [workspace, top, first = '', second = ''] = path.split('/')
  if (workspace === 'schema' || workspace === 'sandbox') return { floor: 0, room: workspace }
  if (workspace !== 'server') return null
  if (top === 'networks' || top === 'currencies' || top === 'dexes') return { floor: 2, room: top }
  if (top !== 'src') return null
  if (path === serverMain) return { floor: 6, room: 'main' }
  if (first.endsWith('.ts') || first === 'cli') return { floor: 5, room: 'program' }
  const floor = floors[first]
  return floor === undefined ? null : { floor, room: first === 'adapters' ? `adapters/${second}` : first }
}

const adapters = 'server/src/adapters'
const postgres = `${adapters}/postgres`
const columns = 'block heights, key indexes and counts: bigint columns, which pg gives as text'

export const law: Law = {
  placeOf,
  homes: {
    '@fastify/under-pressure': ['server/src/api'],
    '@lifi/data-types': [`${adapters}/tokens`],
    '@noble/curves': [`${adapters}/evm`, `${adapters}/memory`, `${adapters}/signers`, 'server/src/lib'],
    '@noble/hashes': ['server/src/lib'],
    '@scure/base': [`${adapters}/bitcoin`],
    '@scure/bip32': [`${adapters}/signers`],
    '@scure/bip39': [`${adapters}/signers`],
    '@scure/btc-signer': [`${adapters}/bitcoin`, 'sandbox/src/bitcoin'],
    '@swapyard/contracts': [`${adapters}/evm/dex`, `${adapters}/evm/swap`, 'sandbox/src/evm'],
    '@swapyard/schema': ['server/src/api'],
    commander: ['server/src/cli'],
    fastify: ['server/src/api', 'server/src/pages', 'sandbox/src/control-server.ts'],
    'graphile-worker': [`${adapters}/postgres`],
    'ipaddr.js': ['server/src/lib'],
    'p-retry': ['server/src/lib'],
    pg: [`${adapters}/postgres`],
    pino: ['server/src/lib'],
    'prom-client': ['server/src/lib'],
    typebox: [
      'schema/src',
      'server/src/api',
      'server/src/config.ts',
      'server/src/config-file.ts',
      'server/src/config-monero.ts',
      'server/src/config-privacy.ts',
      'server/src/config-swaps.ts',
      'server/src/config-text.ts',
    ],
    undici: ['server/src/lib'],
    viem: [`${adapters}/evm`, 'sandbox/src/evm', 'sandbox/src/keys.ts'],
  },
  linesMax: 400,
  functionLinesMax: 70,
  isData: (path) => /^server\/(networks|currencies|dexes)\//.test(path),
  bannedWords: [
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
    'server/src/api/present.ts': "the rate quote's numbers, which the spec wants: exact by construction",
    'server/src/cli/lab-commands.ts': 'the place of a pool in a case',
    'server/src/cli/print.ts': 'a whole number of the command line',
    'server/src/compose-workers.ts': 'a gauge that is looked at; the exact units stand in the alarm',
    'server/src/config.ts': 'whole numbers of the settings, of fifteen digits at most',
    'server/src/domain/swap/pools/algebra-fee.ts': 'a fee of 16 bits, and a place among six powers',
    'server/src/domain/swap/breakdown.ts': 'shares in hundredths of a percent, for people',
    'server/src/domain/swap/pool-fee.ts': 'a fee in millionths, for display',
    'server/src/domain/swap/exact-paths.ts': 'which pools are worth asking; what they pay is computed in bigint',
    'server/src/domain/swap/route.ts': 'the amount that the search compares; what it chose is computed again in bigint',
    'server/src/domain/swap/pools/balancer-stable.ts':
      'the float curve that the search compares; what it chose is computed again in bigint',
    'server/src/domain/swap/pools/balancer-weighted.ts':
      'the float curve that the search compares; what it chose is computed again in bigint',
    'server/src/domain/swap/pools/concentrated.ts':
      'the float curve that the search compares; what it chose is computed again in bigint',
    'server/src/domain/swap/pools/curve-stable.ts':
      'the float curve that the search compares; what it chose is computed again in bigint',
    'server/src/domain/swap/pools/liquidity-book.ts':
      'the float curve that the search compares; what it chose is computed again in bigint',
    'server/src/domain/swap/pools/solidly.ts':
      'the float curve that the search compares; what it chose is computed again in bigint',
    'server/src/domain/swap/pools/uniswap-v2.ts':
      'the float curve that the search compares; what it chose is computed again in bigint',
    'server/src/domain/swap/pools/tick-math.ts': 'a first guess of a tick; the exact prices decide',
    'server/src/domain/api-key.ts': 'a remainder of 62',
    'server/src/services/outside-promises.ts': 'a penalty in millionths, of the size of a percentage',
    'server/src/services/steps/convert.ts': 'the ordinal of a repeated order',
    'server/src/start.ts': 'seconds since the start, for people',
    [`${adapters}/bitcoin/cash-addr.ts`]: 'five bits of a checksum',
    [`${adapters}/evm/observe.ts`]: 'a nonce',
    [`${adapters}/evm/swap/act.ts`]: 'seconds and millionths, looked at before',
    [`${adapters}/evm/swap/token-facts.ts`]: 'decimals, 36 at most',
    [`${adapters}/evm/replies.ts`]: 'counts and nonces, checked to be safe integers',
    [`${adapters}/evm/dex/algebra.ts`]: 'fees of at most 24 bits',
    [`${adapters}/evm/dex/algebra-fee.ts`]: 'seconds of 32 bits, fees of at most 24',
    [`${adapters}/evm/dex/balancer-stable.ts`]: 'seconds, looked at before',
    [`${adapters}/evm/dex/curve.ts`]: 'how many pools a factory has',
    [`${adapters}/evm/dex/liquidity-book.ts`]: 'bins, seconds and periods of at most 40 bits',
    [`${adapters}/evm/dex/moving-v3.ts`]: 'fees in millionths',
    [`${adapters}/evm/dex/slipstream-fee.ts`]: 'seconds of 32 bits, fees of at most 24',
    [`${adapters}/evm/dex/rank.ts`]: 'an order of pools, in float64',
    [`${adapters}/evm/dex/read-all.ts`]: 'decimals of a token',
    [`${adapters}/evm/dex/solidly.ts`]: 'fees in millionths, under a million',
    [`${adapters}/evm/dex/uniswap-v3.ts`]: 'ticks and spacings of 24 bits',
    [`${adapters}/evm/dex/uniswap-v4.ts`]: 'fees of at most 24 bits',
    [`${adapters}/evm/dex/words.ts`]: 'places within an answer',
    [`${adapters}/router/find-route.ts`]: 'the price of gas in the target, for the float search',
    [`${adapters}/router/middle-price.ts`]: 'middle prices, of which a price impact is told',
    [`${postgres}/pools.ts`]: columns,
    [`${adapters}/explorer/node.ts`]: 'seconds since 1970, which a date wants as a number',
    [`${adapters}/memory/sender.ts`]: 'a nonce',
    [`${adapters}/monero/base58.ts`]: 'a digit',
    [`${adapters}/monero/scan.ts`]: 'a count of blocks, cut to what its column holds',
    [`${adapters}/monero/transaction.ts`]: 'counts of at most 32 bits',
    [`${postgres}/append-block.ts`]: columns,
    [`${postgres}/audit.ts`]: columns,
    [`${postgres}/cases.ts`]: columns,
    [`${postgres}/chain-log.ts`]: columns,
    [`${postgres}/recovery.ts`]: columns,
    [`${postgres}/custody.ts`]: columns,
    [`${postgres}/exchanges.ts`]: columns,
    [`${postgres}/find-exchange.ts`]: columns,
    [`${postgres}/payouts.ts`]: columns,
    [`${postgres}/rows.ts`]: columns,
    [`${postgres}/swap-fees.ts`]: columns,
    [`${postgres}/swaps.ts`]: 'block heights, nonces and seconds: bigint columns, which pg gives as text',
    [`${postgres}/throttle.ts`]: columns,
    [`${postgres}/transactions.ts`]: columns,
    'sandbox/src/bitcoin/core-arguments.ts': "bitcoin amounts of a request, in satoshi: bcoin's own are numbers",
    'sandbox/src/evm/anvil.ts': 'a chain id',
    'sandbox/src/evm/evm-miner.ts': 'block numbers, and how many transactions wait',
    'sandbox/src/evm/txpool.ts': 'nonces',
    'sandbox/src/evm/deployments.ts': 'a nonce',
    'sandbox/src/monero/monero-chain.ts': 'heights and counts of monerod',
    'sandbox/src/log.ts': 'seconds since the start, for people',
    'sandbox/src/settings.ts': 'a process id',
  },
  environmentReaders: ['server/src/config.ts', 'sandbox/src/settings.ts'],
}
