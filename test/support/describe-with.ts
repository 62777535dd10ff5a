import { findProgram } from '@swapyard/lib/find-program.ts'
import { describe, type TestOptions, test } from 'vitest'
import { isBuildServer } from './build-server.ts'
import { findDebianPostgres } from './debian-postgres.ts'

export const findOnPath = (program: string): string | null => findProgram(program, process.env['PATH'] ?? '')

/** The shell is the engine of Chromium without the windows of a browser, so a test takes a fifth less of the processor. */
export const findChromium = (): string | null => findOnPath('chromium-headless-shell') ?? findOnPath('chromium')

const areOnPath =
  (...programs: readonly string[]) =>
  () =>
    programs.every((program) => findOnPath(program) !== null)

/** Programs that npm does not install, with their Debian packages. */
const requirements = {
  chromium: { isInstalled: () => findChromium() !== null, debianPackage: 'chromium-headless-shell' },
  litecoind: { isInstalled: areOnPath('litecoind'), debianPackage: 'litecoind' },
  monerod: { isInstalled: areOnPath('monerod', 'monero-wallet-rpc'), debianPackage: 'monero' },
  jq: { isInstalled: areOnPath('curl', 'jq', 'openssl'), debianPackage: 'jq' },
  python3: { isInstalled: areOnPath('python3'), debianPackage: 'python3' },
  'a PostgreSQL of Debian': { isInstalled: () => findDebianPostgres() !== null, debianPackage: 'postgresql' },
} as const
export type Requirement = keyof typeof requirements

export const hasProgram = (requirement: Requirement): boolean => requirements[requirement].isInstalled()

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
