import { Address, OutScript } from '@scure/btc-signer'
import { parametersOf } from './addresses.ts'
import type { Block, Chain, Entry, MempoolEntry, Output, Script, Tx } from './bcoin.ts'
import { revHex } from './bcoin.ts'
import { isReplaceable } from './mempool-acceptance.ts'

/** A JSON number with exact digits: Bitcoin Core writes amounts with eight decimals. */
type RawNumber = Readonly<{ rawJSON: string }>
const rawJson = (JSON as unknown as { rawJSON(text: string): RawNumber }).rawJSON

/** Formats satoshis as coins. bcoin holds amounts as integers below 2⁵³. */
export function toCoins(sats: number): RawNumber {
  const digits = String(sats).padStart(9, '0')
  return rawJson(`${digits.slice(0, -8)}.${digits.slice(-8)}`)
}

export const hexWord = (value: number) => (value >>> 0).toString(16).padStart(8, '0')

/** Computes the difficulty from the compact target, as Bitcoin Core's `GetDifficulty`. */
export function difficulty(bits: number): number {
  let shift = (bits >>> 24) & 0xff
  let result = 0x0000ffff / (bits & 0x00ffffff)
  for (; shift < 29; shift++) result *= 256
  for (; shift > 29; shift--) result /= 256
  return result
}

/** Bitcoin Core's name of the output script type. */
function scriptType(raw: Buffer): string {
  const hex = raw.toString('hex')
  if (/^76a914[0-9a-f]{40}88ac$/.test(hex)) return 'pubkeyhash'
  if (/^a914[0-9a-f]{40}87$/.test(hex)) return 'scripthash'
  if (/^0014[0-9a-f]{40}$/.test(hex)) return 'witness_v0_keyhash'
  if (/^0020[0-9a-f]{64}$/.test(hex)) return 'witness_v0_scripthash'
  if (/^5120[0-9a-f]{64}$/.test(hex)) return 'witness_v1_taproot'
  if (/^(21[0-9a-f]{66}|41[0-9a-f]{130})ac$/.test(hex)) return 'pubkey'
  if (hex.startsWith('6a')) return 'nulldata'
  return 'nonstandard'
}

function addressOf(raw: Buffer): string | null {
  try {
    const decoded = OutScript.decode(raw)
    // A bare public key has no address.
    return decoded.type === 'pk' || decoded.type === 'unknown' ? null : Address(parametersOf('btc')).encode(decoded)
  } catch {
    return null
  }
}

export function scriptJson(script: Script) {
  const raw = script.toRaw()
  const type = scriptType(raw)
  const address = type === 'nulldata' ? null : addressOf(raw)
  return { asm: script.toASM(true), hex: raw.toString('hex'), ...(address === null ? {} : { address }), type }
}

const outputJson = (output: Output, n: number) => ({
  value: toCoins(output.value),
  n,
  scriptPubKey: scriptJson(output.script),
})

export function transactionJson(tx: Tx) {
  return {
    txid: tx.txid(),
    hash: tx.wtxid(),
    version: tx.version,
    size: tx.getSize(),
    vsize: tx.getVirtualSize(),
    weight: tx.getWeight(),
    locktime: tx.locktime,
    vin: tx.inputs.map((input) => {
      const witness =
        input.witness.items.length === 0 ? {} : { txinwitness: input.witness.items.map((item) => item.toString('hex')) }
      const sequence = input.sequence >>> 0
      if (tx.isCoinbase()) return { coinbase: input.script.toRaw().toString('hex'), ...witness, sequence }
      return {
        txid: revHex(input.prevout.hash),
        vout: input.prevout.index,
        scriptSig: { asm: input.script.toASM(true), hex: input.script.toRaw().toString('hex') },
        ...witness,
        sequence,
      }
    }),
    vout: tx.outputs.map(outputJson),
    hex: tx.toRaw().toString('hex'),
  }
}

export async function headerJson(chain: Chain, entry: Entry, transactionCount: number) {
  const main = await chain.isMainChain(entry)
  const next = main ? await chain.getNextHash(entry.hash) : null
  return {
    hash: entry.rhash(),
    confirmations: main ? chain.height - entry.height + 1 : -1,
    height: entry.height,
    version: entry.version,
    versionHex: hexWord(entry.version),
    merkleroot: revHex(entry.merkleRoot),
    time: entry.time,
    mediantime: await chain.getMedianTime(entry),
    nonce: entry.nonce >>> 0,
    bits: hexWord(entry.bits),
    difficulty: difficulty(entry.bits),
    chainwork: entry.chainwork.toString('hex', 64),
    nTx: transactionCount,
    ...(entry.isGenesis() ? {} : { previousblockhash: revHex(entry.prevBlock) }),
    ...(next === null ? {} : { nextblockhash: revHex(next) }),
  }
}

export async function blockJson(chain: Chain, entry: Entry, block: Block, verbosity: 1 | 2) {
  const header = await headerJson(chain, entry, block.txs.length)
  const view = verbosity === 2 && header.confirmations > 0 ? await chain.getBlockView(block) : null
  return {
    ...header,
    strippedsize: block.getBaseSize(),
    size: block.getSize(),
    weight: block.getWeight(),
    tx: block.txs.map((tx) => {
      if (verbosity === 1) return tx.txid()
      const fee = view && !tx.isCoinbase() ? { fee: toCoins(tx.getFee(view)) } : {}
      const { hex, ...rest } = transactionJson(tx)
      return { ...rest, ...fee, hex }
    }),
  }
}

type Relatives = Readonly<{ ancestors: readonly MempoolEntry[]; descendants: readonly MempoolEntry[] }>

export function mempoolEntryJson(entry: MempoolEntry, { ancestors, descendants }: Relatives) {
  const sum = (entries: readonly MempoolEntry[], field: 'fee' | 'size') =>
    entries.reduce((total, one) => total + one[field], entry[field])
  const parents = new Set(entry.tx.inputs.map((input) => input.prevout.hash))
  const hash = entry.tx.hash('hex')
  return {
    vsize: entry.size,
    weight: entry.tx.getWeight(),
    time: entry.time,
    height: entry.height,
    descendantcount: descendants.length + 1,
    descendantsize: sum(descendants, 'size'),
    ancestorcount: ancestors.length + 1,
    ancestorsize: sum(ancestors, 'size'),
    wtxid: entry.tx.wtxid(),
    fees: {
      base: toCoins(entry.fee),
      modified: toCoins(entry.fee),
      ancestor: toCoins(sum(ancestors, 'fee')),
      descendant: toCoins(sum(descendants, 'fee')),
    },
    depends: ancestors.filter((one) => parents.has(one.tx.hash('hex'))).map((one) => one.tx.txid()),
    spentby: descendants
      .filter((one) => one.tx.inputs.some((input) => input.prevout.hash === hash))
      .map((one) => one.tx.txid()),
    'bip125-replaceable': isReplaceable(entry.tx) || ancestors.some((one) => isReplaceable(one.tx)),
    unbroadcast: false,
  }
}
