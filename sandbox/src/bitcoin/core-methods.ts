import { type Block, type Entry, revHex, type Tx } from './bcoin.ts'
import type { BcoinNode } from './bcoin-node.ts'
import { type Arguments, CoreError, coreCode } from './core-arguments.ts'
import {
  blockJson,
  coins,
  difficulty,
  headerJson,
  mempoolEntryJson,
  scriptJson,
  transactionJson,
} from './core-format.ts'
import { relayFeeRate } from './mempool-acceptance.ts'
import { scriptOf } from './output-descriptor.ts'

export type Method = (node: BcoinNode, given: Arguments) => Promise<unknown>

/** Bitcoin Core 22's default of `-maxtxfee` per kilobyte, in satoshis. */
const usualMaxFeeRate = 10_000_000

export const chainMethods: Readonly<Record<string, Method>> = {
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
  getblockhash: async ({ chain }, given) => {
    const height = given.integer(0, 'height')
    const entry = height < 0 || height > chain.height ? null : await chain.getEntry(height)
    if (!entry) throw new CoreError(coreCode.invalidParameter, 'Block height out of range')
    return entry.rhash()
  },
  getblock: async (node, given) => {
    const { entry, block } = await findBlock(node, given.hash(0, 'blockhash'))
    const verbosity = given.verbosity(1, 1)
    if (verbosity <= 0) return block.toRaw().toString('hex')
    return blockJson(node.chain, entry, block, verbosity === 1 ? 1 : 2)
  },
  getblockheader: async (node, given) => {
    const { entry, block } = await findBlock(node, given.hash(0, 'hash'))
    if (!given.flag(1, true)) return block.toHeaders().toRaw().toString('hex')
    return headerJson(node.chain, entry, block.txs.length)
  },
  getrawtransaction: async (node, given) => {
    const hash = given.hash(0, 'parameter 1')
    const waiting = node.mempool.getEntry(hash)
    const meta = waiting ? null : await node.chain.getMeta(hash)
    const tx = waiting?.tx ?? meta?.tx
    if (!tx) {
      throw new CoreError(
        coreCode.notFound,
        'No such mempool or blockchain transaction. Use gettransaction for wallet transactions.',
      )
    }
    if (given.verbosity(1, 0) === 0) return tx.toRaw().toString('hex')
    const entry = meta?.block ? await node.chain.getEntry(meta.block) : null
    if (!entry) return transactionJson(tx)
    const confirmations = node.chain.height - entry.height + 1
    return { ...transactionJson(tx), blockhash: entry.rhash(), confirmations, time: entry.time, blocktime: entry.time }
  },
  gettxout: async ({ chain, mempool }, given) => {
    const hash = given.hash(0, 'txid')
    const index = given.integer(1, 'n')
    const withMempool = given.flag(2, true)
    if (withMempool && mempool.getSpent(hash, index)) return null
    const waiting = withMempool ? mempool.getEntry(hash)?.tx.outputs[index] : undefined
    const coin = waiting ? null : await chain.getCoin(hash, index)
    const output = waiting ?? coin
    if (!output) return null
    return {
      bestblock: chain.tip.rhash(),
      confirmations: coin ? chain.height - coin.height + 1 : 0,
      value: coins(output.value),
      scriptPubKey: scriptJson(output.script),
      coinbase: coin?.coinbase ?? false,
    }
  },
  scantxoutset: async (node, given) => {
    if (given.text(0, 'action') !== 'start') return null
    const wanted = new Set(
      given.list(1, 'scanobjects').map((one) => {
        const text = typeof one === 'string' ? one : String((one as { desc?: unknown })?.desc)
        return scriptOf(text).toString('hex')
      }),
    )
    return scanOutputs(node, wanted)
  },
}

export const mempoolMethods: Readonly<Record<string, Method>> = {
  getrawmempool: async (node, given) => {
    const entries = [...node.mempool.map.values()]
    if (!given.flag(0, false)) return entries.map((entry) => entry.tx.txid())
    return Object.fromEntries(entries.map((entry) => [entry.tx.txid(), entryJson(node, entry.tx.hash('hex'))]))
  },
  getmempoolentry: async (node, given) => entryJson(node, given.hash(0, 'parameter 1')),
  getmempoolinfo: async ({ mempool }) => ({
    loaded: true,
    size: mempool.map.size,
    bytes: [...mempool.map.values()].reduce((sum, entry) => sum + entry.size, 0),
    maxmempool: 100_000_000,
    mempoolminfee: coins(relayFeeRate),
    minrelaytxfee: coins(relayFeeRate),
  }),
  sendrawtransaction: async (node, given) => {
    const tx = parseTransaction(node, given.text(0, 'hexstring'))
    const result = await node.accept(tx, { testOnly: false, maxFeeRate: given.feeRate(1, usualMaxFeeRate) })
    if (result.kind === 'refused') throw new CoreError(result.code, result.reason)
    return tx.txid()
  },
  testmempoolaccept: async (node, given) => {
    const raw = given.list(0, 'rawtxs')
    if (raw.length !== 1)
      throw new CoreError(coreCode.invalidParameter, 'Array must contain exactly one raw transaction for now')
    const tx = parseTransaction(node, String(raw[0]))
    const result = await node.accept(tx, { testOnly: true, maxFeeRate: given.feeRate(1, usualMaxFeeRate) })
    const names = { txid: tx.txid(), wtxid: tx.wtxid() }
    if (result.kind === 'accepted') {
      return [{ ...names, allowed: true, vsize: tx.getVirtualSize(), fees: { base: coins(result.feeSats) } }]
    }
    const reason = result.kind === 'known' ? 'txn-already-in-mempool' : testReason(result)
    return [{ ...names, allowed: false, 'reject-reason': reason }]
  },
  // As a node that has seen too few blocks with transactions answers: the caller has to have a floor of its own.
  estimatesmartfee: async ({ chain }, given) => {
    given.integer(0, 'conf_target')
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
    relayfee: coins(relayFeeRate),
    incrementalfee: coins(relayFeeRate),
    localaddresses: [],
    warnings: '',
  }),
}

export const miningMethods: Readonly<Record<string, Method>> = {
  generatetoaddress: (node, given) => generate(node, given.integer(0, 'nblocks'), scriptOf(given.text(1, 'address'))),
  generatetodescriptor: (node, given) =>
    generate(node, given.integer(0, 'num_blocks'), scriptOf(given.text(1, 'descriptor'))),
  generateblock: async (node, given) => {
    const script = scriptOf(given.text(0, 'output'))
    const txs = given.list(1, 'transactions').map((one) => {
      const text = String(one)
      const waiting = text.length === 64 ? node.mempool.getEntry(revHex(text)) : undefined
      return waiting?.tx ?? parseTransaction(node, text)
    })
    const block = await node.mine({ script, txs, time: null }).catch((cause: Error) => {
      throw new CoreError(coreCode.verify, `TestBlockValidity failed: ${cause.message}`)
    })
    return { hash: block.rhash() }
  },
  submitblock: async (node, given) => {
    const reason = await node.submit(parseBlock(node, given.text(0, 'hexdata')))
    return reason
  },
  invalidateblock: async (node, given) => {
    if (!(await node.invalidate(given.hash(0, 'blockhash')))) throw new CoreError(coreCode.notFound, 'Block not found')
    return null
  },
  reconsiderblock: async (node, given) => {
    if (!(await node.reconsider(given.hash(0, 'blockhash')))) throw new CoreError(coreCode.notFound, 'Block not found')
    return null
  },
}

async function generate(node: BcoinNode, count: number, script: Buffer): Promise<string[]> {
  if (count < 0 || count > 10_000) throw new CoreError(coreCode.invalidParameter, 'Invalid number of blocks')
  const hashes: string[] = []
  while (hashes.length < count) hashes.push((await node.mine({ script, txs: null, time: null })).rhash())
  return hashes
}

async function findBlock({ chain }: BcoinNode, hash: string): Promise<{ entry: Entry; block: Block }> {
  const entry = await chain.getEntry(hash)
  const block = entry && (await chain.getBlock(entry.hash))
  if (!entry || !block) throw new CoreError(coreCode.notFound, 'Block not found')
  return { entry, block }
}

function entryJson({ mempool }: BcoinNode, hash: string) {
  const entry = mempool.getEntry(hash)
  if (!entry) throw new CoreError(coreCode.notFound, 'Transaction not in mempool')
  return mempoolEntryJson(entry, { ancestors: mempool.getAncestors(entry), descendants: mempool.getDescendants(entry) })
}

async function scanOutputs({ bcoin, chain }: BcoinNode, wanted: ReadonlySet<string>) {
  const all = await chain.db.db.range({ gte: bcoin.coinKeys.min(), lte: bcoin.coinKeys.max() })
  let total = 0
  const unspents = all.flatMap(({ key, value }) => {
    const { output, height } = bcoin.CoinEntry.fromRaw(value)
    const script = output.script.toRaw().toString('hex')
    if (!wanted.has(script)) return []
    const [hash, vout] = bcoin.coinKeys.parse(key)
    total += output.value
    return [
      { txid: revHex(hash), vout, scriptPubKey: script, desc: `raw(${script})`, amount: coins(output.value), height },
    ]
  })
  const bestblock = chain.tip.rhash()
  return { success: true, txouts: all.length, height: chain.height, bestblock, unspents, total_amount: coins(total) }
}

function testReason({ code, reason }: { code: number; reason: string }): string {
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

function parseBlock({ bcoin }: BcoinNode, hex: string): Block {
  try {
    return bcoin.Block.fromRaw(Buffer.from(hex, 'hex'))
  } catch {
    throw new CoreError(coreCode.deserialization, 'Block decode failed')
  }
}
