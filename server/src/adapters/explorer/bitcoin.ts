import { parseUnits } from '../../core/domain/amount.ts'
import type { Asset } from '../../core/domain/asset.ts'
import type {
  AddressFacts,
  AddressTransfer,
  AssetAmount,
  ChainExplorer,
  TransactionFacts,
} from '../../exchange/ports/explorer.ts'
import {
  type ExplorerOptions,
  type Fields,
  fieldsOf,
  listOf,
  type Node,
  NodeError,
  nativeOf,
  textOf,
  timeOf,
} from './node.ts'

/** Number of latest blocks that are searched for transfers: a node has no index by address. */
const BLOCKS = 100
const PAGE = 25
/** Inputs whose spent outputs are looked up; the others are shown without an amount. */
const INPUTS_MAX = 50
const MEMPOOL_MAX = 200
/** A node runs one scan of the UTXO set at a time. */
const SCAN_TRIES = 25
const SCAN_PAUSE_MS = 100
/** Bitcoin Core: "Scan already in progress". */
const SCAN_IN_PROGRESS = -8
/** Bitcoin Core: no such transaction. */
const NO_SUCH_TRANSACTION = -5

type Context = ExplorerOptions & Readonly<{ native: Asset }>

const heightOf = (value: unknown): bigint => (typeof value === 'number' ? BigInt(value) : 0n)
const indexOf = (value: unknown): number => (typeof value === 'number' ? value : 0)

export function createBitcoinExplorer(options: ExplorerOptions): ChainExplorer {
  const { network, node, assets } = options
  const context = { ...options, native: nativeOf(network, assets) }
  return {
    network,
    head: async () => {
      const hash = await node.call('getbestblockhash')
      const header = fieldsOf(await node.call('getblockheader', hash))
      return { height: heightOf(header['height']), hash: textOf(hash) ?? '', at: timeOf(heightOf(header['time'])) }
    },
    address: (text) => readAddress(context, text),
    transaction: async (hash) => (/^[0-9a-fA-F]{64}$/.test(hash) ? readTransaction(context, hash.toLowerCase()) : null),
    close: node.close,
  }
}

function toAmount({ native }: Context, value: unknown): AssetAmount {
  return { units: parseUnits(String(value), native), asset: native, contract: null }
}

type Output = Readonly<{ index: number; address: string | null; kind: string; amount: AssetAmount }>

function toOutput(context: Context, value: unknown): Output {
  const { n, value: amount, scriptPubKey } = fieldsOf(value)
  const script = fieldsOf(scriptPubKey)
  // Litecoin Core 0.21 returns a list.
  const address = textOf(script['address']) ?? textOf(listOf(script['addresses'])[0])
  return { index: indexOf(n), address, kind: textOf(script['type']) ?? 'unknown', amount: toAmount(context, amount) }
}

const outpointsSpentBy = (tx: Fields): { hash: string; index: number }[] =>
  listOf(tx['vin']).flatMap((input) => {
    const { txid, vout } = fieldsOf(input)
    return typeof txid === 'string' ? [{ hash: txid, index: indexOf(vout) }] : []
  })

/** `height`: null in the mempool. */
type TransactionAtHeight = Readonly<{ tx: Fields; height: bigint | null }>

async function readAddress(context: Context, text: string): Promise<AddressFacts | null> {
  const address = context.parse(text)
  if (address === null) return null
  const [unspent, pending, mined] = await Promise.all([
    scan(context, address),
    readMempool(context.node),
    readLatest(context.node),
  ])
  const outputs = new Map<string, bigint>(unspent)
  const transfers = [...mined, ...pending].flatMap((transaction) => toTransfers(context, address, transaction, outputs))
  const spentInMempool = new Set(
    pending.flatMap(({ tx }) => outpointsSpentBy(tx).map(({ hash, index }) => `${hash}:${index}`)),
  )
  const balance = pending.reduce((all, { tx }) => {
    for (const [outpoint, units] of findOutputs(context, address, tx)) all.set(outpoint, units)
    return all
  }, new Map(unspent))
  const units = [...balance].reduce((sum, [outpoint, value]) => (spentInMempool.has(outpoint) ? sum : sum + value), 0n)
  return {
    address,
    balances: [{ units, asset: context.native, contract: null }],
    transfers: transfers.reverse().slice(0, PAGE),
    blocks: BLOCKS,
    sentCount: null,
  }
}

/** Outputs of a transaction at an address, by outpoint. */
function findOutputs(context: Context, address: string, tx: Fields): [string, bigint][] {
  return listOf(tx['vout']).flatMap((one): [string, bigint][] => {
    const output = toOutput(context, one)
    return output.address === address ? [[`${textOf(tx['txid']) ?? ''}:${output.index}`, output.amount.units]] : []
  })
}

/** Expects transactions oldest first, so that an output is in `outputs` before it is spent, unless it is older than all blocks. */
function toTransfers(
  context: Context,
  address: string,
  { tx, height }: TransactionAtHeight,
  outputs: Map<string, bigint>,
): AddressTransfer[] {
  const add = (all: readonly (readonly [string, bigint])[]) => all.reduce((sum, [, units]) => sum + units, 0n)
  const incoming = findOutputs(context, address, tx)
  for (const [outpoint, units] of incoming) outputs.set(outpoint, units)
  const outgoing = outpointsSpentBy(tx).flatMap(({ hash, index }): [string, bigint][] => {
    const units = outputs.get(`${hash}:${index}`)
    return units === undefined ? [] : [[hash, units]]
  })
  const net = add(incoming) - add(outgoing)
  if (incoming.length === 0 && outgoing.length === 0) return []
  const amount = { units: net < 0n ? -net : net, asset: context.native, contract: null }
  return [{ hash: textOf(tx['txid']) ?? '', height, direction: net < 0n ? 'out' : 'in', counterparty: null, amount }]
}

/** Unspent outputs in blocks, by outpoint. */
async function scan(context: Context, address: string): Promise<[string, bigint][]> {
  for (let left = SCAN_TRIES; ; left--) {
    try {
      const result = fieldsOf(await context.node.call('scantxoutset', 'start', [`addr(${address})`]))
      return listOf(result['unspents']).map((one) => {
        const { txid, vout, amount } = fieldsOf(one)
        return [`${textOf(txid) ?? ''}:${indexOf(vout)}`, toAmount(context, amount).units]
      })
    } catch (error) {
      if (!(error instanceof NodeError) || error.code !== SCAN_IN_PROGRESS || left === 0) throw error
      await new Promise((resolve) => setTimeout(resolve, SCAN_PAUSE_MS))
    }
  }
}

async function readMempool(node: Node): Promise<TransactionAtHeight[]> {
  const ids = listOf(await node.call('getrawmempool')).slice(0, MEMPOOL_MAX)
  // A call fails if the transaction was mined or replaced after the first call.
  const results = await Promise.allSettled(ids.map((id) => node.call('getrawtransaction', id, true)))
  return results.flatMap((one) => (one.status === 'fulfilled' ? [{ tx: fieldsOf(one.value), height: null }] : []))
}

/** The transactions of the latest blocks, oldest first. */
async function readLatest(node: Node): Promise<TransactionAtHeight[]> {
  const top = indexOf(await node.call('getblockcount'))
  const heights = Array.from({ length: Math.min(BLOCKS, top) }, (_, back) => top - back).reverse()
  const blocks = await Promise.all(
    heights.map(async (height) => fieldsOf(await node.call('getblock', await node.call('getblockhash', height), 2))),
  )
  return blocks.flatMap((block) =>
    listOf(block['tx']).map((tx) => ({ tx: fieldsOf(tx), height: heightOf(block['height']) })),
  )
}

async function orNull(answer: Promise<unknown>): Promise<Fields | null> {
  try {
    return fieldsOf(await answer)
  } catch (error) {
    if (error instanceof NodeError && error.code === NO_SUCH_TRANSACTION) return null
    throw error
  }
}

async function readTransaction(context: Context, hash: string): Promise<TransactionFacts | null> {
  const { node } = context
  const tx = await orNull(node.call('getrawtransaction', hash, true))
  if (tx === null) return null
  const blockHash = textOf(tx['blockhash'])
  const header = blockHash === null ? null : fieldsOf(await node.call('getblockheader', blockHash))
  const isMined = header !== null && indexOf(header['confirmations']) > 0
  const isPending = isMined || (await orNull(node.call('getmempoolentry', hash))) !== null
  const outputs = listOf(tx['vout']).map((one) => toOutput(context, one))
  const inputs = await readInputs(context, tx)
  const paid = inputs.reduce<bigint | null>(
    (sum, one) => (sum === null || !one.amount ? null : sum + one.amount.units),
    0n,
  )
  const sent = outputs.reduce((sum, one) => sum + one.amount.units, 0n)
  return {
    hash,
    status: isMined ? 'confirmed' : isPending ? 'waiting' : 'dropped',
    block:
      isMined && blockHash !== null
        ? {
            height: heightOf(header['height']),
            hash: blockHash,
            at: timeOf(heightOf(header['time'])),
            confirmations: heightOf(header['confirmations']),
          }
        : null,
    fee: paid === null || paid < sent ? null : { units: paid - sent, asset: context.native, contract: null },
    call: null,
    transfers: [],
    inputs,
    outputs,
  }
}

async function readInputs(context: Context, tx: Fields): Promise<TransactionFacts['inputs']> {
  return Promise.all(
    listOf(tx['vin']).map(async (input, at) => {
      const [spends = null] = outpointsSpentBy({ vin: [input] })
      if (spends === null || at >= INPUTS_MAX) return { spends, address: null, amount: null }
      const from = await orNull(context.node.call('getrawtransaction', spends.hash, true))
      const output = listOf(from?.['vout']).map((one) => toOutput(context, one))[spends.index]
      return { spends, address: output?.address ?? null, amount: output?.amount ?? null }
    }),
  )
}
