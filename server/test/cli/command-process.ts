import { runProgram } from '../../src/cli/program.ts'

/**
 * Runs command lines one after another, as if each had a process of its own: the libraries are loaded once. A message holds the
 * arguments and the environment, its answer what was printed and the exit code.
 */
type Command = Readonly<{ args: readonly string[]; environment: Record<string, string> }>

class Exited extends Error {}

const printed = { stdout: '', stderr: '' }
for (const stream of ['stdout', 'stderr'] as const) {
  process[stream].write = (chunk: string | Uint8Array) => {
    printed[stream] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    return true
  }
}
process.exit = (code) => {
  if (code !== undefined) process.exitCode = code ?? 0
  throw new Exited()
}

async function run({ args, environment }: Command): Promise<void> {
  printed.stdout = ''
  printed.stderr = ''
  process.exitCode = 0
  // In place: `homedir()` reads the environment of the process.
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, environment)
  await runProgram(args).catch((error: unknown) => {
    if (!(error instanceof Exited)) throw error
  })
  process.send?.({ code: Number(process.exitCode), ...printed })
}

process.on('message', (command: Command) => void run(command))
