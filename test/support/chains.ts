import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '@swapyard/lib/until.ts'
import { PATIENCE_MS } from './patience.ts'

const START_MS = PATIENCE_MS

export type Chains = Readonly<{ file: string; stop(): Promise<void> }>

type ChainsOptions = Readonly<{
  /** Default: standard output is dropped, and standard error is the test's own. */
  logFile?: string
  /** False lets the sandbox's traders move the pools. True is the default, because tests set their prices themselves. */
  still?: boolean
}>

/** Starts the sandbox's chains in a child process that ends with this process. */
export async function startChains(
  folder: string,
  networks: readonly string[] | 'all',
  { logFile, still = true }: ChainsOptions = {},
): Promise<Chains> {
  const main = join(import.meta.dirname, '../../sandbox/src/main.ts')
  const list = networks === 'all' ? networks : networks.join(',')
  const log = logFile === undefined ? null : openSync(logFile, 'a')
  const child = spawn(
    process.execPath,
    [main, '--data-dir', folder, '--networks', list, '--parent', String(process.pid)],
    {
      stdio: log === null ? ['ignore', 'pipe', 'inherit'] : ['ignore', log, log],
      env: { ...process.env, ...(still ? { SWAPYARD_SANDBOX_STILL: '1' } : {}) },
    },
  )
  if (log !== null) closeSync(log)
  child.stdout?.resume()
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const file = join(folder, 'chains.json')
  const isStarted = () => {
    if (child.exitCode !== null) throw new Error(`the sandbox chains exited with code ${child.exitCode}`)
    return existsSync(file)
  }
  await until('the sandbox chains start', isStarted, { timeoutMs: START_MS })
  return {
    file,
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}
