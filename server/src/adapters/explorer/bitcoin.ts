import { parseUnits } from '../../core/domain/amount.ts'
import type { Asset } from '../../core/domain/asset.ts'
import type {
  AddressFacts,
  AddressTransfer,
  AssetAmount,
  ChainExplorer,
  TransactionFacts,
} from '../../exchange/ports/explorer.ts'
import { present } from '../../lib/assert.ts'
import type { ExplorerOptions } from './evm.ts'
import { type Fields, fieldsOf, listOf, type Node, NodeError, textOf, timeOf } from './node.ts'

/** Movements are looked for in this many of the latest blocks: a node keeps no index by address. */
const BLOCKS = 100
const PAGE = 25
/** Inputs whose coins are looked up; the others stand there without an amount. */
const INPUTS_MAX = 50
const MEMPOOL_MAX = 200
/** A node scans its outputs for one caller at a time. */
const SCAN_TRIES = 25
const SCAN_PAUSE_MS = 100
/** Bitcoin Core: "Scan already in progress". */
const BUSY = -8
/** Bitcoin Core: no such transaction. */
const UNKNOWN = -5

type Reading = ExplorerOptions & Readonly<{ coin: Asset }>

const heightOf = (value: unknown): bigint => (typeof value === 'number' ? BigInt(value) : 0n)
const indexOf = (value: unknown): number => (typeof value === 'number' ? value : 0)

export function createBitcoinExplorer(options: ExplorerOptions): ChainExplorer {
  const { network, node, assets } = options
  const reading = { ...options, coin: present(assets[0], `the coin of ${network.id}`) }
  return {
    network,
    head: async () => {
      const hash = await node.ask('getbestblockhash')
      const header = fieldsOf(await node.ask('getblockheader', hash))
      return { height: heightOf(header['height']), hash: textOf(hash) ?? '', at: timeOf(heightOf(header['time'])) }
    },
    address: (text) => readAddress(reading, text),
    transaction: async (hash) => (/^[0-9a-fA-F]{64}$/.test(hash) ? readTransaction(reading, hash.toLowerCase()) : null),
    close: node.close,
  }
}

function toSum({ coin }: Reading, value: unknown): AssetAmount {
  return { units: parseUnits(String(value), coin), asset: coin, contract: null }
}

type Output = Readonly<{ index: number; address: string | null; kind: string; amount: AssetAmount }>

function toOutput(reading: Reading, value: unknown): Output {
  const { n, value: amount, scriptPubKey } = fieldsOf(value)
  const script = fieldsOf(scriptPubKey)
  // Litecoin Core 0.21 gives a list.
  const address = textOf(script['address']) ?? textOf(listOf(script['addresses'])[0])
  return { index: indexOf(n), address, kind: textOf(script['type']) ?? 'unknown', amount: toSum(reading, amount) }
}

const spentBy = (tx: Fields): { hash: string; index: number }[] =>
  listOf(tx['vin']).flatMap((input) => {
    const { txid, vout } = fieldsOf(input)
    return typeof txid === 'string' ? [{ hash: txid, index: indexOf(vout) }] : []
  })

type Found = Readonly<{ tx: Fields; height: bigint | null }>

async function readAddress(reading: Reading, text: string): Promise<AddressFacts | null> {
  const address = reading.parse(text)
  if (address === null) return null
  const [unspent, waiting, mined] = await Promise.all([
    scan(reading, address),
    readMempool(reading.node),
    readLatest(reading.node),
  ])
  const known = new Map<string, bigint>(unspent)
  const movements = [...mined, ...waiting].flatMap((found) => toMovements(reading, address, found, known))
  const gone = new Set(waiting.flatMap(({ tx }) => spentBy(tx).map(({ hash, index }) => `${hash}:${index}`)))
  const held = waiting.reduce((all, { tx }) => {
    for (const [outpoint, units] of received(reading, address, tx)) all.set(outpoint, units)
    return all
  }, new Map(unspent))
  const units = [...held].reduce((sum, [outpoint, value]) => (gone.has(outpoint) ? sum : sum + value), 0n)
  return {
    address,
    balances: [{ units, asset: reading.coin, contract: null }],
    transfers: movements.reverse().slice(0, PAGE),
    blocks: BLOCKS,
    sentCount: null,
  }
}

/** Outputs of a transaction at an address, by outpoint. */
function received(reading: Reading, address: string, tx: Fields): [string, bigint][] {
  return listOf(tx['vout']).flatMap((one): [string, bigint][] => {
    const output = toOutput(reading, one)
    return output.address === address ? [[`${textOf(tx['txid']) ?? ''}:${output.index}`, output.amount.units]] : []
  })
}

/** Blocks come oldest first: what is spent was seen before, unless it is older than all of them. */
function toMovements(
  reading: Reading,
  address: string,
  { tx, height }: Found,
  known: Map<string, bigint>,
): AddressTransfer[] {
  const add = (all: readonly (readonly [string, bigint])[]) => all.reduce((sum, [, units]) => sum + units, 0n)
  const incoming = received(reading, address, tx)
  for (const [outpoint, units] of incoming) known.set(outpoint, units)
  const outgoing = spentBy(tx).flatMap(({ hash, index }): [string, bigint][] => {
    const units = known.get(`${hash}:${index}`)
    return units === undefined ? [] : [[hash, units]]
  })
  const net = add(incoming) - add(outgoing)
  if (incoming.length === 0 && outgoing.length === 0) return []
  const sum = { units: net < 0n ? -net : net, asset: reading.coin, contract: null }
  return [
    { hash: textOf(tx['txid']) ?? '', height, direction: net < 0n ? 'out' : 'in', counterparty: null, amount: sum },
  ]
}

/** Unspent outputs in blocks, by outpoint. */
async function scan(reading: Reading, address: string): Promise<[string, bigint][]> {
  for (let left = SCAN_TRIES; ; left--) {
    try {
      const found = fieldsOf(await reading.node.ask('scantxoutset', 'start', [`addr(${address})`]))
      return listOf(found['unspents']).map((one) => {
        const { txid, vout, amount } = fieldsOf(one)
        return [`${textOf(txid) ?? ''}:${indexOf(vout)}`, toSum(reading, amount).units]
      })
    } catch (error) {
      if (!(error instanceof NodeError) || error.code !== BUSY || left === 0) throw error
      await new Promise((resolve) => setTimeout(resolve, SCAN_PAUSE_MS))
    }
  }
}

async function readMempool(node: Node): Promise<Found[]> {
  const ids = listOf(await node.ask('getrawmempool')).slice(0, MEMPOOL_MAX)
  // Mined or replaced between the two questions.
  const found = await Promise.allSettled(ids.map((id) => node.ask('getrawtransaction', id, true)))
  return found.flatMap((one) => (one.status === 'fulfilled' ? [{ tx: fieldsOf(one.value), height: null }] : []))
}

/** The transactions of the latest blocks, oldest first. */
async function readLatest(node: Node): Promise<Found[]> {
  const top = indexOf(await node.ask('getblockcount'))
  const heights = Array.from({ length: Math.min(BLOCKS, top) }, (_, back) => top - back).reverse()
  const blocks = await Promise.all(
    heights.map(async (height) => fieldsOf(await node.ask('getblock', await node.ask('getblockhash', height), 2))),
  )
  return blocks.flatMap((block) =>
    listOf(block['tx']).map((tx) => ({ tx: fieldsOf(tx), height: heightOf(block['height']) })),
  )
}

async function orNull(answer: Promise<unknown>): Promise<Fields | null> {
  try {
    return fieldsOf(await answer)
  } catch (error) {
    if (error instanceof NodeError && error.code === UNKNOWN) return null
    throw error
  }
}

async function readTransaction(reading: Reading, hash: string): Promise<TransactionFacts | null> {
  const { node } = reading
  const tx = await orNull(node.ask('getrawtransaction', hash, true))
  if (tx === null) return null
  const blockHash = textOf(tx['blockhash'])
  const header = blockHash === null ? null : fieldsOf(await node.ask('getblockheader', blockHash))
  const isMined = header !== null && indexOf(header['confirmations']) > 0
  const waits = isMined || (await orNull(node.ask('getmempoolentry', hash))) !== null
  const outputs = listOf(tx['vout']).map((one) => toOutput(reading, one))
  const inputs = await readInputs(reading, tx)
  const paid = inputs.reduce<bigint | null>(
    (sum, one) => (sum === null || !one.amount ? null : sum + one.amount.units),
    0n,
  )
  const sent = outputs.reduce((sum, one) => sum + one.amount.units, 0n)
  return {
    hash,
    status: isMined ? 'confirmed' : waits ? 'waiting' : 'dropped',
    block:
      isMined && blockHash !== null
        ? {
            height: heightOf(header['height']),
            hash: blockHash,
            at: timeOf(heightOf(header['time'])),
            confirmations: heightOf(header['confirmations']),
          }
        : null,
    fee: paid === null || paid < sent ? null : { units: paid - sent, asset: reading.coin, contract: null },
    call: null,
    transfers: [],
    inputs,
    outputs,
  }
}

async function readInputs(reading: Reading, tx: Fields): Promise<TransactionFacts['inputs']> {
  return Promise.all(
    listOf(tx['vin']).map(async (input, at) => {
      const [spends = null] = spentBy({ vin: [input] })
      if (spends === null || at >= INPUTS_MAX) return { spends, address: null, amount: null }
      const from = await orNull(reading.node.ask('getrawtransaction', spends.hash, true))
      const output = listOf(from?.['vout']).map((one) => toOutput(reading, one))[spends.index]
      return { spends, address: output?.address ?? null, amount: output?.amount ?? null }
    }),
  )
}
