import { findProgram } from '@swapyard/lib/find-program.ts'
import { describe, type TestOptions, test } from 'vitest'

/** Programs that npm does not install. All belong to Debian packages. */
const requirements = {
  chromium: { programs: ['chromium'], debianPackage: 'chromium' },
  litecoind: { programs: ['litecoind'], debianPackage: 'litecoind' },
  monerod: { programs: ['monerod', 'monero-wallet-rpc'], debianPackage: 'monero' },
} as const
export type Requirement = keyof typeof requirements

const isBuildServer = (process.env['CI'] ?? '') !== ''

export const findOnPath = (program: string): string | null => findProgram(program, process.env['PATH'] ?? '')

export const hasProgram = (requirement: Requirement): boolean =>
  requirements[requirement].programs.every((program) => findOnPath(program) !== null)

/** `describe` for tests that need such a program. A missing program fails on a build server and skips elsewhere. */
export function describeWith(
  requirement: Requirement,
  title: string,
  ...rest: [define: () => void] | [options: TestOptions, define: () => void]
): void {
  const [options, define] = rest.length === 1 ? [{}, rest[0]] : rest
  if (hasProgram(requirement)) return void describe(title, options, define)
  const sentence = `${requirement} is missing: install Debian's package ${requirements[requirement].debianPackage}`
  describe(title, () => {
    test(`needs ${requirement}`, ({ skip }) => {
      if (isBuildServer) throw new Error(sentence)
      skip(sentence)
    })
  })
}
