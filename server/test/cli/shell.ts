import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { compileCache } from '../../../test/support/compile-cache.ts'
import { createDatabase } from '../../../test/support/database.ts'
import { PATIENCE_MS } from '../../../test/support/patience.ts'
import { serverMain } from '../../../test/support/server-main.ts'
import { type RunCommand, readJsonLines, startCommands } from './commands.ts'

const main = join(import.meta.dirname, '../../..', serverMain)

/** `lines`: the JSON lines of `text`. */
export type Answer = Readonly<{ code: number; text: string; lines: Record<string, unknown>[]; error: string }>

/** Runs the command line with its own data directory and database, in the sandbox. */
export type Shell = Readonly<{
  folder: string
  url: string
  /** Runs one command, with this environment and no other. */
  swapyard(args: readonly string[], env?: Record<string, string>): Promise<Answer>
  close(): Promise<void>
}>

export async function openShell(): Promise<Shell> {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-cli-'))
  chmodSync(folder, 0o711)
  const config = join(folder, 'sandbox.json')
  writeFileSync(config, JSON.stringify({ environment: 'sandbox' }))
  const { url, drop } = await createDatabase(inject('databaseUrl'))
  const commands = startCommands()
  return {
    folder,
    url,
    async swapyard(args, env = {}) {
      const environment = {
        PATH: '/usr/bin:/bin',
        ...compileCache,
        SWAPYARD_DATA_DIR: folder,
        DATABASE_URL: url,
        SWAPYARD_CONFIG: config,
        ...env,
      }
      // A service runs until a signal stops it.
      const { code, stdout, stderr } = await (args[0] === 'start' ? runAlone : commands.run)(args, environment)
      return { code, text: stdout, lines: readJsonLines(stdout), error: stderr }
    },
    async close() {
      commands.stop()
      rmSync(folder, { recursive: true, force: true })
      await drop()
    },
  }
}

const runAlone: RunCommand = (args, environment) =>
  new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { env: environment, timeout: PATIENCE_MS }, (failure, stdout, stderr) =>
      resolve({ code: failure === null ? 0 : Number(failure.code ?? 99), stdout, stderr }),
    )
  })
