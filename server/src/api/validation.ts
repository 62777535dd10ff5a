import { AMOUNT_PATTERN, LIMIT_PATTERN, PAGE_PATTERN, PERCENT_PATTERN, TOKEN_AMOUNT_PATTERN } from '@swapyard/schema'
import type { FastifyRequest, FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { TLocalizedValidationError } from 'typebox/error'
import { AppError, type ErrorCode, type Problem } from '../domain/errors.ts'

/** What TypeBox makes of an object: its members. */
type ObjectSchema = TSchema & { properties?: Readonly<Record<string, unknown>> }

/** Names that a route's schemas declare. */
export type KnownKeys = Readonly<{ query: ReadonlySet<string>; body: ReadonlySet<string> }>

/** Problems named in one answer; a body of thousands of wrong keys is not listed in full. */
const PROBLEMS_MAX = 32
const NAME_LENGTH_MAX = 64
/** Percentages have bounds: what is no percentage, or below zero, lies outside them. */
const percentCodes: Readonly<Record<string, ErrorCode>> = {
  slippage: 'SLIPPAGE_OUT_OF_RANGE',
  referrerFee: 'REFERRER_FEE_OUT_OF_RANGE',
}
const rangeCodes: ReadonlySet<ErrorCode> = new Set(Object.values(percentCodes))
const amountPatterns: ReadonlySet<string> = new Set([AMOUNT_PATTERN, TOKEN_AMOUNT_PATTERN])
/** What a pattern asks for, in words. */
const patternRules: Readonly<Record<string, string>> = {
  [PAGE_PATTERN]: 'must be a whole number from 1',
  [LIMIT_PATTERN]: 'must be a whole number from 1 to 500',
}

export function validationError(problems: readonly Problem[]): AppError {
  const [first] = problems
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
  // As a percentage beyond its bounds is refused, so is one that is none, where that is all.
  const isOutOfRange =
    first !== undefined && rangeCodes.has(first.code) && problems.every(({ code }) => code === first.code)
  return new AppError(
    isOutOfRange ? first.code : 'VALIDATION_ERROR',
    `${first?.message ?? 'the request is not valid'}${more}`,
    {
      problems: problems.slice(0, PROBLEMS_MAX),
    },
  )
}

/**
 * Compiles a request schema. Nothing is coerced, filled in or removed: what was checked is what is used. Returns true,
 * which costs no allocation, or all problems at once.
 */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = Compile(schema)
  const declared = declaredKeys(schema)
  const part = httpPart === 'body' ? 'body' : 'query'
  return (value: unknown) => {
    const bracketed = part === 'query' ? bracketProblems(value, declared) : null
    if (bracketed === null && validator.Check(value)) return true
    return { error: validationError(toProblems(validator.Errors(value), part, bracketed ?? [])) }
  }
}

function declaredKeys(schema: TSchema): ReadonlySet<string> {
  return new Set(Object.keys((schema as ObjectSchema).properties ?? {}))
}

/** `status[]=x` and `status[$ne]=x` mean to be `status`: refused, where other unknown keys are ignored. */
function bracketProblems(query: unknown, declared: ReadonlySet<string>): Problem[] | null {
  let problems: Problem[] | null = null
  for (const key in query as Record<string, unknown>) {
    if (declared.has(key)) continue
    const bracket = key.indexOf('[')
    if (bracket <= 0) continue
    const field = key.slice(0, bracket)
    if (!declared.has(field)) continue
    problems ??= []
    problems.push({ code: 'VALIDATION_ERROR', field, message: `${field} must be given once, as plain text` })
  }
  return problems
}

/** One problem a field: the first that was found says most, and those of `found` more than that the field is missing. */
function toProblems(
  errors: readonly TLocalizedValidationError[],
  part: 'body' | 'query',
  found: readonly Problem[],
): Problem[] {
  const byField = new Map(found.map((problem) => [problem.field ?? '', problem]))
  for (const error of errors) {
    for (const problem of problemsOf(error, part)) {
      const key = problem.field ?? ''
      if (!byField.has(key)) byField.set(key, problem)
    }
  }
  return [...byField.values()]
}

function problemsOf(error: TLocalizedValidationError, part: 'body' | 'query'): Problem[] {
  const path = error.instancePath.split('/').slice(1).join('.')
  if (error.keyword === 'required') {
    return error.params.requiredProperties.map((name) => {
      const field = path === '' ? name : `${path}.${name}`
      return { code: 'VALIDATION_ERROR', field, message: `${field} is required` }
    })
  }
  if (error.keyword === 'dependentRequired') {
    const { property, dependencies } = error.params
    const message = `${property} needs ${dependencies.join(', ')}`
    return [{ code: 'VALIDATION_ERROR', field: property, message }]
  }
  const field = path === '' ? part : path
  if (error.keyword === 'pattern' && amountPatterns.has(String(error.params.pattern))) {
    return [
      { code: 'AMOUNT_MALFORMED', field, message: `${field} must be a plain decimal amount above zero, such as 0.01` },
    ]
  }
  if (error.keyword === 'pattern' && error.params.pattern === PERCENT_PATTERN) {
    const code = percentCodes[field] ?? 'VALIDATION_ERROR'
    return [{ code, field, message: `${field} must be a percentage in plain decimals, such as 0.5` }]
  }
  if (error.keyword === 'enum') {
    const allowed = error.params.allowedValues
    return [{ code: 'VALIDATION_ERROR', field, message: `${field} must be one of: ${allowed.join(', ')}`, allowed }]
  }
  return [{ code: 'VALIDATION_ERROR', field, message: `${field} ${ruleOf(error)}` }]
}

/** The rule that was broken, never the value that broke it. */
function ruleOf(error: TLocalizedValidationError): string {
  switch (error.keyword) {
    case 'type': {
      const types = [error.params.type].flat().join(' or ')
      return types === 'string' ? 'must be given once, as text' : `must be of type ${types}`
    }
    case 'minLength':
      return 'must not be empty'
    case 'maxLength':
      return `must not be longer than ${error.params.limit} characters`
    case 'minimum':
    case 'maximum':
      return `must be ${error.params.comparison} ${error.params.limit}`
    case 'pattern':
      return patternRules[String(error.params.pattern)] ?? 'is not valid'
    default:
      return 'is not valid'
  }
}

/** Keys of query and body that the route does not know: a strict partner has them refused, for others they are not there. */
export function unknownKeyProblems(request: Pick<FastifyRequest, 'query' | 'body'>, known: KnownKeys): Problem[] {
  const problems: Problem[] = []
  for (const part of ['query', 'body'] as const) {
    const sent = request[part]
    if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) continue
    for (const key of Object.keys(sent)) {
      if (known[part].has(key)) continue
      const field = printable(key)
      problems.push({ code: 'VALIDATION_ERROR', field, message: `${field} is not a known ${part} member` })
      if (problems.length > PROBLEMS_MAX) return problems
    }
  }
  return problems
}

/** A name that came from outside, as it may stand in a message: short, and free of what a page could take for markup. */
function printable(name: string): string {
  return name.slice(0, NAME_LENGTH_MAX).replace(/[^A-Za-z0-9_.$[\]-]/g, '?')
}

export function knownKeys(route: { query?: TSchema; body?: TSchema }): KnownKeys {
  const none: ReadonlySet<string> = new Set()
  return {
    query: route.query ? declaredKeys(route.query) : none,
    body: route.body ? declaredKeys(route.body) : none,
  }
}
