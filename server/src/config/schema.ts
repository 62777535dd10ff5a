import Type, { type StaticDecode, type TObject, type TProperties, type TSchema } from 'typebox'
import Value from 'typebox/value'
import { currencies } from '../../currencies/index.ts'
import { dexNetworks } from '../../dexes/index.ts'
import { networks } from '../../networks/index.ts'
import { present } from '../lib/assert.ts'
import { findClosestName } from '../lib/closest-name.ts'
import { swapNetworks } from '../swap/domain/swap.ts'

/* Building blocks of the settings: every default is stated once, in its schema, and decoded with it. */

/** Unknown members are refused: a typing error must not become a silent default. */
export const object = <Members extends TProperties>(members: Members, options: object = {}) =>
  Type.Object(members, { additionalProperties: false, ...options })

/** An object that may be absent as a whole: its members have defaults or are optional. */
export const section = <Members extends TProperties>(members: Members, description?: string) =>
  object(members, { default: {}, ...(description && { description }) })

/** The names that the program knows, and what they name. */
export type KnownNames = Readonly<{ kind: string; names: readonly string[] }>

/** A map whose keys are refused unless they are among `known`. */
const recordBy =
  (known: KnownNames, description: string) =>
  <Member extends TSchema>(member: Member, ownDescription = description) =>
    Type.Record(Type.String(), member, { known, default: {}, description: ownDescription })

const networkIds = networks.map(({ id }) => id)
export const knownNetworks: KnownNames = { kind: 'network', names: networkIds }
const knownSwapNetworks: KnownNames = { kind: 'network with swaps', names: swapNetworks }
const knownAssets: KnownNames = {
  kind: 'listed currency',
  names: currencies.map(({ ticker, network }) => `${ticker}@${network}`),
}

const knownDexes: KnownNames = {
  kind: 'DEX whose pools are listed',
  names: dexNetworks.filter(({ network }) => network === 'sui').flatMap(({ dexes }) => dexes.map(({ name }) => name)),
}

export const byNetwork = recordBy(knownNetworks, 'By ticker')
export const bySwapNetwork = recordBy(knownSwapNetworks, 'By ticker')
export const byDex = recordBy(knownDexes, 'By the name of the DEX; on `sui`')
export const byAsset = recordBy(knownAssets, 'By `ticker@network`')

/** Paths and queries of URLs may hold keys: settings in force show the host alone. */
export const httpUrl = (options: object = {}) =>
  Type.String({ pattern: '^https?://', maxLength: 2048, shows: 'host', ...options })

export const showsHost = (schema: TSchema): boolean => 'shows' in schema && schema.shows === 'host'

export const oneOf = <Value extends string>(values: readonly Value[], defaultValue: Value, description: string) =>
  Type.Unsafe<Value>(Type.String({ enum: [...values], default: defaultValue, description }))

/** From the largest unit: a default is printed in the largest that divides it. */
const unitsMs: ReadonlyMap<string, number> = new Map([
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
])

/** Text such as `20m`, decoded to milliseconds. */
export const duration = (defaultMs: number, description: string, pattern = '^[1-9][0-9]{0,8}(ms|s|m|h|d)$') =>
  Type.Decode(Type.String({ pattern, default: formatDuration(defaultMs), description }), toMs)

/** A duration without a default. */
export const optionalDuration = (description: string) =>
  Type.Optional(Type.Decode(Type.String({ pattern: '^[1-9][0-9]{0,8}(ms|s|m|h|d)$', description }), toMs))

function formatDuration(ms: number): string {
  const [unit, unitMs] = present(
    [...unitsMs].find(([, each]) => ms % each === 0),
    `a unit for ${ms} ms`,
  )
  return `${ms / unitMs}${unit}`
}

const toMs = (text: string): number =>
  Number.parseInt(text, 10) * present(unitsMs.get(text.replace(/[0-9]+/, '')), `the unit of ${text}`)

type Range = readonly [minimum: number, maximum: number]

/** A whole number without a default. */
export const integer = ([minimum, maximum]: Range, description: string, options: object = {}) =>
  Type.Integer({ minimum, maximum, description, ...options })

/** A whole number with a default. */
export const whole = (defaultValue: number, range: Range, description: string) =>
  integer(range, description, { default: defaultValue })

/** A whole number in a unit for people, decoded to the unit of the services, which is `factor` times smaller. */
export const scaled = (factor: number, defaultValue: number, range: Range, description: string) =>
  Type.Decode(whole(defaultValue / factor, range, description), (value) => value * factor)

export type Problem = Readonly<{
  /** The member, its own members after dots; empty for the whole. */
  path: string
  message: string
}>

export type Decoded<Schema extends TObject> = Readonly<{
  value: StaticDecode<Schema>
  problems: readonly Problem[]
  isInvalid(member: string): boolean
}>

/** Problems of names come from `findUnknownNames`. */
const ofNames = ['boolean', 'propertyNames', 'additionalProperties']

/** Decodes with defaults. A member with a problem is replaced by its default, so that all others can be checked as well. */
export function decode<Schema extends TObject>(schema: Schema, content: unknown): Decoded<Schema> {
  const others = [...Value.Errors(schema, Value.Default(schema, Value.Clone(content)))]
    .filter(({ keyword }) => !ofNames.includes(keyword))
    .map((error) => ({ path: error.instancePath.slice(1).replaceAll('/', '.'), message: explain(error) }))
  const problems = [...findUnknownNames(schema, content, ''), ...others]
  const invalid = new Set(problems.map(({ path }) => path.split('.', 1)[0]))
  const isValid = (name: string) => Object.hasOwn(schema.properties, name) && !invalid.has(name)
  const valid = Object.fromEntries(Object.entries(content ?? {}).filter(([name]) => isValid(name)))
  return { value: Value.Decode(schema, valid), problems, isInvalid: (member) => invalid.has(member) }
}

function explain({ keyword, message, params }: { keyword: string; message: string; params: object }): string {
  if (keyword === 'enum' && 'allowedValues' in params && Array.isArray(params.allowedValues))
    return `must be one of ${params.allowedValues.join(', ')}`
  return message
}

type Annotated = TSchema &
  Readonly<{ known?: KnownNames; properties?: Readonly<Record<string, TSchema>>; items?: TSchema }>

/** Names of the content that the schema does not know, each with its path and the closest known name. */
function findUnknownNames(schema: TSchema, content: unknown, path: string): readonly Problem[] {
  if (typeof content !== 'object' || content === null) return []
  const { known, properties, items } = schema as Annotated
  const below = (name: string) => (path === '' ? name : `${path}.${name}`)
  if (Array.isArray(content))
    return items ? content.flatMap((item, index) => findUnknownNames(items, item, below(String(index)))) : []
  const { kind, names } = known ?? { kind: 'setting', names: Object.keys(properties ?? {}) }
  if (names.length === 0) return []
  return Object.entries(content).flatMap(([name, value]) => {
    if (!names.includes(name)) return [{ path: below(name), message: unknownName(kind, name, names) }]
    const member = Type.IsRecord(schema) ? Type.RecordValue(schema) : properties?.[name]
    return member ? findUnknownNames(member, value, below(name)) : []
  })
}

export const unknownName = (kind: string, name: string, names: readonly string[]): string =>
  `is not a ${kind}; did you mean ${findClosestName(name.toLowerCase(), names)}?`
