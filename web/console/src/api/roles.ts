import type { OperatorRole, operatorRoles as wireRoles } from '@swapyard/schema'
import { useSession } from './session.ts'

/** As the schema has them, by their type. From the least to the most permitted. */
export const operatorRoles: typeof wireRoles = ['viewer', 'support', 'treasurer', 'admin']

/** Why the operator may not do what needs this role; null if it may. */
export function useMissingRole(least: string): string | null {
  const { role } = useSession()
  const rank = (one: string) => operatorRoles.indexOf(one as OperatorRole)
  return rank(role) >= rank(least) ? null : `Needs the role ${least}; yours is ${role}.`
}
