/** Writes `src/generated/` from the schemas of the API: `node sdk/generate.ts`. A test fails if the files are not current. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  openApiDocument,
  partnerErrorCodeNames,
  type RouteDefinition,
  routes,
  sandboxRoutes,
  terminalExchangeStatuses,
  terminalSwapStatuses,
} from '@swapyard/schema'
import { compile, type JSONSchema } from 'json-schema-to-typescript'

type Node = Readonly<Record<string, unknown>>
type Parameter = Readonly<{ name: string; in: string; required: boolean; description: string; schema: Node }>
type Operation = Readonly<{ parameters: readonly Parameter[]; requestBody?: Node; responses: Node }>

const folder = join(import.meta.dirname, 'src/generated')
const documented: Readonly<Record<string, RouteDefinition>> = { ...routes, ...sandboxRoutes }
/** A stream is no call with one answer. */
const definitions = Object.fromEntries(Object.entries(documented).filter(([id]) => id !== 'streamEvents'))
const document = openApiDocument(documented, { serverUrl: 'http://127.0.0.1:8080' }) as unknown as {
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  components: { schemas: Readonly<Record<string, Node>> }
}
const heading = '// Written by sdk/generate.ts from the schemas of the API. Do not edit.\n'

/** Requests with several forms: a member of the query, and the schema of the answer to it. */
const forms: Readonly<Record<string, readonly (readonly [member: string, result: string])[]>> = {
  getExchangeStatus: [
    ['id', 'ExchangeStatusAnswer'],
    ['ids', 'ExchangeStatusList'],
  ],
  getPartnerBalances: [
    ["format: 'csv'", 'string'],
    ["format?: 'json'", 'PartnerBalances'],
  ],
  getPartnerFees: [
    ["format: 'csv'", 'string'],
    ["format?: 'json'", 'PartnerFees'],
  ],
  listPartnerExchanges: [
    ["format: 'csv'", 'string'],
    ["format?: 'json'", 'ExchangeReport'],
  ],
}

const toTypeName = (operationId: string) => `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Query`

/** JSON Schema for the compiler of types: no examples, no patterns, and references to `definitions`. */
function toCompilerSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toCompilerSchema)
  if (typeof value !== 'object' || value === null) return value
  const { examples: _, example: __, ...members } = value as Node
  const { $ref, description, anyOf, type } = members
  // The API accepts a JSON number too, which may not be exact.
  if (Array.isArray(type) && type.join() === 'string,number') return { ...members, type: 'string' }
  // A reference with a description beside it would become a copy of its target.
  if (typeof $ref === 'string')
    return description === undefined
      ? { $ref: toDefinition($ref) }
      : { description, allOf: [{ $ref: toDefinition($ref) }] }
  const isOpenEnum =
    Array.isArray(anyOf) &&
    anyOf.some((one: Node) => '$ref' in one) &&
    anyOf.some((one: Node) => one['type'] === 'string')
  if (isOpenEnum) {
    // `string & {}` keeps the completion of the known values in editors.
    const open = (anyOf as Node[]).map((one) => (one['type'] === 'string' ? { tsType: '(string & {})' } : one))
    return { ...(toCompilerSchema({ ...members, anyOf: [] }) as Node), anyOf: open.map(toCompilerSchema) }
  }
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, toCompilerSchema(member)]))
}

const toDefinition = (reference: string) => reference.replace('#/components/schemas/', '#/definitions/')

function readOperation({ path, method }: RouteDefinition): Operation {
  const operation = document.paths[path]?.[method.toLowerCase()]
  if (operation === undefined) throw new Error(`${method} ${path} is not in the document`)
  return operation
}

/** Path parameters and query of an operation as an object schema; null without parameters. */
function toQuerySchema(operation: Operation): JSONSchema | null {
  const parameters = operation.parameters.filter((parameter) => parameter.in === 'query' || parameter.in === 'path')
  if (parameters.length === 0) return null
  return {
    type: 'object',
    additionalProperties: false,
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    properties: Object.fromEntries(
      parameters.map(({ name, description, schema }) => [
        name,
        toCompilerSchema({ ...schema, description }) as JSONSchema,
      ]),
    ),
  }
}

/** Arrays are typed as arrays, not as tuples of every length. */
async function writeTypes(): Promise<string> {
  const queries = Object.entries(definitions).flatMap(([operationId, route]) => {
    const schema = toQuerySchema(readOperation(route))
    return schema === null ? [] : [[toTypeName(operationId), schema] as const]
  })
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) => [name, toCompilerSchema(schema)] as const,
  )
  const all = Object.fromEntries([...schemas, ...queries].map(([name, schema]) => [name, closeObject(schema as Node)]))
  const text = await compile({ type: 'object', definitions: all } as JSONSchema, 'Unused', {
    additionalProperties: false,
    bannerComment: '',
    style: { printWidth: 120, semi: false, singleQuote: true },
    ignoreMinAndMaxItems: true,
    unreachableDefinitions: true,
  })
  return text
    .replace(/^export interface Unused \{\s*\}\n/m, '')
    .replaceAll(/ \* This interface was referenced by `Unused`'s JSON-Schema\n \* via the `definition` "\w+"\.\n/g, '')
    .replaceAll(/^\/\*\*\n \*\/\n/gm, '')
    .replaceAll(/^( *) \*\s*\n( *) \*\/\n/gm, '$2 */\n')
}

/** Titles would become names. */
const closeObject = ({ title: _, ...schema }: Node): Node => schema

/** Name of the type of a body or an answer. */
function toResultName(route: RouteDefinition): string {
  if (route.method === 'HEAD') return 'Headers'
  const [success] = Object.entries(route.success).filter(([status]) => status !== '304')
  if (success?.[1].contentType !== undefined) return 'string'
  const content = (readOperation(route).responses[success?.[0] ?? ''] as { content: Node }).content
  return toReferencedName(content)
}

function toReferencedName(content: Node): string {
  const { schema } = content['application/json'] as { schema: Node }
  const one = (schema['$ref'] ?? (schema['oneOf'] as Node[] | undefined)?.[0]?.['$ref']) as string | undefined
  if (one === undefined) throw new Error(`a schema without a name: ${JSON.stringify(schema).slice(0, 100)}`)
  return one.slice('#/components/schemas/'.length)
}

type InputKind = 'none' | 'path' | 'query' | 'body'

function readInput(
  operationId: string,
  route: RouteDefinition,
): { kind: InputKind; type: string; isOptional: boolean } {
  const operation = readOperation(route)
  if (operation.requestBody !== undefined)
    return { kind: 'body', type: toReferencedName(operation.requestBody['content'] as Node), isOptional: false }
  const query = toQuerySchema(operation)
  if (query === null) return { kind: 'none', type: '', isOptional: true }
  const isOptional = Array.isArray(query.required) && query.required.length === 0
  const hasQuery = operation.parameters.some((parameter) => parameter.in === 'query')
  return { kind: hasQuery ? 'query' : 'path', type: toTypeName(operationId), isOptional }
}

function writeMethod(operationId: string, route: RouteDefinition): string {
  const { kind, type, isOptional } = readInput(operationId, route)
  const comment = `  /** ${route.summary}: \`${route.method} ${route.path}\`. ${route.description} */`
  const signatures = (forms[operationId] ?? [[null, toResultName(route)] as const]).map(([member, result]) => {
    const input =
      member === null
        ? `input${isOptional ? '?' : ''}: ${type}`
        : `input${isOptional && member.includes('?') ? '?' : ''}: ${type} & { ${member.includes(':') ? member : `${member}: string`} }`
    return `  ${operationId}(${kind === 'none' ? '' : `${input}, `}options?: CallOptions): Promise<${result}>`
  })
  return [comment, ...signatures].join('\n')
}

function writeOperations(): string {
  const entries = Object.entries(definitions).map(([operationId, route]) => {
    const { kind } = readInput(operationId, route)
    const answer = { Headers: 'headers', string: 'xml' }[toResultName(route)] ?? 'json'
    return `  ${operationId}: ['${route.method}', '${route.path}', '${kind}', '${answer}'],`
  })
  const used = new Set(
    Object.entries(definitions).flatMap(([operationId, route]) => [
      readInput(operationId, route).type,
      ...(forms[operationId]?.map(([, result]) => result) ?? [toResultName(route)]),
    ]),
  )
  const imported = [...used].filter((name) => !['', 'string', 'Headers'].includes(name)).toSorted()
  return `${heading}import type { CallOptions } from '../http.ts'
import type {
${imported.map((name) => `  ${name},`).join('\n')}
} from './types.ts'

/** Method, path, the place of the input, and the kind of the answer. */
export const operations = {
${entries.join('\n')}
} as const

/** Every operation of the API by its id in the OpenAPI document. */
export interface Operations {
${Object.entries(definitions)
  .map(([operationId, route]) => writeMethod(operationId, route))
  .join('\n\n')}
}
`
}

const writeValues = () => `${heading}
export const errorCodes = ${toArray(partnerErrorCodeNames)} as const
export const terminalExchangeStatuses = ${toArray(terminalExchangeStatuses)} as const
export const terminalSwapStatuses = ${toArray(terminalSwapStatuses)} as const
`

const toArray = (values: readonly string[]) => `[${values.map((value) => `'${value}'`).join(', ')}]`

/** The generated files by name. */
export async function generate(): Promise<Readonly<Record<string, string>>> {
  return { 'operations.ts': writeOperations(), 'types.ts': heading + (await writeTypes()), 'values.ts': writeValues() }
}

export const readGenerated = (name: string): string => readFileSync(join(folder, name), 'utf8')

if (import.meta.main)
  for (const [name, text] of Object.entries(await generate())) writeFileSync(join(folder, name), text)
