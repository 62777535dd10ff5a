import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const START_MS = 90_000

export type Chains = Readonly<{ file: string; stop(): Promise<void> }>

/** The sandbox's chains in a process of their own, which ends with this one. */
export async function startChains(folder: string, networks: readonly string[] | 'all'): Promise<Chains> {
  const main = join(import.meta.dirname, '../../sandbox/src/main.ts')
  const list = networks === 'all' ? networks : networks.join(',')
  const child = spawn(
    process.execPath,
    [main, '--data-dir', folder, '--networks', list, '--parent', String(process.pid)],
    // Its traders would move the pools under the tests, which bring the prices that they need.
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, SWAPYARD_SANDBOX_STILL: '1' } },
  )
  child.stdout.resume()
  const file = join(folder, 'chains.json')
  const deadline = Date.now() + START_MS
  while (!existsSync(file)) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error('the sandbox chains did not start')
    await delay(100)
  }
  return {
    file,
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
    },
  }
}
