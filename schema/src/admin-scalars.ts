import Type from 'typebox'

/** An object with any members. */
export const openRecord = (description: string, example: object) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description, examples: [example] })
