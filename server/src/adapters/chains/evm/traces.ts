import { address, count, type Decode, fields, hash, InvalidReply, list, orNull, quantity } from './replies.ts'

/** Coin that a contract sent on within a transaction that succeeded. */
export type InnerTransfer = Readonly<{ txHash: string; path: string; from: string; to: string; units: bigint }>

/** What the traces of one block say: each transaction's outcome, and the coin that moved within. */
export type BlockTraces = Readonly<{ outcomes: ReadonlyMap<string, boolean>; inner: readonly InnerTransfer[] }>

type Frame = {
  /** Moves coin from `from` to `to`: a plain call with a value. Never delegatecall, staticcall, callcode or create. */
  moves: boolean
  ok: boolean
  from: string
  to: string | null
  units: bigint
  frames: Frame[]
}

type Traced = Readonly<{ txHash: string; root: Frame }>

/** Deeper than the EVM allows calls to nest (1024). */
const DEPTH_MAX = 1100

/**
 * Reply of `trace_block`: one flat list, in call order. It is asked by height, so that every entry has to name the block.
 */
export function flatTraces(blockHash: string): Decode<BlockTraces> {
  return (reply) => {
    const traced: { txHash: string; root: Frame; byPath: Map<string, Frame> }[] = []
    for (const entry of list(fields)(reply)) {
      // Block rewards belong to no transaction.
      if (entry['transactionHash'] === null || entry['transactionHash'] === undefined) continue
      if (hash(entry['blockHash']) !== blockHash) throw new InvalidReply('a trace of another block')
      const txHash = hash(entry['transactionHash'])
      const path = list(count, DEPTH_MAX)(entry['traceAddress'])
      const frame = flatFrame(entry)
      const last = traced.at(-1)
      if (path.length === 0) {
        traced.push({ txHash, root: frame, byPath: new Map([['', frame]]) })
        continue
      }
      const parent = last?.txHash === txHash ? last.byPath.get(path.slice(0, -1).join('.')) : undefined
      if (!last || !parent) throw new InvalidReply('a trace without its parent')
      parent.frames.push(frame)
      last.byPath.set(path.join('.'), frame)
    }
    return gather(traced)
  }
}

function flatFrame(entry: Readonly<Record<string, unknown>>): Frame {
  const action = fields(entry['action'])
  const ok = entry['error'] === undefined || entry['error'] === null
  const moves = entry['type'] === 'call' && action['callType'] === 'call'
  if (!moves) return { moves, ok, from: '', to: null, units: 0n, frames: [] }
  return {
    moves,
    ok,
    from: address(action['from']),
    to: address(action['to']),
    units: quantity(action['value']),
    frames: [],
  }
}

/**
 * Reply of `debug_traceBlockByHash` with `callTracer`: one tree per transaction. null where the node gave up on one of
 * them (its tracer ran out of time): half of a block's traces are none.
 */
export function nestedTraces(txHashes: readonly string[]): Decode<BlockTraces | null> {
  return (reply) => {
    const traces = list(fields)(reply)
    if (traces.some((trace) => trace['result'] === undefined)) return null
    const named = traces.map((trace) => orNull(hash)(trace['txHash']))
    // Older nodes don't name the transaction: then the order says which it is, and none may be left out.
    if (named.includes(null) && traces.length !== txHashes.length) throw new InvalidReply('one trace per transaction')
    return gather(
      traces.map((trace, n) => ({
        txHash: named[n] ?? txHashes[n] ?? '',
        root: nestedFrame(fields(trace['result']), 0),
      })),
    )
  }
}

function nestedFrame(call: Readonly<Record<string, unknown>>, depth: number): Frame {
  if (depth > DEPTH_MAX) throw new InvalidReply('calls nested too deep')
  const moves = call['type'] === 'CALL'
  const frames = call['calls'] === undefined ? [] : list(fields)(call['calls'])
  return {
    moves,
    ok: call['error'] === undefined || call['error'] === null,
    from: moves ? address(call['from']) : '',
    to: moves ? orNull(address)(call['to']) : null,
    units: moves ? (orNull(quantity)(call['value']) ?? 0n) : 0n,
    frames: frames.map((inner) => nestedFrame(inner, depth + 1)),
  }
}

function gather(traced: readonly Traced[]): BlockTraces {
  const outcomes = new Map<string, boolean>()
  const inner: InnerTransfer[] = []
  for (const { txHash, root } of traced) {
    if (outcomes.has(txHash)) throw new InvalidReply('a transaction traced twice')
    outcomes.set(txHash, root.ok)
    if (root.ok) for (const moved of movesWithin(root, '')) inner.push({ txHash, ...moved })
  }
  return { outcomes, inner }
}

/**
 * Moves below a frame that succeeded; what lies under a failed one was undone with it, whatever its own entry says.
 * Paths count only frames that move coin or hold one that does: tracers differ in whether they list calls of
 * precompiles, calls that never began, and self-destructions, and the same move must have the same path on all.
 */
function movesWithin(frame: Frame, prefix: string): Omit<InnerTransfer, 'txHash'>[] {
  const found: Omit<InnerTransfer, 'txHash'>[] = []
  let n = 0
  for (const inner of frame.frames) {
    if (!inner.ok) continue
    const path = `${prefix}${n}`
    const own =
      inner.moves && inner.units > 0n && inner.to !== null
        ? [{ path, from: inner.from, to: inner.to, units: inner.units }]
        : []
    const below = [...own, ...movesWithin(inner, `${path}.`)]
    if (below.length === 0) continue
    n++
    for (const move of below) found.push(move)
  }
  return found
}
