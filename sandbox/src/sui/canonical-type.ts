import { TypeTagSerializer } from '@mysten/sui/bcs'

/** A Move type with full addresses, in the form in which BCS type tags are written. Throws on a malformed type. */
export const canonicalType = (type: string): string =>
  TypeTagSerializer.tagToString(TypeTagSerializer.parseFromStr(type, true))
