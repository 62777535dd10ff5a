import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { compileCache } from '../../../test/support/compile-cache.ts'

export type Output = Readonly<{ code: number; stdout: string; stderr: string }>
export type RunCommand = (args: readonly string[], environment: Record<string, string>) => Promise<Output>

/** Runs commands one after another in one process: loading the libraries takes longer than most commands. */
export function startCommands(): Readonly<{ run: RunCommand; stop(): void }> {
  const child = fork(join(import.meta.dirname, 'command-process.ts'), {
    env: { PATH: '/usr/bin:/bin', ...compileCache },
    stdio: 'ignore',
    execArgv: [],
  })
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`the process of the commands ended with ${code}`)
  })
  exited.catch(() => undefined)
  const send: RunCommand = (args, environment) => {
    child.send({ args, environment })
    const message = new Promise<Output>((resolve) => child.once('message', (output) => resolve(output as Output)))
    return Promise.race([message, exited])
  }
  let last: Promise<unknown> = Promise.resolve()
  return {
    run(args, environment) {
      const output = last.then(() => send(args, environment))
      last = output.catch(() => undefined)
      return output
    },
    stop: () => void child.kill(),
  }
}

/** The JSON lines of what a command printed. */
export const readJsonLines = <Line>(stdout: string): Line[] =>
  stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
