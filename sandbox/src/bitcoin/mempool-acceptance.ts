import { type Chain, isVerifyError, type Mempool, type MempoolEntry, type Tx } from './bcoin.ts'

/** What Bitcoin Core would say of a transaction: its error code (`rpc/protocol.h`) and its reason. */
export type Acceptance =
  | { kind: 'accepted'; feeSats: number }
  | { kind: 'known' }
  | { kind: 'refused'; code: -25 | -26 | -27; reason: string }

type Node = Readonly<{ chain: Chain; mempool: Mempool }>

/** Satoshis per 1000 virtual bytes: `-minrelaytxfee` and `-incrementalrelayfee`. */
export const relayFeeRate = 1000
/** BIP-125 rule 5. */
const mostReplaced = 100

const refuse = (code: -25 | -26 | -27, reason: string): Acceptance => ({ kind: 'refused', code, reason })

export async function acceptTransaction(
  { chain, mempool }: Node,
  tx: Tx,
  { testOnly, maxFeeRate }: { testOnly: boolean; maxFeeRate: number },
): Promise<Acceptance> {
  const hash = tx.hash('hex')
  if (mempool.getEntry(hash)) return testOnly ? refuse(-26, 'txn-already-in-mempool') : { kind: 'known' }
  for (const index of tx.outputs.keys()) {
    if (await chain.getCoin(hash, index)) return refuse(-27, 'Transaction already in block chain')
  }
  const view = await mempool.getCoinView(tx)
  if (!tx.isCoinbase() && !tx.hasCoins(view)) return refuse(-25, 'bad-txns-inputs-missingorspent')
  const fee = tx.isCoinbase() ? 0 : tx.getFee(view)
  const size = tx.getSigopsSize(tx.isCoinbase() ? 0 : tx.getSigopsCost(view))
  const floor = Math.ceil((size * relayFeeRate) / 1000)
  if (fee < 0) return refuse(-26, 'bad-txns-in-belowout, value in < value out')
  if (!tx.isCoinbase() && fee < floor) return refuse(-26, `min relay fee not met, ${fee} < ${floor}`)
  if (maxFeeRate > 0 && fee * 1000 > maxFeeRate * size) {
    return refuse(-25, 'Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)')
  }

  const conflicts = findConflicts(mempool, tx)
  const forbidden = replacementProblem(mempool, tx, { fee, size }, conflicts)
  if (forbidden) return refuse(-26, forbidden)
  const replaced = conflicts.length === 0 ? [] : withDescendants(mempool, conflicts)
  for (const entry of conflicts) if (mempool.getEntry(entry.tx.hash('hex'))) mempool.evictEntry(entry)
  const result = await offer(mempool, tx)
  const added = mempool.getEntry(hash)
  if (testOnly && added) mempool.evictEntry(added)
  if (testOnly || result.kind !== 'accepted') for (const entry of replaced) await offer(mempool, entry.tx)
  return result.kind === 'accepted' ? { kind: 'accepted', feeSats: fee } : result
}

function findConflicts(mempool: Mempool, tx: Tx): MempoolEntry[] {
  const found = new Set<MempoolEntry>()
  for (const { prevout } of tx.inputs) {
    const spender = mempool.getSpent(prevout.hash, prevout.index)
    if (spender) found.add(spender)
  }
  return [...found]
}

/** Parents before children. */
function withDescendants(mempool: Mempool, entries: readonly MempoolEntry[]): MempoolEntry[] {
  const all = new Set(entries)
  for (const entry of entries) for (const child of mempool.getDescendants(entry)) all.add(child)
  const ancestors = (entry: MempoolEntry) => mempool.getAncestors(entry).length
  return [...all].sort((a, b) => ancestors(a) - ancestors(b))
}

/** BIP-125, as Bitcoin Core enforces it. Null where nothing is replaced, or it may be. */
function replacementProblem(
  mempool: Mempool,
  tx: Tx,
  { fee, size }: { fee: number; size: number },
  conflicts: readonly MempoolEntry[],
): string | null {
  if (conflicts.length === 0) return null
  const signals = (entry: MempoolEntry) => [entry, ...mempool.getAncestors(entry)].some((one) => isReplaceable(one.tx))
  if (!conflicts.every(signals)) return 'txn-mempool-conflict'
  const replaced = withDescendants(mempool, conflicts)
  if (replaced.length > mostReplaced) return `too many potential replacements, rejecting replacement ${tx.txid()}`
  const old = new Set(conflicts.flatMap((entry) => entry.tx.inputs.map((input) => input.prevout.hash)))
  if (tx.inputs.some(({ prevout }) => mempool.getEntry(prevout.hash) && !old.has(prevout.hash))) {
    return `replacement-adds-unconfirmed, replacement ${tx.txid()} adds unconfirmed input`
  }
  if (conflicts.some((entry) => fee * entry.size <= entry.fee * size)) {
    return `insufficient fee, rejecting replacement ${tx.txid()}; new feerate is not above the old`
  }
  const paid = replaced.reduce((sum, entry) => sum + entry.fee, 0)
  const more = Math.ceil((size * relayFeeRate) / 1000)
  if (fee < paid + more) return `insufficient fee, rejecting replacement ${tx.txid()}, ${fee} < ${paid + more}`
  return null
}

export function isReplaceable(tx: Tx): boolean {
  return tx.inputs.some((input) => input.sequence < 0xfffffffe)
}

async function offer(mempool: Mempool, tx: Tx): Promise<Acceptance> {
  try {
    const missing = await mempool.addTX(tx)
    return missing ? refuse(-25, 'bad-txns-inputs-missingorspent') : { kind: 'accepted', feeSats: 0 }
  } catch (error) {
    if (!isVerifyError(error)) throw error
    if (error.reason.includes('script-verify-flag')) {
      // What Core says of a signature that does not fit (NULLFAIL), by far the most frequent of these.
      return refuse(
        -26,
        'non-mandatory-script-verify-flag (Signature must be zero for failed CHECK(MULTI)SIG operation)',
      )
    }
    return refuse(-26, coreReasons[error.reason] ?? error.reason)
  }
}

/** Where bcoin's word differs from Bitcoin Core's. */
const coreReasons: Record<string, string> = {
  'bad-txns-inputs-spent': 'txn-mempool-conflict',
  'insufficient priority': 'min relay fee not met',
  'too-long-mempool-chain': 'too-long-mempool-chain, too many unconfirmed ancestors [limit: 25]',
  'bad-txns-premature-spend-of-coinbase': 'bad-txns-premature-spend-of-coinbase, tried to spend coinbase too early',
}
