import type { Hex } from 'viem'
import type { Fleet } from './fleet.ts'

/** Checks that nonces start at 0, have no gap or reuse, and that the chain has used as many (I-26). */
export async function checkNonces({ database, cluster, chains }: Fleet): Promise<string[]> {
  const errors: string[] = []
  const lanes = await database.query<{ network: string; address: string; next: string }>(
    'select network, address, next from nonce_lanes',
  )
  for (const { network, address, next } of lanes) {
    if (chains.get(network)?.network.family !== 'evm') continue
    const rows = await database.query<{ nonce: string }>(
      "select split_part(conflict_key, ':', 2) as nonce from transactions where network = $1 and wallet = $2 and state <> 'expired' order by split_part(conflict_key, ':', 2)::bigint",
      [network, address],
    )
    const contiguous = rows.every(({ nonce }, n) => nonce === String(n)) && rows.length === Number(next)
    const used = Number(await cluster.call(network, 'eth_getTransactionCount', [address as Hex, 'latest']))
    const lane = `${rows.length} transactions, lane at ${next}, chain at ${used}`
    if (!contiguous) errors.push(`a gap in the nonces of ${address} on ${network}: ${lane}`)
    else if (used !== Number(next)) errors.push(`${network} has another number of nonces of ${address}: ${lane}`)
  }
  return errors
}
