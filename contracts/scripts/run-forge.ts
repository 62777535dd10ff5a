import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeVenueCode } from './venues.ts'

/** `node contracts/scripts/run-forge.ts test …` runs forge from npm, offline, with solc from npm. */

const root = fileURLToPath(new URL('..', import.meta.url))

/** Path of the forge binary for this platform. */
function findForge(): string {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const forge = createRequire(import.meta.url).resolve('@foundry-rs/forge/package.json')
  return createRequire(forge).resolve(`@foundry-rs/forge-${process.platform}-${arch}/bin/forge`)
}

export type ForgeRun = Readonly<{ status: number; output: string; errors: string }>

export function runForge(args: readonly string[], timeoutMs: number): ForgeRun {
  writeVenueCode()
  // forge starts scripts/solc.mjs, whose shebang finds `node` in the PATH.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` }
  const options = { cwd: root, env, encoding: 'utf8', timeout: timeoutMs, maxBuffer: 1 << 26 } as const
  const result = spawnSync(findForge(), [...args, '--offline'], options)
  if (result.error) throw result.error
  return { status: result.status ?? 1, output: result.stdout, errors: result.stderr }
}

if (import.meta.main) {
  const { status, output, errors } = runForge(process.argv.slice(2), 600_000)
  process.stdout.write(output)
  process.stderr.write(errors)
  process.exitCode = status
}
