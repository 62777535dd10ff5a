import type { TransferFeeConfig } from '@swapyard/lib/pools/solana/transfer-fee.ts'
import { type Member, readPart, requireList, requireMembers } from './file-form.ts'
import type { LabSwap } from './lab-swap.ts'

/** What a pool answers to a swap: the amounts in base units and the state afterwards, or the program's error. */
type Outcome<State> =
  | Readonly<{ error: null; paid: bigint; received: bigint; next: State }>
  | Readonly<{ error: number | string }>

/** The members that a file must have. */
type Form = Readonly<{ pool: readonly Member[]; row: readonly Member[] }>

type Replay<Rows extends string, Pool, State, Swap, Result> = Readonly<{
  form: Form
  /** Member of a pool with its recorded swaps, in their order. */
  rows: Rows
  readPool(recorded: Pool): State
  readSwap(row: RowOf<Pool, Rows>, recorded: Pool, state: State): Swap
  apply(state: State, swap: Swap): Result
}>

type RowOf<Pool, Rows extends string> = Pool extends Readonly<Record<Rows, readonly (infer Row)[]>> ? Row : never

export type Replayed<State, Swap, Result> = Readonly<{
  swap: LabSwap
  before: State
  input: Swap
  result: Result
  after: State
}>

/** Replays every swap on the state after the swap before it. A refused swap changes nothing. `n` is the row's own, else its index. */
export function replayPools<
  Rows extends string,
  Pool extends Readonly<Record<Rows, readonly Readonly<{ n?: number }>[]>>,
  State,
  Swap,
  Result extends Outcome<State>,
>(
  content: unknown,
  { form, rows, readPool, readSwap, apply }: Replay<Rows, Pool, State, Swap, Result>,
): Replayed<State, Swap, Result>[] {
  const { pools } = content as Readonly<{ pools?: readonly Pool[] }>
  return requireList(pools, 'pools').flatMap((recorded, pool) => {
    const path = `pools[${pool}]`
    requireMembers(recorded, path, form.pool)
    let after = readPart(path, () => readPool(recorded))
    return requireList(recorded[rows], `${path}.${rows}`).map((row, index) => {
      const rowPath = `${path}.${rows}[${index}]`
      requireMembers(row, rowPath, form.row)
      const before = after
      const input = readPart(rowPath, () => readSwap(row as RowOf<Pool, Rows>, recorded, before))
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
