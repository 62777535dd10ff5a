import { FolderTaken } from './data-dir-lock.ts'
import { say } from './log.ts'
import { startSandbox } from './sandbox.ts'
import { createServers } from './server-registry.ts'
import { readSettings, UsageError, usage } from './settings.ts'

async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${usage}\n`)
    return
  }
  const settings = readSettings(args)
  const asked = waitForSignal()
  const servers = createServers(settings.parent, settings.orphanMs)
  const sandbox = await startSandbox(settings, servers)
  say(`controls at ${sandbox.controlUrl}, written to ${sandbox.chainsFile}`)
  process.stdout.write('ready\n')
  const why = await Promise.race([asked, servers.gone()])
  say(`stopping: ${why}`)
  await sandbox.stop()
  say('stopped')
  process.exit(0)
}

function waitForSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => resolve(signal))
  })
}

// Whoever started the sandbox may be gone, and its pipe with it.
process.stdout.on('error', () => undefined)
process.stderr.on('error', () => undefined)

main(process.argv.slice(2)).catch((error: unknown) => {
  const expected = error instanceof UsageError || error instanceof FolderTaken
  process.stderr.write(
    `${expected ? (error as Error).message : error instanceof Error ? error.stack : String(error)}\n`,
  )
  process.exit(expected ? 2 : 1)
})
