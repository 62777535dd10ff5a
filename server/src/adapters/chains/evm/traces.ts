import { address, count, type Decode, fields, hash, InvalidReply, list, orNull, quantity } from './replies.ts'

/** A native transfer by a contract within a successful transaction. */
export type InnerTransfer = Readonly<{ txHash: string; path: string; from: string; to: string; units: bigint }>

/** The traces of one block: the outcome of each traced transaction, and the internal native transfers. */
export type BlockTraces = Readonly<{
  outcomes: ReadonlyMap<string, boolean>
  inner: readonly InnerTransfer[]
  /** Transactions that the node answered for with an error. */
  untraced: readonly string[]
}>

type Frame = {
  /** Whether the frame isTransfer native currency: a `call`, not delegatecall, staticcall, callcode or create. */
  isTransfer: boolean
  ok: boolean
  from: string
  to: string | null
  units: bigint
  frames: Frame[]
}

type TransactionTrace = Readonly<{ txHash: string; root: Frame }>

/** Above the EVM's maximum call depth of 1024. */
const DEPTH_MAX = 1100

/** Reply of `trace_block`: a flat list in call order. The request is by height, so every entry must name the block hash. */
export function flatTraces(blockHash: string): Decode<BlockTraces> {
  return (reply) => {
    const traces: { txHash: string; root: Frame; byPath: Map<string, Frame> }[] = []
    for (const entry of list(fields)(reply)) {
      // Block rewards have no transaction.
      if (entry['transactionHash'] === null || entry['transactionHash'] === undefined) continue
      if (hash(entry['blockHash']) !== blockHash) throw new InvalidReply('a trace of another block')
      const txHash = hash(entry['transactionHash'])
      const path = list(count, DEPTH_MAX)(entry['traceAddress'])
      const frame = flatFrame(entry)
      const last = traces.at(-1)
      if (path.length === 0) {
        traces.push({ txHash, root: frame, byPath: new Map([['', frame]]) })
        continue
      }
      const parent = last?.txHash === txHash ? last.byPath.get(path.slice(0, -1).join('.')) : undefined
      if (!last || !parent) throw new InvalidReply('a trace without its parent')
      parent.frames.push(frame)
      last.byPath.set(path.join('.'), frame)
    }
    return { ...collectTransfers(traces), untraced: [] }
  }
}

function flatFrame(entry: Readonly<Record<string, unknown>>): Frame {
  const action = fields(entry['action'])
  const ok = entry['error'] === undefined || entry['error'] === null
  const isTransfer = entry['type'] === 'call' && action['callType'] === 'call'
  if (!isTransfer) return { isTransfer, ok, from: '', to: null, units: 0n, frames: [] }
  return {
    isTransfer,
    ok,
    from: address(action['from']),
    to: address(action['to']),
    units: quantity(action['value']),
    frames: [],
  }
}

/**
 * Reply of `debug_traceBlockByHash` with `callTracer`: one tree per transaction, or an error: the tracer timed out, or the node
 * could not execute the transaction (Sei lists some that failed before their execution; Erigon near its head).
 */
export function nestedTraces(txHashes: readonly string[]): Decode<BlockTraces> {
  return (reply) => {
    const traces = list(fields)(reply)
    const traceHashes = traces.map((trace) => orNull(hash)(trace['txHash']))
    // Older nodes omit the transaction hash: then traces are in block order and must be complete.
    if (traceHashes.includes(null) && traces.length !== txHashes.length)
      throw new InvalidReply('not one trace per transaction')
    const named = traces.map((trace, n) => ({
      txHash: traceHashes[n] ?? txHashes[n] ?? '',
      // Beside an error geth omits the result, and Erigon writes null.
      result: orNull(fields)(trace['result']),
    }))
    return {
      ...collectTransfers(
        named.flatMap(({ txHash, result }) => (result === null ? [] : [{ txHash, root: nestedFrame(result, 0) }])),
      ),
      untraced: named.filter(({ result }) => result === null).map(({ txHash }) => txHash),
    }
  }
}

function nestedFrame(call: Readonly<Record<string, unknown>>, depth: number): Frame {
  if (depth > DEPTH_MAX) throw new InvalidReply('calls nested too deep')
  const isTransfer = call['type'] === 'CALL'
  const frames = call['calls'] === undefined ? [] : list(fields)(call['calls'])
  return {
    isTransfer,
    ok: call['error'] === undefined || call['error'] === null,
    from: isTransfer ? address(call['from']) : '',
    to: isTransfer ? orNull(address)(call['to']) : null,
    units: isTransfer ? (orNull(quantity)(call['value']) ?? 0n) : 0n,
    frames: frames.map((inner) => nestedFrame(inner, depth + 1)),
  }
}

function collectTransfers(traces: readonly TransactionTrace[]): Omit<BlockTraces, 'untraced'> {
  const outcomes = new Map<string, boolean>()
  const inner: InnerTransfer[] = []
  for (const { txHash, root } of traces) {
    if (outcomes.has(txHash)) throw new InvalidReply('a transaction traced twice')
    outcomes.set(txHash, root.ok)
    if (root.ok) for (const transfer of transfersWithin(root, '')) inner.push({ txHash, ...transfer })
  }
  return { outcomes, inner }
}

/**
 * Transfers below a successful frame. A failed frame also reverts its successful subframes. Path indices count only frames
 * that transfer or contain a transfer: tracers differ in listing precompile calls, calls that never started and
 * self-destructions, and a transfer must have the same path on all nodes.
 */
function transfersWithin(frame: Frame, prefix: string): Omit<InnerTransfer, 'txHash'>[] {
  const transfers: Omit<InnerTransfer, 'txHash'>[] = []
  let n = 0
  for (const inner of frame.frames) {
    if (!inner.ok) continue
    const path = `${prefix}${n}`
    const own =
      inner.isTransfer && inner.units > 0n && inner.to !== null
        ? [{ path, from: inner.from, to: inner.to, units: inner.units }]
        : []
    const subtree = [...own, ...transfersWithin(inner, `${path}.`)]
    if (subtree.length === 0) continue
    n++
    for (const transfer of subtree) transfers.push(transfer)
  }
  return transfers
}
