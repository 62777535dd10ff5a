import type { TSchema } from 'typebox'
import { type Json, toParameterSchema } from './openapi-schemas.ts'

type ParameterNotes = Readonly<{ description?: string; examples?: readonly unknown[] }>

/** The members of a path or a query as parameters of an operation. */
export function describeParameters(place: 'path' | 'query', members: TSchema | undefined): Json[] {
  const { properties = {}, required } = (members ?? {}) as {
    properties?: Record<string, TSchema>
    required?: readonly string[]
  }
  return Object.entries(properties).map(([name, schema]) => {
    const { description = '', examples } = schema as ParameterNotes
    const plain = toParameterSchema(schema as unknown as Readonly<Record<string, unknown>>)
    const isNumber = (plain as { type?: unknown }).type === 'integer'
    const example = examples?.[0]
    return {
      name,
      in: place,
      required: required?.includes(name) ?? false,
      description,
      schema: plain,
      ...(example === undefined
        ? {}
        : { example: (isNumber ? Number.parseInt(String(example), 10) : example) as Json }),
    }
  })
}
