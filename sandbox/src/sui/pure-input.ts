import { type BcsType, bcs } from '@mysten/sui/bcs'

const bytesLength: Readonly<Record<string, number>> = {
  ...{ bool: 1, u8: 1, u16: 2, u32: 4, u64: 8, u128: 16, u256: 32, address: 32 },
}
const stringTypes = /^0x0*1::(string|ascii)::String$/
const idType = /^0x0*2::object::ID$/
const optionType = /^0x0*1::option::Option<(.+)>$/
const vectorType = /^vector<(.+)>$/

/** The BCS schema of a type that a pure input can have; null for all others. */
export function schemaOfPure(type: string): BcsType<unknown, unknown> | null {
  const length = bytesLength[type]
  if (type === 'bool') return bcs.bool() as BcsType<unknown, unknown>
  if (length !== undefined) return bcs.bytes(length) as BcsType<unknown, unknown>
  if (stringTypes.test(type)) return bcs.string() as BcsType<unknown, unknown>
  if (idType.test(type)) return bcs.Address as BcsType<unknown, unknown>
  const [, optional] = optionType.exec(type) ?? []
  const [, element] = vectorType.exec(type) ?? []
  const inner = schemaOfPure(optional ?? element ?? '')
  if (inner === null) return null
  return (optional === undefined ? bcs.vector(inner) : bcs.option(inner)) as BcsType<unknown, unknown>
}

/** Whether the bytes are exactly one value of the type. */
export function isPureOfType(schema: BcsType<unknown, unknown>, bytes: Uint8Array): boolean {
  try {
    const again = schema.serialize(schema.parse(bytes)).toBytes()
    return again.length === bytes.length && again.every((byte, i) => byte === bytes[i])
  } catch {
    return false
  }
}
