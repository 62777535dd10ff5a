import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const START_MS = 60_000

/** Starts the sandbox's chains without its trader. A chain whose node is not installed is left out. */
export async function startChains(
  folder: string,
  networks: readonly string[],
): Promise<{ file: string; stop(): Promise<void> }> {
  const main = join(import.meta.dirname, '../sandbox/src/main.ts')
  const child = spawn(
    process.execPath,
    [main, '--data-dir', folder, '--networks', networks.join(','), '--parent', String(process.pid)],
    { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, SWAPYARD_SANDBOX_STILL: '1' } },
  )
  const file = join(folder, 'chains.json')
  const deadline = Date.now() + START_MS
  while (!existsSync(file)) {
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`the sandbox chains did not start within ${START_MS} ms`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return {
    file,
    async stop() {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    },
  }
}
