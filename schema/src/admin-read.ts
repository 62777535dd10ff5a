import Type, { type TObject, type TSchema, type TUnsafe } from 'typebox'
import type { OperatorRole } from './admin-action.ts'
import { LIMIT_PATTERN } from './cross-chain-requests.ts'

/** What an operator reads. `isList`: the answer has `data` and, after the last row of a page that is not the last, `next`. */
export type AdminRead<Row = unknown, Path extends string = string> = Readonly<{
  path: Path
  summary: string
  description: string
  /** The least role. */
  role: OperatorRole
  query: TObject
  row: TUnsafe<Row>
  isList: boolean
}>

export type Kind = 'text' | 'time' | 'whole' | 'flag' | 'record' | 'list'
/** Kind, description, example. A kind that ends in `?` may be null. */
export type Column = readonly [kind: Kind | `${Kind}?`, description: string, example: unknown]

type Columns = Readonly<Record<string, Column>>
type Values = {
  text: string
  time: string
  whole: number
  flag: boolean
  record: Readonly<Record<string, unknown>>
  list: readonly unknown[]
}
type ValueOf<Text> = Text extends Kind
  ? Values[Text]
  : Text extends `${infer Plain extends Kind}?`
    ? Values[Plain] | null
    : never
export type RowOf<All extends Columns> = { readonly [Name in keyof All]: ValueOf<All[Name][0]> }

export const types: Readonly<Record<Kind, string>> = {
  text: 'string',
  time: 'string',
  whole: 'integer',
  flag: 'boolean',
  record: 'object',
  list: 'array',
}

export function toMember([kind, description, example]: Column): TSchema {
  const plain = kind.replace('?', '') as Kind
  const type = types[plain]
  return Type.Unsafe({
    type: kind.endsWith('?') ? [type, 'null'] : type,
    ...(plain === 'time' ? { format: 'date-time' } : {}),
    ...(plain === 'record' ? { additionalProperties: true } : {}),
    ...(plain === 'list' ? { items: {} } : {}),
    description,
    examples: [example],
  })
}

export const columnsOf = <const All extends Columns>(columns: All): TUnsafe<RowOf<All>> =>
  Type.Unsafe<RowOf<All>>(
    Type.Object(Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, toMember(column)]))),
  )

export const text = (description: string, example: string, maxLength = 200) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description, examples: [example] }))
export const oneOf = (values: readonly string[], description: string) =>
  Type.Optional(Type.String({ enum: [...values], description, examples: [values[0]] }))
export const day = (description: string, example: string) =>
  Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$', description, examples: [example] })
export const page = {
  cursor: text('`next` of the page before.', '1764150000000_0190a5c4-7d1e-7c3a-9b55-2f6d1c0e8a11', 1_000),
  limit: Type.Optional(
    Type.String({ pattern: LIMIT_PATTERN, default: '100', description: 'Rows of a page.', examples: ['100'] }),
  ),
}
export const period = { from: day('First day, in UTC.', '2026-11-01'), to: day('Last day, included.', '2026-11-30') }
export const UUID = '0190a5c4-7d1e-7c3a-9b55-2f6d1c0e8a11'
export const HASH = `0x${'ab'.repeat(32)}`
export const ADDRESS = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
export const at = ['time', 'When.', '2026-11-26T11:00:00.000Z'] as const satisfies Column

export type Options = Readonly<{ role?: OperatorRole; query?: Readonly<Record<string, TSchema>>; pages?: boolean }>
export type Texts<Path extends string> = readonly [path: Path, summary: string, description: string]

export function list<const All extends Columns, const Path extends string>(
  [path, summary, description]: Texts<Path>,
  columns: All,
  options: Options = {},
): AdminRead<RowOf<All>, `/admin/v1/${Path}`> {
  const { role = 'viewer', query = {}, pages = false } = options
  const members = { ...query, ...(pages ? page : {}) }
  return {
    path: `/admin/v1/${path}`,
    summary,
    description,
    role,
    query: Type.Object(members),
    row: columnsOf(columns),
    isList: true,
  }
}

export const one = <const All extends Columns, const Path extends string>(
  texts: Texts<Path>,
  columns: All,
  options?: Options,
): AdminRead<RowOf<All>, `/admin/v1/${Path}`> => ({ ...list(texts, columns, options), isList: false })
