import { NUMBER_DIGITS_MAX } from '@swapyard/schema'
import type { TSchema } from 'typebox'
import type { Problem } from '../domain/errors.ts'
import { isRoundedMember } from './rounded-numbers.ts'

type Members = Record<string, unknown>
type ObjectSchema = TSchema & { properties?: Readonly<Record<string, TSchema>>; required?: readonly string[] }

/** Prepares the members of a query or a body for validation, in place. Returns the numbers that cannot be used. */
export type NormalizeMembers = (value: unknown) => readonly Problem[]

const NO_PROBLEMS: readonly Problem[] = []

/**
 * Makes different forms of one request equal: removes optional members that are null or empty, because many clients send
 * these for absent ones, and writes amounts that are JSON numbers as decimal text.
 */
export function createNormalizeMembers(schema: TSchema): NormalizeMembers {
  const { properties = {}, required = [] } = schema as ObjectSchema
  const optional = Object.keys(properties).filter((name) => !required.includes(name))
  const amounts = Object.entries(properties).flatMap(([name, member]) => (takesAmountNumber(member) ? [name] : []))
  return (value) => {
    if (typeof value !== 'object' || value === null) return NO_PROBLEMS
    const members = value as Members
    for (const name of optional) if (members[name] === null || members[name] === '') delete members[name]
    return amounts.length === 0 ? NO_PROBLEMS : writeAmounts(members, amounts)
  }
}

/** Percentages take numbers as well; their own reader converts them. */
function takesAmountNumber(member: TSchema): boolean {
  const { type, minimum, exclusiveMinimum } = member as TSchema & Record<string, unknown>
  return Array.isArray(type) && type.includes('number') && (minimum === 0 || exclusiveMinimum === 0)
}

function writeAmounts(members: Members, amounts: readonly string[]): readonly Problem[] {
  const problems: Problem[] = []
  for (const name of amounts) {
    const amount = members[name]
    if (typeof amount !== 'number') continue
    const text = isRoundedMember(members, name) ? null : decimalText(amount)
    if (text !== null) members[name] = text
    else problems.push({ code: 'AMOUNT_MALFORMED', field: name, message: `${name} ${TOO_PRECISE}` })
  }
  return problems
}

const TOO_PRECISE = `is a number with more than ${NUMBER_DIGITS_MAX} significant digits, which clients round: send it as text`

/** Plain decimal text of a number; null if it has more significant digits than a double keeps. */
export function decimalText(amount: number): string | null {
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] =
    /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(amount.toExponential()) ?? []
  const digits = whole + fraction
  if (digits.length > NUMBER_DIGITS_MAX) return null
  const point = 1 + Number.parseInt(exponent, 10)
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  if (point >= digits.length) return `${sign}${digits}${'0'.repeat(point - digits.length)}`
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}
