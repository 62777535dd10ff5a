import Type, { type TSchema } from 'typebox'
import { isRecord } from '../lib/is-record.ts'
import { environmentSchema, isSecret } from './environment.ts'
import { fileSchema } from './file.ts'
import type { Config } from './load.ts'
import { showsHost } from './schema.ts'

const MASK = '[secret]'
/** Entries of a list that are shown: `screening.denied` may have 100,000. */
const LISTED_MAX = 1_000

type Setting = readonly [name: string, value: unknown]

/**
 * The settings in force, for the log and the console: every setting by its name in docs/settings.md, in the format in which
 * it is written. null = not set. Secrets are masked, and URLs reduced to their host.
 */
export function describeConfig({ given, outputs }: Config): Readonly<Record<string, unknown>> {
  const variables = Object.entries(environmentSchema.properties)
  // What is not in the file has its default by network.
  const bitcoin = { ...(isRecord(given.file['bitcoin']) ? given.file['bitcoin'] : {}) }
  const file = { ...given.file, bitcoin: { ...bitcoin, consolidateBelow: Object.fromEntries(outputs.cheapRates) } }
  return Object.fromEntries([
    ...variables.flatMap(([name, schema]) => listSettings(name, schema, given.variables[name])),
    ...listSettings('', fileSchema, file),
  ])
}

/** `value` undefined: the default, if there is one. null: a part of something that is not set. */
function listSettings(path: string, schema: TSchema, value: unknown): readonly Setting[] {
  const set = value === undefined ? defaultOf(schema) : value
  const below = (name: string) => (path === '' ? name : `${path}.${name}`)
  if (Type.IsObject(schema))
    return Object.entries(schema.properties).flatMap(([name, member]) =>
      listSettings(below(name), member, isRecord(set) ? set[name] : null),
    )
  if (Type.IsRecord(schema) && isRecord(set) && Object.keys(set).length > 0)
    return Object.entries(set).flatMap(([name, one]) => listSettings(below(name), Type.RecordValue(schema), one))
  if (Type.IsRecord(schema)) return [[path, null]]
  if (Type.IsArray(schema) && Type.IsObject(schema.items) && Array.isArray(set) && set.length > 0)
    return listObjects(path, schema.items, set)
  return [[path, show(schema, set)]]
}

function listObjects(path: string, schema: TSchema, items: readonly unknown[]): readonly Setting[] {
  const shown = items.slice(0, LISTED_MAX).flatMap((one, index) => listSettings(`${path}.${index}`, schema, one))
  return items.length > LISTED_MAX ? [...shown, [path, more(items)]] : shown
}

function show(schema: TSchema, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (Type.IsArray(schema) && Array.isArray(value)) {
    const shown = value.slice(0, LISTED_MAX).map((one) => show(schema.items, one))
    return value.length > LISTED_MAX ? [...shown, more(value)] : shown
  }
  if (showsHost(schema)) return hostOf(String(value))
  return isSecret(schema) ? MASK : value
}

const more = (items: readonly unknown[]): string => `and ${items.length - LISTED_MAX} more`

const defaultOf = (schema: TSchema): unknown => ('default' in schema ? schema.default : null)

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : MASK)
