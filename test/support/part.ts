import { isBuildServer } from './build-server.ts'
import { seed } from './seed.ts'

/**
 * Of a long list of cases, the part that a build server runs: one of `parts`, chosen by the commit, so that a few builds run them
 * all. Elsewhere all (docs/decisions/0153).
 */
export const partOf = <T>(cases: readonly T[], parts: number): T[] =>
  cases.filter((_, n) => !isBuildServer || n % parts === seed % parts)
