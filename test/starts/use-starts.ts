import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFailed } from 'vitest'
import { PATIENCE } from '../support/patience.ts'
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
  await expect.poll(() => findProcesses(text), PATIENCE).toEqual([])
}

/**
 * Expects the texts in the output and no stack trace, because people read it. Log lines, which are JSON, may have one: on a busy
 * machine the program logs calls that timed out.
 */
export function expectMessage(output: string, ...parts: readonly string[]): void {
  for (const part of parts) expect(output).toContain(part)
  const forPeople = output.split('\n').filter((line) => !line.startsWith('{'))
  expect(forPeople.join('\n')).not.toMatch(/\n\s+at |Error:|node:internal/)
}
