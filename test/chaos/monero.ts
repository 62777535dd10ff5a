import { parseUnits } from 'viem'
import type { Json } from '../support/until.ts'
import type { Cluster } from './cluster.ts'
import type { Fleet } from './fleet.ts'
import { nodeEndpoint } from './node-endpoint.ts'

const DECIMALS = 12
/** Of an answer of `is_key_image_spent`: 0 = no, 1 = in a block, 2 = in the pool. */
const UNSPENT = 0

/** monerod has half of its methods beside JSON-RPC. */
async function post({ chains }: Cluster, path: string, body: unknown): Promise<Json> {
  const node = chains.networks.find(({ network }) => network === 'xmr')
  if (!node) throw new Error('there is no chain xmr')
  const { url, headers } = nodeEndpoint(node.rpcUrls[0] ?? '')
  const answer = await fetch(new URL(path, url), {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  })
  return answer.json()
}

/** Where the daemon has a transaction; null = nowhere. */
export async function moneroPlace(cluster: Cluster, hash: string): Promise<'block' | 'pool' | null> {
  const { txs } = await post(cluster, '/get_transactions', { txs_hashes: [hash], prune: true })
  return txs?.[0] === undefined ? null : txs[0].in_pool ? 'pool' : 'block'
}

/** What came to an address of the bank's wallet: nobody can see what others' received. */
export async function moneroReceived({ cluster }: Fleet, address: string): Promise<bigint> {
  const query = new URLSearchParams({ network: 'xmr', currency: 'xmr', address })
  const answer = await fetch(`${cluster.chains.controlUrl}/balance?${query}`)
  return parseUnits(((await answer.json()) as { amount: string }).amount, DECIMALS)
}

/** The coins that the app counts as its own, if the daemon has none of them as spent. */
export async function moneroHolds({ database, cluster }: Fleet): Promise<bigint> {
  const coins = await database.query<{ outpoint: string; units: string }>(
    `select c.outpoint, c.units from coins c left join deposits d on d.id = c.deposit_id
     where c.network = 'xmr' and c.block_height is not null and c.spent_by is null and (d.id is null or d.status = 'credited')`,
  )
  if (coins.length === 0) return 0n
  const { spent_status: states } = await post(cluster, '/is_key_image_spent', {
    key_images: coins.map(({ outpoint }) => outpoint),
  })
  return coins.reduce((sum, { units }, n) => (states[n] === UNSPENT ? sum + BigInt(units) : sum), 0n)
}
