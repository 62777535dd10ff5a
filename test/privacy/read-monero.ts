import { call, post } from '../../server/test/adapters/chains/monero/payer.ts'
import type { Json } from '../support/scenario.ts'

/** What a public Monero node shows about payments. */
export type MoneroView = Readonly<{
  payments: number
  /** One-time keys of the outputs. They do not show the owner. */
  outputs: readonly string[]
  /** Count of amounts in plain text. Block rewards are no payments. */
  plainAmounts: number
  /** Smallest ring: the number of outputs that an input may spend. */
  minRing: number
  /** Bytes in `tx_extra` in addition to one-time keys and an encrypted payment id. */
  extraBytes: number
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
    plainAmounts: outputs.filter(({ amount }: Json) => amount !== 0).length,
    minRing: Math.min(...rings),
    extraBytes: payments.reduce((sum, { extra, vout }) => sum + countUnknownBytes(extra, vout.length), 0),
  }
}

export async function readMoneroHeight(): Promise<number> {
  const { count }: Json = await call('get_block_count', {})
  return count - 1
}

const [PUBLIC_KEY, KEY_BYTES] = [0x01, 32]
const [NONCE, ENCRYPTED_ID] = [0x02, 0x09]
const ADDITIONAL_KEYS = 0x04

/** Known fields of tx_extra: the transaction's key, one key for each output to a subaddress, and the encrypted payment id. */
function countUnknownBytes(extra: readonly number[], outputs: number): number {
  let at = 0
  while (at < extra.length) {
    if (extra[at] === PUBLIC_KEY) at += 1 + KEY_BYTES
    else if (extra[at] === ADDITIONAL_KEYS && extra[at + 1] === outputs) at += 2 + KEY_BYTES * outputs
    else if (extra[at] === NONCE && extra[at + 1] === ENCRYPTED_ID) at += 2 + ENCRYPTED_ID
    else break
  }
  return Math.max(extra.length - at, 0)
}
