import Type from 'typebox'
import { moneroDefaults } from '../adapters/chains/monero/defaults.ts'
import { type NodeEndpoint, urlOf } from '../lib/node-endpoint.ts'
import { isLoopback } from './loopback.ts'
import { section, whole } from './schema.ts'

/** Monero's main chain adds a block every two minutes: it passes this height after some 370 years. */
const MONERO_HEIGHT_MAX = 100_000_000
/** Four transactions split their change into so many: Monero has at most 16 outputs in one. */
const MONERO_OUTPUTS_MAX = 64

/** Of the worker's own Monero wallet (docs/private-exchanges.md). */
export const moneroSchema = section({
  restoreHeight: whole(
    moneroDefaults.restoreHeight,
    [0, MONERO_HEIGHT_MAX],
    "Block height from which the worker's wallet scans: the height when the keystore was created. A scan of the main chain from 0 takes hours",
  ),
  outputsReady: whole(
    moneroDefaults.outputsReady,
    [1, MONERO_OUTPUTS_MAX],
    'Number of outputs that the hot wallet keeps. A payout locks its change for ten blocks; other payouts spend the remaining outputs meanwhile',
  ),
  acceptRemoteDaemons: Type.Boolean({
    default: false,
    description:
      "Accepts a first daemon on another machine, which the wallet trusts, and daemons there without HTTPS. Such a daemon, or anyone on the way to it, sees which outputs are asked for and can hide payments. Production refuses them otherwise: run monerod on the worker's machine, or reach it through a tunnel",
  }),
})

/** Monero's wallet trusts its daemon, the first one: no other machine may answer in its place. */
export function findRemoteDaemons(
  source: string,
  {
    networks,
    monero: { acceptRemoteDaemons },
  }: Readonly<{
    networks: ReadonlyMap<string, Readonly<{ rpcUrls: readonly NodeEndpoint[] }>>
    monero: Readonly<{ acceptRemoteDaemons: boolean }>
  }>,
): readonly string[] {
  if (acceptRemoteDaemons) return []
  return (networks.get('xmr')?.rpcUrls ?? []).flatMap((endpoint, n) => {
    const { hostname, protocol } = new URL(urlOf(endpoint))
    if (isLoopback(hostname) || (n > 0 && protocol === 'https:')) return []
    const problem = n === 0 ? 'the daemon that the wallet trusts is on another machine' : 'it is remote and not HTTPS'
    return [`${source}: networks.xmr.rpcUrls.${n}: ${problem}; accept this with monero.acceptRemoteDaemons`]
  })
}
