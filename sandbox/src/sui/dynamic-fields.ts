/* Dynamic fields as messages. */
import { TypeTagSerializer } from '@mysten/sui/bcs'
import { GrpcTypes } from '@mysten/sui/grpc'
import { FIELD_TYPE, nameLengthOf } from './field-store.ts'
import type { Ledger } from './ledger.ts'
import { renderObject } from './render-messages.ts'
import type { SuiObject } from './sui-object.ts'

const idBytes = 32

function renderField(object: SuiObject, parent: string): GrpcTypes.DynamicField {
  const tag = TypeTagSerializer.parseFromStr(object.type, true)
  const [nameType, valueType] =
    'struct' in tag ? tag.struct.typeParams.map((part) => TypeTagSerializer.tagToString(part)) : []
  if (nameType === undefined || valueType === undefined) throw new Error(`${object.type} has no name and value`)
  const nameLength = nameLengthOf(object, parent, nameType)
  if (nameLength === null) throw new Error(`${object.id} is no id of a field of ${parent}`)
  const rest = object.contents.subarray(idBytes)
  return {
    ...{ kind: GrpcTypes.DynamicField_DynamicFieldKind.FIELD, parent, fieldId: object.id, valueType },
    fieldObject: renderObject(object),
    name: { name: nameType, value: rest.slice(0, nameLength) },
    value: { name: valueType, value: rest.slice(nameLength) },
  }
}

/** Ascending by id. */
export const listDynamicFields = (ledger: Ledger, parent: string): GrpcTypes.DynamicField[] =>
  ledger
    .listChildren(parent)
    .filter(({ type }) => type.startsWith(`${FIELD_TYPE}<`))
    .map((object) => renderField(object, parent))
    .sort((a, b) => ((a.fieldId ?? '') < (b.fieldId ?? '') ? -1 : 1))
