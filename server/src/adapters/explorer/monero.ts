import { parseExact } from '@swapyard/lib/json-rpc.ts'
import type { Asset } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import type { AssetAmount, ChainExplorer, TransactionFacts } from '../../exchange/ports/explorer.ts'
import { createHttp } from '../../lib/http.ts'
import { type ExplorerOptions, type Fields, fieldsOf, listOf, nativeOf, textOf, timeOf } from './node.ts'

type MoneroExplorerOptions = Omit<ExplorerOptions, 'node'> & Readonly<{ url: string }>

/** Maximum wait of a page for one call. */
const TIMEOUT_MS = 5_000
const REPLY_BYTES_MAX = 4 * 1024 * 1024

/** Posts to a path of the node. Throws NETWORK_UNAVAILABLE if it does not answer. */
type Call = (path: string, body: Fields) => Promise<Fields>
type Context = Readonly<{ call: Call; native: Asset }>

const whole = (value: unknown): bigint => (/^\d{1,20}$/.test(String(value)) ? BigInt(String(value)) : 0n)

export function createMoneroExplorer({ network, url, assets, parse }: MoneroExplorerOptions): ChainExplorer {
  const http = createHttp()
  const origin = url.replace(/\/+$/, '')
  const call: Call = async (path, body) => {
    const answer = await http.call({
      url: `${origin}${path}`,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      timeoutMs: TIMEOUT_MS,
      replyBytesMax: REPLY_BYTES_MAX,
    })
    if (answer.kind === 'answer' && answer.status === 200) return fieldsOf(parseExact(answer.body.toString('utf8')))
    const reason = answer.kind === 'answer' ? `status ${answer.status}` : answer.reason
    throw new AppError('NETWORK_UNAVAILABLE', `the node of ${network.name} does not answer`, {
      cause: new Error(reason),
    })
  }
  const context = { call, native: nativeOf(network, assets) }
  return {
    network,
    head: async () => {
      const { height, hash, timestamp } = await headerOf(call, 'get_last_block_header', {})
      return { height: whole(height), hash: textOf(hash) ?? '', at: timeOf(whole(timestamp)) }
    },
    address: async (text) => {
      const address = parse(text)
      return address === null
        ? null
        : { address, balances: [], transfers: [], blocks: null, sentCount: null, hidden: true as const }
    },
    transaction: async (hash) => (/^[0-9a-fA-F]{64}$/.test(hash) ? readTransaction(context, hash.toLowerCase()) : null),
    close: () => http.close(),
  }
}

async function headerOf(call: Call, method: string, params: Fields): Promise<Fields> {
  const reply = await call('/json_rpc', { jsonrpc: '2.0', id: '0', method, params })
  return fieldsOf(fieldsOf(reply['result'])['block_header'])
}

async function readTransaction({ call, native }: Context, hash: string): Promise<TransactionFacts | null> {
  const reply = await call('/get_transactions', { txs_hashes: [hash], decode_as_json: true, prune: true })
  const [tx] = listOf(reply['txs']).map(fieldsOf)
  if (tx === undefined) return null
  const isPending = tx['in_pool'] === true
  const block = isPending ? null : await readBlock(call, tx['block_height'])
  const content = fieldsOf(parseExact(textOf(tx['as_json']) ?? ''))
  const fee = fieldsOf(content['rct_signatures'])['txnFee']
  const inputs = listOf(content['vin']).flatMap((input) => {
    const { k_image: keyImage, key_offsets: ring } = fieldsOf(fieldsOf(input)['key'])
    return typeof keyImage === 'string' ? [{ keyImage, ring: listOf(ring).length }] : []
  })
  const outputs = listOf(content['vout']).map((output) => {
    const { amount, target } = fieldsOf(output)
    const { key, tagged_key: tagged } = fieldsOf(target)
    // Only coinbase outputs have a public amount.
    const units = whole(amount) === 0n ? null : toSum(native, whole(amount))
    return { key: textOf(key) ?? textOf(fieldsOf(tagged)['key']) ?? '', amount: units }
  })
  return {
    hash,
    status: isPending ? 'waiting' : 'confirmed',
    block,
    fee: fee === undefined ? null : toSum(native, whole(fee)),
    call: null,
    transfers: [],
    inputs: [],
    outputs: [],
    hidden: { inputs, outputs, lockedUntil: lockOf(whole(content['unlock_time'])) },
  }
}

const toSum = (asset: Asset, units: bigint): AssetAmount => ({ units, asset, contract: null })

/** A lock below this is a block height, above it a time in seconds (CRYPTONOTE_MAX_BLOCK_NUMBER). */
const LOCK_HEIGHT_MAX = 500_000_000n
/** The largest time in seconds that a JavaScript date can hold. */
const SECONDS_MAX = 8_640_000_000_000n

function lockOf(unlockTime: bigint): bigint | Date | null {
  if (unlockTime < LOCK_HEIGHT_MAX) return unlockTime === 0n ? null : unlockTime
  return timeOf(unlockTime < SECONDS_MAX ? unlockTime : SECONDS_MAX)
}

async function readBlock(call: Call, height: unknown): Promise<TransactionFacts['block']> {
  const header = await headerOf(call, 'get_block_header_by_height', { height })
  return {
    height: whole(height),
    hash: textOf(header['hash']) ?? '',
    at: timeOf(whole(header['timestamp'])),
    confirmations: whole(header['depth']) + 1n,
  }
}
