import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, onTestFailed } from 'vitest'
import { PATIENCE_MS } from '../support/patience.ts'
import { createStartCluster, type Program, type ProgramOptions, type StartCluster, startProgram } from './program.ts'

/** Folder, environment and programs of one test. */
export type Starts = {
  cluster: StartCluster
  env: Record<string, string>
  start(options?: Partial<ProgramOptions>): Program
}

/** Gives each test of the file its own folder, and stops its programs afterwards. */
export function useStarts(): Starts {
  let programs: Program[] = []
  const starts = {
    env: {},
    start(options: Partial<ProgramOptions> = {}): Program {
      const program = startProgram({ ...options, env: { ...starts.env, ...options.env } })
      programs.push(program)
      return program
    },
  } as Starts
  beforeEach(() => {
    const cluster = createStartCluster()
    starts.cluster = cluster
    starts.env = {
      HOME: cluster.folder,
      SWAPYARD_DATA_DIR: join(cluster.folder, 'data'),
      SWAPYARD_CHAINS: cluster.chainsFile,
    }
    programs = []
    onTestFailed(() => {
      for (const program of programs) console.info(`output of process ${program.pid}:\n${program.output()}`)
    })
  })
  afterEach(async () => {
    for (const program of programs) {
      program.kill('SIGTERM')
      await program.ended
    }
    starts.cluster.remove()
  })
  return starts
}

/** Returns the ids of processes with this text in their command line. */
export function findProcesses(text: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)
    } catch {
      return false
    }
  })
}

export async function expectNoProcesses(text: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  while (findProcesses(text).length > 0 && Date.now() < deadline) await delay(100)
  expect(findProcesses(text)).toEqual([])
}

/** Expects the texts in the output and no stack trace, because people read it. */
export function expectMessage(output: string, ...parts: readonly string[]): void {
  for (const part of parts) expect(output).toContain(part)
  expect(output).not.toMatch(/\n\s+at |Error:|node:internal/)
}
