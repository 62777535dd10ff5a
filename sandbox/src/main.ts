import { DirectoryInUseError } from './directory-lock.ts'
import { log } from './log.ts'
import { startSandbox } from './sandbox.ts'
import { createServerRegistry } from './server-registry.ts'
import { readSettings, UsageError, usage } from './settings.ts'

async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${usage}\n`)
    return
  }
  const settings = readSettings(args)
  const signal = waitForSignal()
  const registry = createServerRegistry(settings.parentPid, settings.orphanTimeoutMs)
  const sandbox = await startSandbox(settings, registry)
  log(`control server at ${sandbox.controlUrl}, details in ${sandbox.chainsFile}`)
  process.stdout.write('ready\n')
  const reason = await Promise.race([signal, registry.waitUntilUnused()])
  log(`stopping: ${reason}`)
  await sandbox.stop()
  log('stopped')
  process.exit(0)
}

function waitForSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => resolve(signal))
  })
}

// The parent process may have exited and closed the pipe.
process.stdout.on('error', () => undefined)
process.stderr.on('error', () => undefined)

main(process.argv.slice(2)).catch((error: unknown) => {
  const isExpected = error instanceof UsageError || error instanceof DirectoryInUseError
  process.stderr.write(
    `${isExpected ? (error as Error).message : error instanceof Error ? error.stack : String(error)}\n`,
  )
  process.exit(isExpected ? 2 : 1)
})
