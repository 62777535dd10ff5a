import { parseUnits } from 'viem'
import { readMoneroOutputs } from '../support/monero-wallet.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import type { Json } from '../support/until.ts'
import { readHighestIndex } from '../support/utxo-wallets.ts'
import type { Cluster } from './cluster.ts'
import type { Fleet } from './fleet.ts'
import { nodeEndpoint } from './node-endpoint.ts'

const DECIMALS = 12

/** Calls a method of monerod that is not part of its JSON-RPC. */
async function post({ chains }: Cluster, path: string, body: unknown): Promise<Json> {
  const node = chains.networks.find(({ network }) => network === 'xmr')
  if (!node) throw new Error('the cluster has no chain xmr')
  const { url, headers } = nodeEndpoint(node.rpcUrls[0] ?? '')
  const answer = await fetch(new URL(path, url), {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  return answer.json()
}

/** Where monerod has a transaction; null = nowhere. */
export async function locateMoneroTransaction(cluster: Cluster, hash: string): Promise<'block' | 'pool' | null> {
  const { txs } = await post(cluster, '/get_transactions', { txs_hashes: [hash], prune: true })
  return txs?.[0] === undefined ? null : txs[0].in_pool ? 'pool' : 'block'
}

/** Height of the block that includes a transaction; null = it is in none. */
export async function findMoneroHeight(cluster: Cluster, hash: string): Promise<number | null> {
  const { txs } = await post(cluster, '/get_transactions', { txs_hashes: [hash], prune: true })
  return txs?.[0] === undefined || txs[0].in_pool ? null : Number(txs[0].block_height)
}

/** The header of the block at a height; null = of the newest block. */
export async function readMoneroHeader(
  cluster: Cluster,
  height: number | null,
): Promise<Readonly<{ height: number; hash: string }>> {
  const request =
    height === null ? { method: 'get_last_block_header' } : { method: 'get_block_header_by_height', params: { height } }
  return (await post(cluster, '/json_rpc', { jsonrpc: '2.0', id: '0', ...request })).result.block_header
}

/** The amount that an address of the bank's wallet received. Amounts of other wallets are not visible. */
export async function readMoneroReceived({ cluster }: Fleet, address: string): Promise<bigint> {
  const query = new URLSearchParams({ network: 'xmr', currency: 'xmr', address })
  const answer = await fetch(`${cluster.chains.controlUrl}/balance?${query}`)
  return parseUnits(((await answer.json()) as { amount: string }).amount, DECIMALS)
}

/** The outputs in the app's wallet, as a wallet program that is restored from its keys finds them on the daemon. */
export async function readWalletOutputs({ cluster, database, moneroKeys }: Fleet) {
  const node = cluster.chains.networks.find(({ network }) => network === 'xmr')
  if (!node || !moneroKeys) throw new Error('the fleet has no wallet of xmr')
  const highestIndex = await readHighestIndex(database, 'xmr')
  return readMoneroOutputs({
    viewKeys: moneroKeys.view,
    seedKey: moneroKeys.seed,
    daemonUrl: node.rpcUrls[0] ?? '',
    highestIndex,
    restoreHeight: 0,
  })
}
