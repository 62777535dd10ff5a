import { call, post } from '../../server/test/adapters/chains/monero/payer.ts'
import type { Json } from '../support/scenario.ts'

/** What a public Monero node shows of its payments. */
export type MoneroView = Readonly<{
  payments: number
  /** One-time keys of outputs: who they belong to is in nobody's sight. */
  outputs: readonly string[]
  /** Amounts that are not hidden; rewards of blocks are no payments. */
  shownAmounts: number
  /** The fewest outputs that an input may be spending. */
  leastRing: number
  /** Bytes that a payment carries beside its own one-time keys and an encrypted payment id. */
  contents: number
}>

const TRANSACTIONS_MAX = 100

export async function readMonero(after: number): Promise<MoneroView> {
  const { count }: Json = await call('get_block_count', {})
  const hashes: string[] = []
  for (let height = after + 1; height < count; height++) {
    const { json }: Json = await call('get_block', { height })
    hashes.push(...(JSON.parse(json).tx_hashes ?? []))
  }
  const payments: Json[] = []
  for (let n = 0; n < hashes.length; n += TRANSACTIONS_MAX) {
    const txs_hashes = hashes.slice(n, n + TRANSACTIONS_MAX)
    const { txs }: Json = await post('/get_transactions', { txs_hashes, decode_as_json: true })
    payments.push(...txs.map(({ as_json }: Json) => JSON.parse(as_json)))
  }
  const outputs = payments.flatMap(({ vout }) => vout)
  const rings = payments.flatMap(({ vin }) => vin.map((input: Json) => input.key.key_offsets.length))
  return {
    payments: payments.length,
    outputs: outputs.map(({ target }: Json) => target.tagged_key?.key ?? target.key),
    shownAmounts: outputs.filter(({ amount }: Json) => amount !== 0).length,
    leastRing: Math.min(...rings),
    contents: payments.reduce((sum, { extra, vout }) => sum + unknownBytes(extra, vout.length), 0),
  }
}

export async function moneroHeight(): Promise<number> {
  const { count }: Json = await call('get_block_count', {})
  return count - 1
}

const [KEY, KEY_BYTES] = [0x01, 32]
const [NONCE, ENCRYPTED_ID] = [0x02, 0x09]
const KEYS = 0x04

/** tx_extra: the transaction's key, one key an output where it pays subaddresses, and an id that only the recipient reads. */
function unknownBytes(extra: readonly number[], outputs: number): number {
  let at = 0
  while (at < extra.length) {
    if (extra[at] === KEY) at += 1 + KEY_BYTES
    else if (extra[at] === KEYS && extra[at + 1] === outputs) at += 2 + KEY_BYTES * outputs
    else if (extra[at] === NONCE && extra[at + 1] === ENCRYPTED_ID) at += 2 + ENCRYPTED_ID
    else break
  }
  return Math.max(extra.length - at, 0)
}
