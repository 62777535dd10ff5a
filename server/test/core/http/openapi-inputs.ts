import fc from 'fast-check'
import type { JsonSchema, Operation } from './openapi-operations.ts'

export type Input = {
  query: readonly (readonly [string, string])[]
  headers: Record<string, string>
  body: string | null
}

/** A value that fits a schema. Its examples come up often, so that some requests get somewhere. */
function fitting(schema: JsonSchema, example?: unknown): fc.Arbitrary<unknown> {
  const examples = [
    ...((schema['examples'] as unknown[] | undefined) ?? []),
    ...(example === undefined ? [] : [example]),
  ]
  const general = generalOf(schema)
  return examples.length === 0 ? general : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...examples) }, general)
}

function generalOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  const {
    enum: words,
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
  if (words) return fc.constantFrom(...words)
  if (schema['type'] === 'object') return fittingObject(schema)
  if (schema['type'] === 'boolean') return fc.boolean()
  if (schema['type'] === 'integer') return fc.integer({ min: minimum ?? 0, max: maximum ?? 1_000 })
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern), { maxLength: maxLength ?? 60 })
  // Any Unicode at all: NUL, marks and emoji included.
  return fc.string({ unit: 'binary', minLength: minLength ?? 0, maxLength: Math.min(maxLength ?? 64, 64) })
}

/** Half of them have what is required and no more: the optional members are what most requests are refused for. */
function fittingObject(schema: JsonSchema): fc.Arbitrary<Record<string, unknown>> {
  const properties = schema['properties'] as Record<string, JsonSchema>
  const required = (schema['required'] as string[] | undefined) ?? []
  const model = Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, fitting(member)]))
  const plain = Object.fromEntries(Object.entries(model).filter(([name]) => required.includes(name)))
  const dependent = (schema['dependentRequired'] as Record<string, string[]> | undefined) ?? {}
  const whole = fc.record(model, { requiredKeys: required }).map((value) => {
    const lacking = Object.entries(dependent).filter(
      ([name, needs]) => name in value && !needs.every((need) => need in value),
    )
    return Object.fromEntries(Object.entries(value).filter(([name]) => !lacking.some(([drop]) => drop === name)))
  })
  return fc.oneof(fc.record(plain), whole)
}

/** Well-formed by the document: whether it can be served is another matter. */
export function goodInput(operation: Operation): fc.Arbitrary<Input> {
  const parameters = operation.parameters.map(({ name, in: place, required, schema, example }) => {
    const value = fitting(schema, example).map((text) => ({ name, place, text: String(text) }))
    return required ? value : fc.option(value, { freq: 1 })
  })
  const body =
    operation.body === null ? fc.constant(null) : fittingObject(operation.body).map((value) => JSON.stringify(value))
  return fc.tuple(fc.tuple(...parameters), body).map(([given, text]) => {
    const present = given.filter((one) => one !== null)
    return {
      query: present.filter(({ place }) => place === 'query').map(({ name, text: value }) => [name, value] as const),
      headers: Object.fromEntries(
        present.filter(({ place }) => place === 'header').map(({ name, text: value }) => [name, value]),
      ),
      body: text,
    }
  })
}

/** Something is wrong for certain: the answer must be 400. */
export function badInput(operation: Operation): fc.Arbitrary<Input> | null {
  const spoilers = [...operation.parameters.flatMap(parameterSpoilers), ...bodySpoilers(operation.body)]
  if (spoilers.length === 0) return null
  return fc
    .tuple(goodInput(operation), fc.constantFrom(...spoilers), fc.string({ minLength: 1 }))
    .map(([input, spoil, junk]) => spoil(input, junk))
}

type Spoiler = (input: Input, junk: string) => Input

function parameterSpoilers({ name, in: place, required, schema }: Operation['parameters'][number]): Spoiler[] {
  const replace =
    (value: string): Spoiler =>
    (input) =>
      place === 'header'
        ? { ...input, headers: { ...input.headers, [name]: value } }
        : { ...input, query: [...input.query.filter(([other]) => other !== name), [name, value]] }
  const { pattern, maxLength } = schema as { pattern?: string; maxLength?: number }
  const spoilers: Spoiler[] = []
  if (place === 'query') {
    spoilers.push((input) => ({
      ...input,
      query: [...input.query.filter(([other]) => other !== name), [name, 'a'], [name, 'b']],
    }))
    spoilers.push((input, junk) => ({ ...input, query: [...input.query, [`${name}[${junk}]`, 'x']] }))
  }
  if (required) spoilers.push((input) => ({ ...input, query: input.query.filter(([other]) => other !== name) }))
  if (schema['enum'] || pattern?.includes('[0-9]')) spoilers.push(replace('no such word'), replace('-1'), replace('٣'))
  if (maxLength !== undefined) spoilers.push(replace('9'.repeat(maxLength + 1)))
  return spoilers
}

/** Whether a schema wants such a value. */
function takes(schema: JsonSchema, value: unknown): boolean {
  const types = [schema['type']].flat()
  if (typeof value === 'boolean') return types.includes('boolean')
  return typeof value === 'number' && (types.includes('integer') || types.includes('number'))
}

function bodySpoilers(body: JsonSchema | null): Spoiler[] {
  if (body === null) return []
  const change =
    (text: (body: Record<string, unknown>) => string): Spoiler =>
    (input) => ({
      ...input,
      body: text(JSON.parse(input.body ?? '{}')),
    })
  const properties = body['properties'] as Record<string, JsonSchema>
  const required = (body['required'] as string[] | undefined) ?? []
  const wrong = [7, true, null, [], {}, ['x'], { $ne: 'x' }]
  return [
    change((good) => JSON.stringify(good).slice(0, -1)),
    change((good) => JSON.stringify([good])),
    change(() => ''),
    (input, junk) => ({ ...input, body: JSON.stringify(junk) }),
    ...required.map((name) => change(({ [name]: _left, ...rest }) => JSON.stringify(rest))),
    ...Object.entries(properties).flatMap(([name, schema]) => [
      ...wrong
        .filter((value) => !takes(schema, value))
        .map((value) => change((good) => JSON.stringify({ ...good, [name]: value }))),
      ...(schema['enum'] ? [change((good) => JSON.stringify({ ...good, [name]: 'no such word' }))] : []),
      ...(typeof schema['maxLength'] === 'number'
        ? [change((good) => JSON.stringify({ ...good, [name]: '9'.repeat(Number(schema['maxLength']) + 1) }))]
        : []),
    ]),
  ]
}
