/* Field masks of requests: only the named fields of a message are sent. */
import { GrpcTypes } from '@mysten/sui/grpc'
import { invalidArgument } from './grpc-error.ts'

type Field = Readonly<{
  name: string
  localName: string
  kind: string
  oneof?: string | undefined
  repeat?: unknown
  T?: unknown
}>
export type MessageSchema = Readonly<{ fields: readonly Field[] }>
/** An empty tree selects the whole field. */
type MaskTree = Map<string, MaskTree>

const wildcard = '*'

function parseTree(paths: readonly string[]): MaskTree {
  const root: MaskTree = new Map()
  const whole = new Set<MaskTree>()
  for (const path of paths) {
    let node = root
    for (const part of path.split('.')) {
      if (whole.has(node)) break
      const next = node.get(part) ?? new Map()
      node.set(part, next)
      node = next
    }
    whole.add(node)
    node.clear()
  }
  return root
}

const schemaOf = (field: Field): MessageSchema | null =>
  field.kind === 'message' ? (field.T as () => MessageSchema)() : null

function validate(schema: MessageSchema, tree: MaskTree, prefix: string): void {
  for (const [name, below] of tree) {
    if (name === wildcard && prefix === '') continue
    const path = `${prefix}${name}`
    const field = schema.fields.find((entry) => entry.name === name)
    if (field === undefined) throw invalidArgument(`invalid read_mask path: ${path}`)
    if (below.size === 0) continue
    const inner = schemaOf(field)
    if (inner === null) throw invalidArgument(`invalid read_mask path: ${path}.${[...below.keys()][0]}`)
    validate(inner, below, `${path}.`)
  }
}

function select(schema: MessageSchema, message: Record<string, unknown>, tree: MaskTree): Record<string, unknown> {
  const selected: Record<string, unknown> = {}
  for (const field of schema.fields) {
    const below = tree.get(field.name)
    const inner = schemaOf(field)
    const pick = (value: unknown) =>
      inner === null || below === undefined || below.size === 0 || value === undefined
        ? value
        : select(inner, value as Record<string, unknown>, below)
    if (field.oneof !== undefined) {
      const group = message[field.oneof] as Record<string, unknown> | undefined
      selected[field.oneof] ??= { oneofKind: undefined }
      if (below !== undefined && group?.['oneofKind'] === field.localName)
        selected[field.oneof] = { oneofKind: field.localName, [field.localName]: pick(group[field.localName]) }
    } else if (field.kind === 'map') {
      selected[field.localName] = below === undefined ? {} : (message[field.localName] ?? {})
    } else if (field.repeat) {
      const list = (message[field.localName] as unknown[] | undefined) ?? []
      selected[field.localName] = below === undefined ? [] : list.map(pick)
    } else if (below !== undefined && message[field.localName] !== undefined) {
      selected[field.localName] = pick(message[field.localName])
    }
  }
  return selected
}

export type FieldMask<T> = Readonly<{ apply(message: T): T }>

/** Refuses paths that the message does not have. */
export function readMask<T extends object>(
  schema: MessageSchema,
  mask: { paths: string[] } | undefined,
  defaultPaths: string,
): FieldMask<T> {
  const tree = parseTree(mask?.paths ?? defaultPaths.split(','))
  validate(schema, tree, '')
  if (tree.has(wildcard)) return { apply: (message) => message }
  return { apply: (message) => select(schema, message as Record<string, unknown>, tree) as T }
}

export const maskOfTransaction = (mask: { paths: string[] } | undefined, defaultPaths: string) =>
  readMask<GrpcTypes.ExecutedTransaction>(GrpcTypes.ExecutedTransaction, mask, defaultPaths)
export const maskOfObject = (mask: { paths: string[] } | undefined, defaultPaths: string) =>
  readMask<GrpcTypes.Object>(GrpcTypes.Object, mask, defaultPaths)
export const maskOfCheckpoint = (mask: { paths: string[] } | undefined) =>
  readMask<GrpcTypes.Checkpoint>(GrpcTypes.Checkpoint, mask, 'sequence_number,digest')
