import { type Chain, isVerifyError, type Mempool, type MempoolEntry, type Tx } from './bcoin.ts'

/** Bitcoin Core's verdict on a transaction: error code (`rpc/protocol.h`) and reject reason. */
export type Acceptance =
  | { kind: 'accepted'; feeSats: number }
  | { kind: 'already-in-mempool' }
  | { kind: 'rejected'; code: -25 | -26 | -27; reason: string }

type Node = Readonly<{ chain: Chain; mempool: Mempool }>

/** Satoshis per 1000 virtual bytes: `-minrelaytxfee` and `-incrementalrelayfee`. */
export const relayFeeRate = 1000
/** BIP-125 rule 5: at most 100 transactions may be replaced. */
const replacementsMax = 100

const reject = (code: -25 | -26 | -27, reason: string): Acceptance => ({ kind: 'rejected', code, reason })

export async function acceptTransaction(
  { chain, mempool }: Node,
  tx: Tx,
  { testOnly, maxFeeRate }: { testOnly: boolean; maxFeeRate: number },
): Promise<Acceptance> {
  const hash = tx.hash('hex')
  if (mempool.getEntry(hash)) return testOnly ? reject(-26, 'txn-already-in-mempool') : { kind: 'already-in-mempool' }
  for (const index of tx.outputs.keys()) {
    if (await chain.getCoin(hash, index)) return reject(-27, 'Transaction already in block chain')
  }
  const view = await mempool.getCoinView(tx)
  if (!tx.isCoinbase() && !tx.hasCoins(view)) return reject(-25, 'bad-txns-inputs-missingorspent')
  const fee = tx.isCoinbase() ? 0 : tx.getFee(view)
  const size = tx.getSigopsSize(tx.isCoinbase() ? 0 : tx.getSigopsCost(view))
  const minFeeSats = Math.ceil((size * relayFeeRate) / 1000)
  if (fee < 0) return reject(-26, 'bad-txns-in-belowout, value in < value out')
  if (!tx.isCoinbase() && fee < minFeeSats) return reject(-26, `min relay fee not met, ${fee} < ${minFeeSats}`)
  if (maxFeeRate > 0 && fee * 1000 > maxFeeRate * size) {
    return reject(-25, 'Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)')
  }

  const conflicts = findConflicts(mempool, tx)
  const violation = findReplacementViolation(mempool, tx, { fee, size }, conflicts)
  if (violation) return reject(-26, violation)
  const replaced = conflicts.length === 0 ? [] : listWithDescendants(mempool, conflicts)
  for (const entry of conflicts) if (mempool.getEntry(entry.tx.hash('hex'))) mempool.evictEntry(entry)
  const result = await addToMempool(mempool, tx)
  const addedEntry = mempool.getEntry(hash)
  if (testOnly && addedEntry) mempool.evictEntry(addedEntry)
  if (testOnly || result.kind !== 'accepted') for (const entry of replaced) await addToMempool(mempool, entry.tx)
  return result.kind === 'accepted' ? { kind: 'accepted', feeSats: fee } : result
}

function findConflicts(mempool: Mempool, tx: Tx): MempoolEntry[] {
  const conflicts = new Set<MempoolEntry>()
  for (const { prevout } of tx.inputs) {
    const spender = mempool.getSpent(prevout.hash, prevout.index)
    if (spender) conflicts.add(spender)
  }
  return [...conflicts]
}

/** Sorted with parents before children. */
function listWithDescendants(mempool: Mempool, entries: readonly MempoolEntry[]): MempoolEntry[] {
  const all = new Set(entries)
  for (const entry of entries) for (const child of mempool.getDescendants(entry)) all.add(child)
  const ancestors = (entry: MempoolEntry) => mempool.getAncestors(entry).length
  return [...all].sort((a, b) => ancestors(a) - ancestors(b))
}

/** Applies BIP-125 as Bitcoin Core does. Null if nothing is replaced or the replacement is allowed. */
function findReplacementViolation(
  mempool: Mempool,
  tx: Tx,
  { fee, size }: { fee: number; size: number },
  conflicts: readonly MempoolEntry[],
): string | null {
  if (conflicts.length === 0) return null
  const signalsReplacement = (entry: MempoolEntry) =>
    [entry, ...mempool.getAncestors(entry)].some((one) => isReplaceable(one.tx))
  if (!conflicts.every(signalsReplacement)) return 'txn-mempool-conflict'
  const replaced = listWithDescendants(mempool, conflicts)
  if (replaced.length > replacementsMax) return `too many potential replacements, rejecting replacement ${tx.txid()}`
  const conflictParents = new Set(conflicts.flatMap((entry) => entry.tx.inputs.map((input) => input.prevout.hash)))
  if (tx.inputs.some(({ prevout }) => mempool.getEntry(prevout.hash) && !conflictParents.has(prevout.hash))) {
    return `replacement-adds-unconfirmed, replacement ${tx.txid()} adds unconfirmed input`
  }
  if (conflicts.some((entry) => fee * entry.size <= entry.fee * size)) {
    return `insufficient fee, rejecting replacement ${tx.txid()}; new feerate is not above the old`
  }
  const replacedFees = replaced.reduce((sum, entry) => sum + entry.fee, 0)
  const relayFee = Math.ceil((size * relayFeeRate) / 1000)
  if (fee < replacedFees + relayFee)
    return `insufficient fee, rejecting replacement ${tx.txid()}, ${fee} < ${replacedFees + relayFee}`
  return null
}

export function isReplaceable(tx: Tx): boolean {
  return tx.inputs.some((input) => input.sequence < 0xfffffffe)
}

async function addToMempool(mempool: Mempool, tx: Tx): Promise<Acceptance> {
  try {
    const missing = await mempool.addTX(tx)
    return missing ? reject(-25, 'bad-txns-inputs-missingorspent') : { kind: 'accepted', feeSats: 0 }
  } catch (error) {
    if (!isVerifyError(error)) throw error
    if (error.reason.includes('script-verify-flag')) {
      // Bitcoin Core's reason for a wrong signature (NULLFAIL), the most frequent script error.
      return reject(
        -26,
        'non-mandatory-script-verify-flag (Signature must be zero for failed CHECK(MULTI)SIG operation)',
      )
    }
    return reject(-26, coreRejectReasons[error.reason] ?? error.reason)
  }
}

/** Bitcoin Core's reject reason where bcoin's differs. */
const coreRejectReasons: Record<string, string> = {
  'bad-txns-inputs-spent': 'txn-mempool-conflict',
  'insufficient priority': 'min relay fee not met',
  'too-long-mempool-chain': 'too-long-mempool-chain, too many unconfirmed ancestors [limit: 25]',
  'bad-txns-premature-spend-of-coinbase': 'bad-txns-premature-spend-of-coinbase, tried to spend coinbase too early',
}
