/* Dynamic fields: objects of type 0x2::dynamic_field::Field<Name, Value> that belong to another object. */
import { TypeTagSerializer } from '@mysten/sui/bcs'
import { deriveDynamicFieldID, fromHex } from '@mysten/sui/utils'
import { canonicalType } from './canonical-type.ts'
import type { ObjectDraft, SuiObject } from './sui-object.ts'

/** A Move type, and a value of it in BCS. */
export type TypedBytes = Readonly<{ type: string; bytes: Uint8Array }>

export const FIELD_TYPE = canonicalType('0x2::dynamic_field::Field')
const idBytes = 32

export const fieldIdOf = (parent: string, { type, bytes }: TypedBytes): string =>
  deriveDynamicFieldID(parent, TypeTagSerializer.parseFromStr(type, true), bytes)

/** Dynamic fields as a running transaction sees them, with what it has changed. */
export type DynamicFields = Readonly<{
  /** Type and BCS of whole fields, name and value. */
  list(parent: string): readonly Pick<ObjectDraft, 'type' | 'contents'>[]
  /** BCS of the whole field; null without such a field. */
  find(parent: string, name: TypedBytes): Uint8Array | null
  /** Adds a field or replaces its value. */
  set(parent: string, name: TypedBytes, value: TypedBytes): void
  remove(parent: string, name: TypedBytes): void
}>

/** The objects before the transaction. */
type ObjectView = Readonly<{
  findObject(id: string): SuiObject | undefined
  listChildren(parent: string): readonly SuiObject[]
}>

export type FieldStore = Readonly<{
  fields: DynamicFields
  /** Written fields by id; null for a removed one. */
  changes: ReadonlyMap<string, ObjectDraft | null>
  /** The fields of the view that were read or changed. */
  listLoaded(): readonly SuiObject[]
}>

function createField(parent: string, name: TypedBytes, value: TypedBytes): ObjectDraft {
  return {
    type: canonicalType(`${FIELD_TYPE}<${name.type}, ${value.type}>`),
    hasPublicTransfer: false,
    contents: Uint8Array.of(...fromHex(fieldIdOf(parent, name)), ...name.bytes, ...value.bytes),
    owner: { kind: 'object', id: parent },
  }
}

const isOwnedBy = ({ owner }: ObjectDraft, parent: string): boolean => owner.kind === 'object' && owner.id === parent

/** The view does not change: the caller commits the changes. */
export function createFieldStore(view: ObjectView): FieldStore {
  const changes = new Map<string, ObjectDraft | null>()
  const loaded = new Map<string, SuiObject>()
  const load = (object: SuiObject) => loaded.set(object.id, object)

  const fields: DynamicFields = {
    list(parent) {
      const unchanged = view.listChildren(parent).filter(({ id }) => !changes.has(id))
      for (const object of unchanged) load(object)
      const written = [...changes.values()].flatMap((draft) => draft ?? []).filter((draft) => isOwnedBy(draft, parent))
      return [...unchanged, ...written].filter(({ type }) => type.startsWith(`${FIELD_TYPE}<`))
    },
    find(parent, name) {
      const id = fieldIdOf(parent, name)
      const changed = changes.get(id)
      if (changed !== undefined) return changed?.contents ?? null
      const object = view.findObject(id)
      if (object === undefined) return null
      load(object)
      return object.contents
    },
    set(parent, name, value) {
      fields.find(parent, name)
      changes.set(fieldIdOf(parent, name), createField(parent, name, value))
    },
    remove(parent, name) {
      if (fields.find(parent, name) !== null) changes.set(fieldIdOf(parent, name), null)
    },
  }
  return { fields, changes, listLoaded: () => [...loaded.values()] }
}

/** Length of the name in a field. The id is a hash of the name, so it shows where the name ends. */
export function nameLengthOf(field: SuiObject, parent: string, nameType: string): number | null {
  const rest = field.contents.subarray(idBytes)
  for (let length = 0; length <= rest.length; length += 1)
    if (fieldIdOf(parent, { type: nameType, bytes: rest.subarray(0, length) }) === field.id) return length
  return null
}
