import type { TransferFeeConfig } from '@swapyard/lib/pools/solana/transfer-fee.ts'
import type { LabSwap } from './lab-swap.ts'

/** What a pool answers to a swap: the amounts in base units and the state afterwards, or the program's error. */
type Outcome<State> =
  | Readonly<{ error: null; paid: bigint; received: bigint; next: State }>
  | Readonly<{ error: number | string }>

type Replay<Pool, Row, State, Swap, Result> = Readonly<{
  readPool(recorded: Pool): State
  /** The recorded swaps of a pool, in their order. */
  rowsOf(recorded: Pool): readonly Row[]
  readSwap(row: Row, recorded: Pool, state: State): Swap
  apply(state: State, swap: Swap): Result
}>

export type Replayed<State, Swap, Result> = Readonly<{
  swap: LabSwap
  before: State
  input: Swap
  result: Result
  after: State
}>

/** Replays every swap on the state after the swap before it. A refused swap changes nothing. `n` is the row's own, else its index. */
export function replayPools<Pool, Row extends Readonly<{ n?: number }>, State, Swap, Result extends Outcome<State>>(
  pools: readonly Pool[],
  { readPool, rowsOf, readSwap, apply }: Replay<Pool, Row, State, Swap, Result>,
): Replayed<State, Swap, Result>[] {
  return pools.flatMap((recorded, pool) => {
    let after = readPool(recorded)
    return rowsOf(recorded).map((row, index) => {
      const before = after
      const input = readSwap(row, recorded, before)
      const result = apply(before, input)
      if (result.error === null) after = result.next
      const { paid, received } = result.error === null ? result : { paid: 0n, received: 0n }
      return { swap: { pool, n: row.n ?? index, paid, received, error: result.error }, before, input, result, after }
    })
  })
}

export type RecordedFees = readonly [RecordedFee, RecordedFee]
type RecordedFee = Readonly<{ bps: number; maximumFee: string }> | null

/** The Token-2022 transfer fees of a pool's tokens; a file without them has none. */
export const readTransferFees = ([first, second]: RecordedFees = [null, null]) =>
  [readFee(first), readFee(second)] as const

const readFee = (fee: RecordedFee): TransferFeeConfig | null =>
  fee === null ? null : { basisPoints: BigInt(fee.bps), maximumFee: BigInt(fee.maximumFee) }
