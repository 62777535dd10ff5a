import fc from 'fast-check'
import type { JsonSchema, Operation } from './openapi-operations.ts'

export type Input = {
  path: readonly (readonly [string, string])[]
  query: readonly (readonly [string, string])[]
  headers: Record<string, string>
  body: string | null
}

/** Generates values that match a schema. Examples are frequent, so that some requests succeed. */
function generateValue(schema: JsonSchema, example?: unknown): fc.Arbitrary<unknown> {
  const examples = [
    ...((schema['examples'] as unknown[] | undefined) ?? []),
    ...(example === undefined ? [] : [example]),
  ]
  const generated = generateFromSchema(schema)
  return examples.length === 0 ? generated : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...examples) }, generated)
}

function generateFromSchema(schema: JsonSchema): fc.Arbitrary<unknown> {
  const {
    enum: values,
    pattern,
    minLength,
    maxLength,
    minimum,
    maximum,
  } = schema as {
    enum?: unknown[]
    pattern?: string
    minLength?: number
    maxLength?: number
    minimum?: number
    maximum?: number
  }
  if (values) return fc.constantFrom(...values)
  const { anyOf } = schema as { anyOf?: JsonSchema[] }
  if (anyOf) return fc.oneof(...anyOf.map(generateFromSchema))
  if (schema['type'] === 'null') return fc.constant(null)
  if (schema['type'] === 'object') return generateObject(schema)
  if ([schema['type']].flat().includes('array'))
    return fc.array(generateFromSchema(schema['items'] as JsonSchema), { maxLength: Number(schema['maxItems'] ?? 5) })
  if (schema['type'] === 'boolean') return fc.boolean()
  if (schema['type'] === 'integer') return fc.integer({ min: minimum ?? 0, max: maximum ?? 1_000 })
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern), { maxLength: maxLength ?? 60 })
  // Any Unicode, including NUL, combining marks and emoji.
  return fc.string({ unit: 'binary', minLength: minLength ?? 0, maxLength: Math.min(maxLength ?? 64, 64) })
}

/** Half of the objects have only the required members, because optional members cause most refusals. */
function generateObject(schema: JsonSchema): fc.Arbitrary<Record<string, unknown>> {
  const properties = schema['properties'] as Record<string, JsonSchema>
  const required = (schema['required'] as string[] | undefined) ?? []
  const model = Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, generateValue(member)]))
  const requiredOnly = Object.fromEntries(Object.entries(model).filter(([name]) => required.includes(name)))
  return fc.oneof(fc.record(requiredOnly), fc.record(model, { requiredKeys: required }))
}

/** Generates input that matches the document. The server may still refuse it. */
export function generateGoodInput(operation: Operation): fc.Arbitrary<Input> {
  const parameters = operation.parameters.map(({ name, in: location, required, schema, example }) => {
    const value = generateValue(schema, example).map((text) => ({ name, location, text: String(text) }))
    return required ? value : fc.option(value, { freq: 1 })
  })
  const body =
    operation.body === null ? fc.constant(null) : generateObject(operation.body).map((value) => JSON.stringify(value))
  return fc.tuple(fc.tuple(...parameters), body).map(([generatedParameters, text]) => {
    const present = generatedParameters.filter((one) => one !== null)
    return {
      path: present
        .filter(({ location }) => location === 'path')
        .map(({ name, text: value }) => [name, value] as const),
      query: present
        .filter(({ location }) => location === 'query')
        .map(({ name, text: value }) => [name, value] as const),
      headers: Object.fromEntries(
        present.filter(({ location }) => location === 'header').map(({ name, text: value }) => [name, value]),
      ),
      body: text,
    }
  })
}

/** Generates input with one certain error: the answer must be 400. Null if the operation takes no input. */
export function generateBadInput(operation: Operation): fc.Arbitrary<Input> | null {
  const mutations = [...operation.parameters.flatMap(listParameterMutations), ...listBodyMutations(operation.body)]
  if (mutations.length === 0) return null
  return fc
    .tuple(generateGoodInput(operation), fc.constantFrom(...mutations), fc.string({ minLength: 1 }))
    .map(([input, mutate, randomText]) => mutate(input, randomText))
}

type Mutation = (input: Input, randomText: string) => Input

function listParameterMutations({ name, in: location, required, schema }: Operation['parameters'][number]): Mutation[] {
  const replace =
    (value: string): Mutation =>
    (input) =>
      location === 'header'
        ? { ...input, headers: { ...input.headers, [name]: value } }
        : { ...input, query: [...input.query.filter(([other]) => other !== name), [name, value]] }
  const { pattern, maxLength } = schema as { pattern?: string; maxLength?: number }
  const mutations: Mutation[] = []
  // A wrong one is not found, which good inputs show as well.
  if (location === 'path') return mutations
  if (location === 'query') {
    mutations.push((input) => ({
      ...input,
      query: [...input.query.filter(([other]) => other !== name), [name, 'a'], [name, 'b']],
    }))
    mutations.push((input, randomText) => ({ ...input, query: [...input.query, [`${name}[${randomText}]`, 'x']] }))
  }
  if (required) mutations.push((input) => ({ ...input, query: input.query.filter(([other]) => other !== name) }))
  if (schema['enum'] || schema['type'] === 'integer' || pattern?.includes('[0-9]'))
    mutations.push(replace('no such word'), replace('-1'), replace('٣'))
  if (maxLength !== undefined) mutations.push(replace('9'.repeat(maxLength + 1)))
  return mutations
}

/** The forms that a schema accepts: itself, or those of `anyOf`. */
const formsOf = (schema: JsonSchema): readonly JsonSchema[] =>
  (schema['anyOf'] as readonly JsonSchema[] | undefined) ?? [schema]

/** True if the values of a text are an enum. */
const isClosed = (schema: JsonSchema): boolean =>
  formsOf(schema).every((form) => 'enum' in form || form['type'] === 'null')

/** True if the schema accepts the type of the value. */
function acceptsType(schema: JsonSchema, value: unknown): boolean {
  const types = formsOf(schema).flatMap((form) => form['type'])
  if (value === null) return types.includes('null')
  // An empty list is a list of every type.
  if (Array.isArray(value)) return value.length === 0 && types.includes('array')
  if (typeof value === 'boolean') return types.includes('boolean')
  return typeof value === 'number' && (types.includes('integer') || types.includes('number'))
}

function listBodyMutations(body: JsonSchema | null): Mutation[] {
  if (body === null) return []
  const changeBody =
    (text: (body: Record<string, unknown>) => string): Mutation =>
    (input) => ({
      ...input,
      body: text(JSON.parse(input.body ?? '{}')),
    })
  const properties = body['properties'] as Record<string, JsonSchema>
  const required = (body['required'] as string[] | undefined) ?? []
  const wrongValues = [7, true, null, [], {}, ['x'], { $ne: 'x' }]
  return [
    changeBody((good) => JSON.stringify(good).slice(0, -1)),
    changeBody((good) => JSON.stringify([good])),
    changeBody(() => ''),
    (input, randomText) => ({ ...input, body: JSON.stringify(randomText) }),
    ...required.map((name) => changeBody(({ [name]: _removed, ...rest }) => JSON.stringify(rest))),
    ...Object.entries(properties).flatMap(([name, schema]) => [
      ...wrongValues
        .filter((value) => !acceptsType(schema, value))
        .map((value) => changeBody((good) => JSON.stringify({ ...good, [name]: value }))),
      ...(isClosed(schema) ? [changeBody((good) => JSON.stringify({ ...good, [name]: 'no such word' }))] : []),
      ...(typeof schema['maxLength'] === 'number'
        ? [changeBody((good) => JSON.stringify({ ...good, [name]: '9'.repeat(Number(schema['maxLength']) + 1) }))]
        : []),
    ]),
  ]
}
