import Type, { type StaticDecode, type TObject, type TProperties, type TSchema, type TString } from 'typebox'
import Value from 'typebox/value'
import { present } from '../lib/assert.ts'

/* Building blocks of the settings: every default is stated once, in its schema, and decoded with it. */

/** Unknown members are refused: a typing error must not become a silent default. */
export const object = <Members extends TProperties>(members: Members, options: object = {}) =>
  Type.Object(members, { additionalProperties: false, ...options })

/** An object that may be absent as a whole: its members have defaults or are optional. */
export const section = <Members extends TProperties>(members: Members, description?: string) =>
  object(members, { default: {}, ...(description && { description }) })

const recordBy =
  (keys: TString, description: string) =>
  <Member extends TSchema>(member: Member, ownDescription = description) =>
    Type.Record(keys, member, { propertyNames: keys, default: {}, description: ownDescription })

export const byTicker = recordBy(Type.String({ pattern: '^[a-z0-9]{2,12}$' }), 'By ticker')
export const byAsset = recordBy(Type.String({ pattern: '^[a-z0-9]{2,12}@[a-z0-9]{2,12}$' }), 'By `ticker@network`')

export const httpUrl = (options: object = {}) => Type.String({ pattern: '^https?://', maxLength: 2048, ...options })

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

/** A wrong name is an error of the member and of the object that has it: one of the two is printed. */
const repeated = ['boolean', 'propertyNames']

/** Decodes with defaults. A member with a problem is replaced by its default, so that all others can be checked as well. */
export function decode<Schema extends TObject>(schema: Schema, content: unknown): Decoded<Schema> {
  const problems = [...Value.Errors(schema, Value.Default(schema, Value.Clone(content)))]
    .filter(({ keyword }) => !repeated.includes(keyword))
    .map((error) => ({ path: error.instancePath.slice(1).replaceAll('/', '.'), message: explain(error) }))
  const invalid = new Set(problems.map(({ path }) => path.split('.', 1)[0]))
  const isValid = (name: string) => Object.hasOwn(schema.properties, name) && !invalid.has(name)
  const valid = Object.fromEntries(Object.entries(content ?? {}).filter(([name]) => isValid(name)))
  return { value: Value.Decode(schema, valid), problems, isInvalid: (member) => invalid.has(member) }
}

function explain({ keyword, message, params }: { keyword: string; message: string; params: object }): string {
  const unknown = 'additionalProperties' in params ? params.additionalProperties : null
  if (keyword === 'additionalProperties' && Array.isArray(unknown)) return `has unknown members: ${unknown.join(', ')}`
  if (keyword === 'enum' && 'allowedValues' in params && Array.isArray(params.allowedValues))
    return `must be one of ${params.allowedValues.join(', ')}`
  return message
}
