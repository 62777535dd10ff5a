import {
  AMOUNT_OR_ZERO_PATTERN,
  AMOUNT_PATTERN,
  BEFORE_PATTERN,
  CHAIN_ID_PATTERN,
  DAY_PATTERN,
  EXTERNAL_ID_PATTERN,
  LIMIT_PATTERN,
  PAGE_PATTERN,
  PERCENT_PATTERN,
  REPORT_PAGE_PATTERN,
  TIME_PATTERN,
} from '@swapyard/schema'
import type { FastifyRequest, FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { TLocalizedValidationError } from 'typebox/error'
import { AppError, type ErrorCode, type Problem } from '../domain/errors.ts'
import { FEE_PPM, formatPercent, SLIPPAGE_PPM } from '../domain/percent.ts'
import { explainAmount, explainForm } from './explain-amount.ts'
import { createNormalizeMembers } from './normalize-members.ts'

/** An object schema of TypeBox with its members. */
type ObjectSchema = TSchema & { properties?: Readonly<Record<string, unknown>> }

/** Names that a route's schemas declare. */
export type KnownKeys = Readonly<{ query: ReadonlySet<string>; body: ReadonlySet<string> }>

/** Most problems listed in one answer. */
const PROBLEMS_MAX = 32
const NAME_LENGTH_MAX = 64
/** Bounds of each percentage. A malformed or negative value is out of range, too. */
type Percentage = Readonly<{ code: ErrorCode; least: number; most: number }>
const percentages: Readonly<Record<string, Percentage>> = {
  slippage: { code: 'SLIPPAGE_OUT_OF_RANGE', ...SLIPPAGE_PPM },
  referrerFee: { code: 'REFERRER_FEE_OUT_OF_RANGE', ...FEE_PPM },
}
const rangeCodes: ReadonlySet<ErrorCode> = new Set(Object.values(percentages).map(({ code }) => code))
const amountPatterns: ReadonlySet<unknown> = new Set([AMOUNT_PATTERN, AMOUNT_OR_ZERO_PATTERN])
/** Most digits of an amount before and after the decimal point. */
const AMOUNT_DIGITS = [40, 36] as const
/** The rule of a pattern, as text. */
const patternRules: Readonly<Record<string, string>> = {
  [PAGE_PATTERN]: 'must be a whole number from 1',
  [BEFORE_PATTERN]: 'must be the id of a delivery, such as 4711',
  [REPORT_PAGE_PATTERN]: 'must be the nextPage of an answer',
  [CHAIN_ID_PATTERN]: 'must be a chain id as text, such as 1',
  [DAY_PATTERN]: 'must be a day, such as 2026-11-26',
  [TIME_PATTERN]: 'must be a day or a time in UTC, such as 2026-11-26 or 2026-11-26T12:00:00Z',
  [LIMIT_PATTERN]: 'must be a whole number from 1 to 500',
  [EXTERNAL_ID_PATTERN]: 'must be 1 to 64 printable ASCII characters',
}

export function validationError(problems: readonly Problem[]): AppError {
  const [first] = problems
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
  // If the only problem is a percentage, the answer has its range code.
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
 * Compiles a request schema. Optional members that are null or empty are removed and amounts that are numbers become text;
 * nothing else is coerced or defaulted. The validator returns true, without allocating, or all problems at once.
 */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = Compile(schema)
  const declared = declaredKeys(schema)
  const normalize = createNormalizeMembers(schema)
  const part = httpPart === 'body' ? 'body' : 'query'
  return (value: unknown) => {
    const found = part === 'query' ? bracketProblems(value, declared) : NO_PROBLEMS
    const numbers = normalize(value)
    if (found.length + numbers.length === 0 && validator.Check(value)) return true
    const problems = toProblems({ errors: validator.Errors(value), sent: value }, part, [...found, ...numbers])
    return { error: validationError(problems) }
  }
}

function declaredKeys(schema: TSchema): ReadonlySet<string> {
  return new Set(Object.keys((schema as ObjectSchema).properties ?? {}))
}

/** Refuses `status[]=x` and `status[$ne]=x`, which are meant as `status`; other unknown keys are ignored. */
function bracketProblems(query: unknown, declared: ReadonlySet<string>): readonly Problem[] {
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
  return problems ?? NO_PROBLEMS
}

const NO_PROBLEMS: readonly Problem[] = []

/** Keeps one problem per field, the first; problems of `found` take precedence over a missing field. */
function toProblems(
  { errors, sent }: Readonly<{ errors: readonly TLocalizedValidationError[]; sent: unknown }>,
  part: 'body' | 'query',
  found: readonly Problem[],
): Problem[] {
  const byField = new Map(found.map((problem) => [problem.field ?? '', problem]))
  for (const error of errors) {
    for (const problem of problemsOf(error, part, sent)) {
      const key = problem.field ?? ''
      if (!byField.has(key)) byField.set(key, problem)
    }
  }
  return [...byField.values()]
}

function problemsOf(error: TLocalizedValidationError, part: 'body' | 'query', sent: unknown): Problem[] {
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
  if (error.keyword === 'pattern' && amountPatterns.has(error.params.pattern)) {
    const reason = explainAmount(valueAt(sent, error.instancePath), AMOUNT_DIGITS)
    return [{ code: 'AMOUNT_MALFORMED', field, message: `${field} ${reason}` }]
  }
  if (error.keyword === 'pattern' && error.params.pattern === PERCENT_PATTERN)
    return [percentProblem(field, valueAt(sent, error.instancePath))]
  if (error.keyword === 'enum') {
    const allowed = error.params.allowedValues
    return [{ code: 'VALIDATION_ERROR', field, message: `${field} must be one of: ${allowed.join(', ')}`, allowed }]
  }
  return [{ code: 'VALIDATION_ERROR', field, message: `${field} ${ruleOf(error)}` }]
}

function percentProblem(field: string, sent: unknown): Problem {
  const found = percentages[field]
  const form = 'a percentage in plain decimals, such as 0.5'
  const reason = explainForm(typeof sent === 'string' ? sent : '')
  const wrong = reason === null ? '' : `: ${reason}`
  if (found === undefined) return { code: 'VALIDATION_ERROR', field, message: `${field} must be ${form}${wrong}` }
  const [min, max] = [formatPercent(found.least), formatPercent(found.most)]
  const rule = reason === null ? `: ${min} to ${max}, in steps of 0.0001` : wrong
  return { code: found.code, field, message: `${field} must be ${form}${rule}`, min, max }
}

function valueAt(sent: unknown, instancePath: string): unknown {
  const [, ...names] = instancePath.split('/')
  return names.reduce<unknown>((value, name) => (value as Record<string, unknown> | null)?.[name], sent)
}

/** Describes the violated rule, never the value. */
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

/** Keys of query and body that the route does not know. They are refused for strict partners and ignored for others. */
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

/** A client's name, shortened and without characters that a page could interpret as markup. */
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
