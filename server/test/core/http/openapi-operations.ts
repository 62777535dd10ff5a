import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'

type Json = { [key: string]: unknown }
export type JsonSchema = Json

export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  schema: JsonSchema
  example?: unknown
}
export type Operation = {
  method: string
  path: string
  needsKey: boolean
  parameters: Parameter[]
  body: JsonSchema | null
  /** By status: content type and validator of the body; null if there is no body. */
  responses: ReadonlyMap<number, { contentType: string; check: Validator | null } | null>
}

/** Reads the operations of an OpenAPI document and resolves all references. The document must not be recursive. */
export function readOperations(document: unknown): Operation[] {
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve)
    if (typeof value !== 'object' || value === null) return value
    const { $ref } = value as Json
    if (typeof $ref === 'string') return resolve(followReference(document, $ref))
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolve(member)]))
  }
  const { paths } = resolve(document) as { paths: Record<string, Record<string, Json>> }
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => toOperation(method.toUpperCase(), path, operation)),
  )
}

function followReference(document: unknown, reference: string): unknown {
  const steps = reference.replace(/^#\//, '').split('/')
  return steps.reduce<unknown>((inner, step) => (inner as Json | undefined)?.[step], document)
}

type Response = { content?: Record<string, { schema?: JsonSchema }> }

function toOperation(method: string, path: string, operation: Json): Operation {
  const {
    parameters = [],
    requestBody,
    responses,
    security,
  } = operation as {
    parameters?: Parameter[]
    requestBody?: { content: { 'application/json': { schema: JsonSchema } } }
    responses: Record<string, Response>
    security: unknown[]
  }
  return {
    method,
    path,
    needsKey: security.length > 0,
    parameters,
    body: requestBody?.content['application/json'].schema ?? null,
    responses: new Map(Object.entries(responses).map(([status, response]) => [Number(status), compileCheck(response)])),
  }
}

function compileCheck({ content }: Response) {
  const [first] = Object.entries(content ?? {})
  if (first === undefined) return null
  const [contentType, { schema }] = first
  const check = contentType === 'application/json' && schema ? Compile(schema as TSchema) : null
  return { contentType, check }
}
