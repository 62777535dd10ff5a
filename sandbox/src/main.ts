import { FolderTaken } from './folder-lock.ts'
import { describe, lives } from './living.ts'
import { startSandbox } from './sandbox.ts'
import { say } from './say.ts'
import { readSettings, UsageError } from './settings.ts'

const parentCheckMs = 1000
/** A server that was killed and comes back finds its chains where they were. */
const orphanMs = 60_000

async function main(): Promise<void> {
  const settings = readSettings(process.argv.slice(2))
  const asked = waitForSignal()
  const sandbox = await startSandbox(settings)
  say(`controls at ${sandbox.controlUrl}, written to ${sandbox.chainsFile}`)
  process.stdout.write('ready\n')
  const why = await (settings.parent === null ? asked : Promise.race([asked, waitForOrphan(settings.parent)]))
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

function waitForOrphan(pid: number): Promise<string> {
  const parent = describe(pid) ?? { pid, since: 'unknown' }
  return new Promise((resolve) => {
    let aloneSince: number | null = null
    setInterval(() => {
      if (lives(parent)) aloneSince = null
      else aloneSince ??= performance.now()
      if (aloneSince !== null && performance.now() - aloneSince >= orphanMs) resolve(`process ${pid} has ended`)
    }, parentCheckMs)
  })
}

// Whoever started the sandbox may be gone, and its pipe with it.
process.stdout.on('error', () => undefined)
process.stderr.on('error', () => undefined)

main().catch((error: unknown) => {
  const expected = error instanceof UsageError || error instanceof FolderTaken
  process.stderr.write(
    `${expected ? (error as Error).message : error instanceof Error ? error.stack : String(error)}\n`,
  )
  process.exit(expected ? 2 : 1)
})
