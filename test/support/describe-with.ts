import { findProgram } from '@swapyard/lib/find-program.ts'
import { describe, type TestOptions, test } from 'vitest'
import { isBuildServer } from './build-server.ts'

/** Programs that npm does not install, with their Debian packages. */
const requirements = {
  chromium: { programs: ['chromium'], debianPackage: 'chromium' },
  litecoind: { programs: ['litecoind'], debianPackage: 'litecoind' },
  monerod: { programs: ['monerod', 'monero-wallet-rpc'], debianPackage: 'monero' },
} as const
export type Requirement = keyof typeof requirements

export const findOnPath = (program: string): string | null => findProgram(program, process.env['PATH'] ?? '')

export const hasProgram = (requirement: Requirement): boolean =>
  requirements[requirement].programs.every((program) => findOnPath(program) !== null)

/** `describe` for tests that need a program. If the program is missing, a build server fails and other machines skip. */
export function describeWith(
  requirement: Requirement,
  title: string,
  ...rest: [define: () => void] | [options: TestOptions, define: () => void]
): void {
  const [options, define] = rest.length === 1 ? [{}, rest[0]] : rest
  if (hasProgram(requirement)) return void describe(title, options, define)
  const message = `${requirement} is missing: install Debian's package ${requirements[requirement].debianPackage}`
  describe(title, () => {
    test(`needs ${requirement}`, ({ skip }) => {
      if (isBuildServer) throw new Error(message)
      skip(message)
    })
  })
}
