import { catchAbort } from '@swapyard/lib/pools/sui/move-abort.ts'

export type Argument = string | number | boolean
export type Abort = readonly [module: string, code: number | 'arithmetic']
type Values = readonly (bigint | number | boolean)[]

/** Calls of Move functions with their results, or with module and code of their abort. */
export type RecordedFunctions = Readonly<{
  functions: Readonly<Record<string, readonly (readonly [readonly Argument[], readonly Argument[]])[]>>
  aborts: readonly (readonly [string, readonly Argument[], ...Abort])[]
}>

/** Calls each recorded function with its recorded arguments. Fails if the file has a function that `functions` lacks. */
export function runFunctions(
  functions: Readonly<Record<string, (...values: never[]) => Values>>,
  { functions: recorded, aborts }: RecordedFunctions,
) {
  const call = (name: string, values: readonly Argument[]) => {
    const run = functions[name]
    if (run === undefined) throw new Error(`the file records ${name}, which the test does not call`)
    const result = catchAbort(() => run(...(values as never[])))
    return 'abort' in result ? result.abort : result.map((value) => (typeof value === 'bigint' ? String(value) : value))
  }
  const calls = [
    ...Object.entries(recorded).flatMap(([name, rows]) =>
      rows.map(([values, results]) => ({ name, values, results: results as unknown })),
    ),
    ...aborts.map(([name, values, module, code]) => ({ name, values, results: { module, code } as unknown })),
  ]
  return {
    expected: calls,
    received: calls.map(({ name, values }) => ({ name, values, results: call(name, values) as unknown })),
  }
}

/** Bigints as the files have them. */
export const toText = (values: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]),
  )
