import { type Block, type Entry, revHex, type Tx } from './bcoin.ts'
import type { BcoinNode } from './bcoin-node.ts'
import { type Arguments, CoreError, coreCode } from './core-arguments.ts'
import {
  blockJson,
  difficulty,
  headerJson,
  mempoolEntryJson,
  scriptJson,
  toCoins,
  transactionJson,
} from './core-format.ts'
import { relayFeeRate } from './mempool-acceptance.ts'
import { scriptOf } from './output-descriptor.ts'

export type RpcMethod = (node: BcoinNode, args: Arguments) => Promise<unknown>

/** Bitcoin Core 22's default of `-maxtxfee` per kilobyte, in satoshis. */
const defaultMaxFeeRate = 10_000_000

export const chainMethods: Readonly<Record<string, RpcMethod>> = {
  getblockchaininfo: async ({ chain }) => ({
    chain: 'regtest',
    blocks: chain.height,
    headers: chain.height,
    bestblockhash: chain.tip.rhash(),
    difficulty: difficulty(chain.tip.bits),
    mediantime: await chain.getMedianTime(chain.tip),
    verificationprogress: 1,
    initialblockdownload: false,
    chainwork: chain.tip.chainwork.toString('hex', 64),
    size_on_disk: 0,
    pruned: false,
    softforks: { segwit: { type: 'buried', active: chain.height >= 431, height: 432 } },
    warnings: '',
  }),
  getbestblockhash: async ({ chain }) => chain.tip.rhash(),
  getblockcount: async ({ chain }) => chain.height,
  getblockhash: async ({ chain }, args) => {
    const height = args.integer(0, 'height')
    const entry = height < 0 || height > chain.height ? null : await chain.getEntry(height)
    if (!entry) throw new CoreError(coreCode.invalidParameter, 'Block height out of range')
    return entry.rhash()
  },
  getblock: async (node, args) => {
    const { entry, block } = await findBlock(node, args.hash(0, 'blockhash'))
    const verbosity = args.verbosity(1, 1)
    if (verbosity <= 0) return block.toRaw().toString('hex')
    return blockJson(node.chain, entry, block, verbosity === 1 ? 1 : 2)
  },
  getblockheader: async (node, args) => {
    const { entry, block } = await findBlock(node, args.hash(0, 'hash'))
    if (!args.flag(1, true)) return block.toHeaders().toRaw().toString('hex')
    return headerJson(node.chain, entry, block.txs.length)
  },
  getrawtransaction: async (node, args) => {
    const hash = args.hash(0, 'parameter 1')
    const mempoolEntry = node.mempool.getEntry(hash)
    const meta = mempoolEntry ? null : await node.chain.getMeta(hash)
    const tx = mempoolEntry?.tx ?? meta?.tx
    if (!tx) {
      throw new CoreError(
        coreCode.notFound,
        'No such mempool or blockchain transaction. Use gettransaction for wallet transactions.',
      )
    }
    if (args.verbosity(1, 0) === 0) return tx.toRaw().toString('hex')
    const entry = meta?.block ? await node.chain.getEntry(meta.block) : null
    if (!entry) return transactionJson(tx)
    const confirmations = node.chain.height - entry.height + 1
    return { ...transactionJson(tx), blockhash: entry.rhash(), confirmations, time: entry.time, blocktime: entry.time }
  },
  gettxout: async ({ chain, mempool }, args) => {
    const hash = args.hash(0, 'txid')
    const index = args.integer(1, 'n')
    const withMempool = args.flag(2, true)
    if (withMempool && mempool.getSpent(hash, index)) return null
    const unconfirmed = withMempool ? mempool.getEntry(hash)?.tx.outputs[index] : undefined
    const utxo = unconfirmed ? null : await chain.getCoin(hash, index)
    const output = unconfirmed ?? utxo
    if (!output) return null
    return {
      bestblock: chain.tip.rhash(),
      confirmations: utxo ? chain.height - utxo.height + 1 : 0,
      value: toCoins(output.value),
      scriptPubKey: scriptJson(output.script),
      coinbase: utxo?.coinbase ?? false,
    }
  },
  scantxoutset: async (node, args) => {
    if (args.text(0, 'action') !== 'start') return null
    const scripts = new Set(
      args.list(1, 'scanobjects').map((one) => {
        const text = typeof one === 'string' ? one : String((one as { desc?: unknown })?.desc)
        return scriptOf(text).toString('hex')
      }),
    )
    return scanOutputs(node, scripts)
  },
}

export const mempoolMethods: Readonly<Record<string, RpcMethod>> = {
  getrawmempool: async (node, args) => {
    const entries = [...node.mempool.map.values()]
    if (!args.flag(0, false)) return entries.map((entry) => entry.tx.txid())
    return Object.fromEntries(entries.map((entry) => [entry.tx.txid(), readEntryJson(node, entry.tx.hash('hex'))]))
  },
  getmempoolentry: async (node, args) => readEntryJson(node, args.hash(0, 'parameter 1')),
  getmempoolinfo: async ({ mempool }) => ({
    loaded: true,
    size: mempool.map.size,
    bytes: [...mempool.map.values()].reduce((sum, entry) => sum + entry.size, 0),
    maxmempool: 100_000_000,
    mempoolminfee: toCoins(relayFeeRate),
    minrelaytxfee: toCoins(relayFeeRate),
  }),
  sendrawtransaction: async (node, args) => {
    const tx = parseTransaction(node, args.text(0, 'hexstring'))
    const result = await node.acceptTransaction(tx, {
      testOnly: false,
      maxFeeRate: args.feeRate(1, defaultMaxFeeRate),
    })
    if (result.kind === 'rejected') throw new CoreError(result.code, result.reason)
    return tx.txid()
  },
  testmempoolaccept: async (node, args) => {
    const raw = args.list(0, 'rawtxs')
    if (raw.length !== 1)
      throw new CoreError(coreCode.invalidParameter, 'Array must contain exactly one raw transaction for now')
    const tx = parseTransaction(node, String(raw[0]))
    const result = await node.acceptTransaction(tx, { testOnly: true, maxFeeRate: args.feeRate(1, defaultMaxFeeRate) })
    const names = { txid: tx.txid(), wtxid: tx.wtxid() }
    if (result.kind === 'accepted') {
      return [{ ...names, allowed: true, vsize: tx.getVirtualSize(), fees: { base: toCoins(result.feeSats) } }]
    }
    const reason = result.kind === 'already-in-mempool' ? 'txn-already-in-mempool' : toRejectReason(result)
    return [{ ...names, allowed: false, 'reject-reason': reason }]
  },
  // The reply of a node with too few blocks to estimate from; the caller needs a default fee rate.
  estimatesmartfee: async ({ chain }, args) => {
    args.integer(0, 'conf_target')
    return { errors: ['Insufficient data or no feerate found'], blocks: chain.height > 0 ? 2 : 0 }
  },
  getnetworkinfo: async () => ({
    version: 220000,
    subversion: '/bcoin:1.0.2/',
    protocolversion: 70016,
    localrelay: true,
    timeoffset: 0,
    networkactive: true,
    connections: 0,
    networks: [],
    relayfee: toCoins(relayFeeRate),
    incrementalfee: toCoins(relayFeeRate),
    localaddresses: [],
    warnings: '',
  }),
}

export const miningMethods: Readonly<Record<string, RpcMethod>> = {
  generatetoaddress: (node, args) => generate(node, args.integer(0, 'nblocks'), scriptOf(args.text(1, 'address'))),
  generatetodescriptor: (node, args) =>
    generate(node, args.integer(0, 'num_blocks'), scriptOf(args.text(1, 'descriptor'))),
  generateblock: async (node, args) => {
    const script = scriptOf(args.text(0, 'output'))
    const txs = args.list(1, 'transactions').map((one) => {
      const text = String(one)
      const mempoolEntry = text.length === 64 ? node.mempool.getEntry(revHex(text)) : undefined
      return mempoolEntry?.tx ?? parseTransaction(node, text)
    })
    const block = await node.mineBlock({ script, txs, time: null }).catch((cause: Error) => {
      throw new CoreError(coreCode.verify, `TestBlockValidity failed: ${cause.message}`)
    })
    return { hash: block.rhash() }
  },
  invalidateblock: async (node, args) => requireBlock(await node.invalidateBlock(args.hash(0, 'blockhash'))),
  reconsiderblock: async (node, args) => requireBlock(await node.reconsiderBlock(args.hash(0, 'blockhash'))),
}

function requireBlock(exists: boolean): null {
  if (!exists) throw new CoreError(coreCode.notFound, 'Block not found')
  return null
}

async function generate(node: BcoinNode, count: number, script: Buffer): Promise<string[]> {
  if (count < 0 || count > 10_000) throw new CoreError(coreCode.invalidParameter, 'Invalid number of blocks')
  const hashes: string[] = []
  while (hashes.length < count) hashes.push((await node.mineBlock({ script, txs: null, time: null })).rhash())
  return hashes
}

async function findBlock({ chain }: BcoinNode, hash: string): Promise<{ entry: Entry; block: Block }> {
  const entry = await chain.getEntry(hash)
  const block = entry && (await chain.getBlock(entry.hash))
  if (!entry || !block) throw new CoreError(coreCode.notFound, 'Block not found')
  return { entry, block }
}

function readEntryJson({ mempool }: BcoinNode, hash: string) {
  const entry = mempool.getEntry(hash)
  if (!entry) throw new CoreError(coreCode.notFound, 'Transaction not in mempool')
  return mempoolEntryJson(entry, { ancestors: mempool.getAncestors(entry), descendants: mempool.getDescendants(entry) })
}

async function scanOutputs({ bcoin, chain }: BcoinNode, scripts: ReadonlySet<string>) {
  const all = await chain.db.db.range({ gte: bcoin.coinKeys.min(), lte: bcoin.coinKeys.max() })
  let total = 0
  const unspents = all.flatMap(({ key, value }) => {
    const { output, height } = bcoin.CoinEntry.fromRaw(value)
    const script = output.script.toRaw().toString('hex')
    if (!scripts.has(script)) return []
    const [hash, vout] = bcoin.coinKeys.parse(key)
    total += output.value
    return [
      { txid: revHex(hash), vout, scriptPubKey: script, desc: `raw(${script})`, amount: toCoins(output.value), height },
    ]
  })
  const bestblock = chain.tip.rhash()
  return { success: true, txouts: all.length, height: chain.height, bestblock, unspents, total_amount: toCoins(total) }
}

function toRejectReason({ code, reason }: { code: number; reason: string }): string {
  if (code === -27) return 'txn-already-known'
  if (code === -25 && reason.startsWith('Fee exceeds')) return 'max-fee-exceeded'
  return code === -25 ? 'missing-inputs' : (reason.split(', ')[0] ?? reason)
}

function parseTransaction({ bcoin }: BcoinNode, hex: string): Tx {
  const failed = new CoreError(coreCode.deserialization, 'TX decode failed. Make sure the tx has at least one input.')
  if (!/^(?:[0-9a-f]{2})+$/i.test(hex)) throw failed
  const raw = Buffer.from(hex, 'hex')
  try {
    const tx = bcoin.Tx.fromRaw(raw)
    if (tx.inputs.length === 0 || !tx.toRaw().equals(raw)) throw failed
    return tx
  } catch {
    throw failed
  }
}
