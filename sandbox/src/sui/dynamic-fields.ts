/* Dynamic fields that a caller has put into the ledger as objects of type 0x2::dynamic_field::Field<Name, Value>. */
import { TypeTagSerializer } from '@mysten/sui/bcs'
import { GrpcTypes } from '@mysten/sui/grpc'
import { canonicalType } from './canonical-type.ts'
import type { Ledger } from './ledger.ts'
import { schemaOfPure } from './pure-input.ts'
import { renderObject } from './render-messages.ts'
import type { SuiObject } from './sui-object.ts'

const FIELD = `${canonicalType('0x2::dynamic_field::Field')}<`
const idBytes = 32

/** Name and value of a field whose name is a number, an address or text; other names are not taken apart. */
function renderField(object: SuiObject, parent: string): GrpcTypes.DynamicField {
  const tag = TypeTagSerializer.parseFromStr(object.type, true)
  const [nameTag, valueTag] = 'struct' in tag ? tag.struct.typeParams : []
  if (nameTag === undefined || valueTag === undefined) throw new Error(`${object.type} has no name and value`)
  const [nameType, valueType] = [nameTag, valueTag].map((part) => TypeTagSerializer.tagToString(part)) as [
    string,
    string,
  ]
  const field = {
    ...{ kind: GrpcTypes.DynamicField_DynamicFieldKind.FIELD, parent, fieldId: object.id, valueType },
    fieldObject: renderObject(object),
  }
  const rest = object.contents.subarray(idBytes)
  const schema = schemaOfPure(nameType)
  if (schema === null) return field
  const nameLength = schema.serialize(schema.parse(rest)).toBytes().length
  return {
    ...field,
    name: { name: nameType, value: rest.slice(0, nameLength) },
    value: { name: valueType, value: rest.slice(nameLength) },
  }
}

/** Ascending by id. */
export const listDynamicFields = (ledger: Ledger, parent: string): GrpcTypes.DynamicField[] =>
  ledger
    .listChildren(parent)
    .filter(({ type }) => type.startsWith(FIELD))
    .map((object) => renderField(object, parent))
    .sort((a, b) => ((a.fieldId ?? '') < (b.fieldId ?? '') ? -1 : 1))
