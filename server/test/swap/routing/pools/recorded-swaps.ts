import type { LabSwap } from '../../../../src/cli/lab/lab-swap.ts'

/** Members of a recorded swap of a program on Solana. A refused one has an error and no amounts. */
export type RecordedSwap = Readonly<{
  n: number
  userPaid?: string
  userReceived?: string
  error?: Readonly<{ code?: number; text?: string }>
}>

type Amounts = Readonly<{ paid?: string | undefined; received?: string | undefined }>

/** What the replay of a file must give. `amountsOf` names the amounts of a file that names them otherwise. */
export const expectedSwaps = <Row extends RecordedSwap>(
  pools: readonly Readonly<{ cases: readonly Row[] }>[],
  amountsOf: (row: Row) => Amounts = ({ userPaid, userReceived }) => ({ paid: userPaid, received: userReceived }),
): LabSwap[] =>
  pools.flatMap(({ cases }, pool) =>
    cases.map((row) => {
      const { paid = '0', received = '0' } = amountsOf(row)
      return { pool, n: row.n, paid: BigInt(paid), received: BigInt(received), error: errorOf(row) }
    }),
  )

function errorOf({ n, error }: RecordedSwap): LabSwap['error'] {
  if (error === undefined) return null
  const code = error.code ?? error.text
  if (code === undefined) throw new Error(`the error of case ${n} has neither a code nor a text`)
  return code
}

/** Changed bytes of an account: offset and hexadecimal bytes. */
export type Changes = readonly (readonly [number, string])[]

export function applyChanges(bytes: Buffer | undefined, changes: Changes): void {
  if (bytes === undefined) throw new Error('changes name an unknown account')
  for (const [offset, hex] of changes) Buffer.from(hex, 'hex').copy(bytes, offset)
}
