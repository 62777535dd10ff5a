import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '@swapyard/lib/free-port.ts'
import { type Binaries, findBinaries } from './binaries.ts'
import { cleanEnvironment, createCluster } from './cluster.ts'
import { type ClusterLocation, locateCluster, recordLocation, SYSTEM_FOLDER } from './cluster-location.ts'
import { stopOrphan } from './orphan.ts'
import { give } from './owner.ts'
import { readyPort, urlOf } from './running.ts'

export type EmbeddedPostgres = Readonly<{
  /** Connects as the owner of the database, who is not a superuser. Contains the password. */
  url: string
  stop(): Promise<void>
}>

export type EmbeddedOptions = Readonly<{
  dataDir: string
  /** Called after the server ended unexpectedly and was started again on the same port, and after each failed start. */
  onRestart?: (reason: string) => void
}>

const START_MS = 30_000
const STOP_MS = 15_000
const POLL_MS = 10
const PORT_TRIES = 5
/** Maximum delay between attempts to start the server again; the delay doubles from 100 ms. */
const RESTART_DELAY_MAX_MS = 5_000
const LOG_BYTES_MAX = 10 * 1024 * 1024

/**
 * Runs Postgres and a guard in a session of their own. Ctrl-C does not reach them, so that the server finishes first. When
 * the server process ends for any reason, the guard reads the end of its input and shuts Postgres down.
 */
const GUARD = `exec 3<&0
"$@" </dev/null 3<&- & server=$!
trap 'kill -INT $server' TERM INT
(read -r line <&3; kill -INT $server) 2>/dev/null & guard=$!
exec 3<&-
wait $server; code=$?
while kill -0 $server 2>/dev/null; do wait $server; code=$?; done
kill $guard 2>/dev/null
exit $code`

/** Starts the database of a data folder. Creates it if it does not exist; stops the Postgres that a crash left running. */
export async function startPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const location = locateCluster(options.dataDir)
  const binaries = findBinaries(location.owner, SYSTEM_FOLDER)
  if (location.isNew) {
    // A cluster without a record is probably an interrupted creation. It is renamed, because we never delete a database.
    if (existsSync(location.cluster)) {
      await stopOrphan(location.cluster)
      renameSync(location.cluster, `${location.cluster}.aside-${Date.now()}`)
    }
    await createCluster(location, binaries)
    recordLocation(options.dataDir, location)
  } else await stopOrphan(location.cluster)
  const { child, port } = await startOnFreePort(location, binaries)
  const supervisor = supervise(location, binaries, child, port, options.onRestart ?? (() => undefined))
  return { url: urlOf(location.password, port), stop: supervisor.stop }
}

async function startOnFreePort(
  location: ClusterLocation,
  binaries: Binaries,
): Promise<{ child: ChildProcess; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    try {
      return { child: await launch(location, binaries, port), port }
    } catch (error) {
      // Another program may use the port now; processes of a killed server may still hold its shared memory.
      if (attempt === PORT_TRIES) throw error
      await wait(200 * attempt)
    }
  }
}

/** Resolves when the server accepts connections. */
async function launch(location: ClusterLocation, { postgres }: Binaries, port: number): Promise<ChildProcess> {
  const logFile = join(location.folder, 'postgres.log')
  const log = openLog(logFile, location)
  const args = ['-c', GUARD, 'sh', postgres, '-D', location.cluster, '-p', String(port)]
  const child = spawn('/bin/sh', args, {
    ...location.owner,
    cwd: '/',
    env: cleanEnvironment,
    detached: true,
    stdio: ['pipe', log, log],
  })
  closeSync(log)
  child.stdin?.on('error', () => undefined) // It ends when the server does.
  const deadline = Date.now() + START_MS
  let failure: Error | null = null
  child.once('error', (cause) => {
    failure = new Error('Postgres cannot be started', { cause })
  })
  while (readyPort(location.cluster) !== String(port)) {
    if (failure) throw failure
    if (hasEnded(child)) throw new Error(`Postgres did not start: ${tail(logFile)}`)
    if (Date.now() > deadline) {
      await end(child)
      throw new Error(`Postgres was not ready within ${START_MS / 1000} s: ${tail(logFile)}`)
    }
    await wait(POLL_MS)
  }
  return child
}

function supervise(
  location: ClusterLocation,
  binaries: Binaries,
  first: ChildProcess,
  port: number,
  onRestart: (reason: string) => void,
) {
  let child = first
  let stopping = false
  let restarting: Promise<void> = Promise.resolve()
  const watch = (): void => {
    child.once('exit', (code, signal) => {
      if (!stopping) restarting = restart(`ended with ${signal ?? code}`)
    })
    // It may have ended before the listener was added.
    if (hasEnded(child)) child.emit('exit', child.exitCode, child.signalCode)
    child.unref()
  }
  const restart = async (reason: string): Promise<void> => {
    for (let delayMs = 100; !stopping; delayMs = Math.min(delayMs * 2, RESTART_DELAY_MAX_MS)) {
      await wait(delayMs, undefined, { ref: false })
      try {
        await stopOrphan(location.cluster)
        if (stopping) return
        child = await launch(location, binaries, port)
        onRestart(reason)
        watch()
        return
      } catch (error) {
        onRestart(`cannot be started again: ${error instanceof Error ? error.message : 'unknown'}`)
      }
    }
  }
  watch()
  const stop = async (): Promise<void> => {
    stopping = true
    await restarting
    await end(child)
    await stopOrphan(location.cluster)
  }
  return { stop }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

/** The guard shuts the server down when its input ends. */
async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
  })
  child.ref()
  child.stdin?.end()
  await Promise.race([ended, wait(STOP_MS, undefined, { ref: false })])
}

function openLog(file: string, location: ClusterLocation): number {
  if (existsSync(file) && statSync(file).size > LOG_BYTES_MAX) truncateSync(file)
  const log = openSync(file, 'a', 0o600)
  give(file, location.owner)
  return log
}

function tail(file: string): string {
  return readFileSync(file, 'utf8').trim().split('\n').slice(-5).join(' | ').slice(-1_000)
}
