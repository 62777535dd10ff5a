import { fork } from 'node:child_process'
import { join } from 'node:path'

/** What a process of ours says once it listens, by the names of its doors. */
export type Ports = Readonly<Record<string, number>>
export type Usage = Readonly<{ rssBytes: number; cpuMs: number }>

export type Process = Readonly<{ port(name: string): number; usage(): Promise<Usage>; stop(): Promise<void> }>

/** Starts a file of this folder as a process of its own. Its standard output goes nowhere, as a server's goes to a pipe. */
export async function start(file: string, settings: unknown, profile: string | null = null): Promise<Process> {
  const execArgv = profile === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`, `--cpu-prof-name=${file}-${Date.now()}.cpuprofile`]
  const child = fork(join(import.meta.dirname, file), [JSON.stringify(settings)], { execArgv, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const reply = <T>() =>
    new Promise<T>((resolve, reject) => {
      const onExit = (code: number | null) => reject(new Error(`${file} ended with code ${code}`))
      child.once('exit', onExit)
      child.once('message', (message) => {
        child.off('exit', onExit)
        resolve(message as T)
      })
    })
  const ports = await reply<Ports>()
  return {
    port: (name) => {
      const port = ports[name]
      if (port === undefined) throw new Error(`${file} has no port ${name}`)
      return port
    },
    usage: () => {
      child.send('usage')
      return reply<Usage>()
    },
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.disconnect()
      await ended
    },
  }
}

/** In the child: tells its ports, answers for its use of memory and CPU, and stops when the parent is gone. */
export function serve(ports: Ports, stop: () => Promise<void>): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.({ rssBytes: process.memoryUsage.rss(), cpuMs: (user + system) / 1000 } satisfies Usage)
  })
  process.once('disconnect', () => {
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error)
        process.exit(1)
      },
    )
  })
  process.send?.(ports)
}

/** In the child: what it was started with. */
export function settingsOf<T>(): T {
  return JSON.parse(process.argv[2] ?? 'null') as T
}
