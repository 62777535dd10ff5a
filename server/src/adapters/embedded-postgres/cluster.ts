import { spawn } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Binaries } from './binaries.ts'
import type { ClusterLocation } from './cluster-location.ts'
import { give, type Owner } from './owner.ts'

const STEP_MS = 60_000
const REPLY_LENGTH_MAX = 4_000

/**
 * Allows only our role, from loopback, with its password. The superuser can connect in single-user mode only. Our role is
 * not a superuser.
 */
const ACCESS = `host all swapyard 127.0.0.1/32 scram-sha-256\n`

/** Durability settings are explicit even where they are the default. Memory settings are small. */
const SETTINGS = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 100
password_encryption = 'scram-sha-256'
fsync = on
full_page_writes = on
synchronous_commit = on
shared_buffers = '256MB'
work_mem = '8MB'
maintenance_work_mem = '64MB'
effective_cache_size = '512MB'
max_wal_size = '1GB'
random_page_cost = 1.1
jit = off
timezone = 'UTC'
log_timezone = 'UTC'
log_line_prefix = '%m [%p] %a '
log_min_messages = warning
log_checkpoints = off
log_parameter_max_length = 0
log_parameter_max_length_on_error = 0
`

/** Creates the cluster under a temporary name and renames it when it is complete. */
export async function createCluster(location: ClusterLocation, binaries: Binaries): Promise<void> {
  const draft = join(location.folder, 'cluster.new')
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { mode: 0o700 })
  give(draft, location.owner)
  const names = ['-D', draft, '-U', 'postgres', '-A', 'reject', '-E', 'UTF8', '--data-checksums', '--no-instructions']
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  await runAs(location.owner, binaries.initdb, [...names, ...locale], '')
  writeFileSync(join(draft, 'pg_hba.conf'), ACCESS)
  writeFileSync(join(draft, 'postgresql.auto.conf'), SETTINGS)
  // The password is hexadecimal, so it needs no quoting.
  const statements = [
    `create role swapyard login createdb password '${location.password}';`,
    'create database swapyard owner swapyard;',
  ]
  await runAs(
    location.owner,
    binaries.postgres,
    ['--single', '-D', draft, '-c', 'log_min_messages=fatal', 'template1'],
    `${statements.join('\n')}\n`,
  )
  renameSync(draft, location.cluster)
}

/** Runs a Postgres program to its end. Errors contain neither its input nor our environment. */
function runAs(owner: Owner | null, program: string, args: readonly string[], input: string): Promise<void> {
  const child = spawn(program, args, {
    ...owner,
    cwd: '/',
    env: cleanEnvironment,
    timeout: STEP_MS,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let reply = ''
  const append = (chunk: Buffer) => {
    reply = (reply + chunk.toString('utf8')).slice(-REPLY_LENGTH_MAX)
  }
  child.stdout.on('data', append)
  child.stderr.on('data', append)
  child.stdin.on('error', () => undefined) // It may end before it reads; its exit code shows why.
  child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => reject(new Error(`${program} cannot be started`, { cause })))
    child.once('close', (code) => {
      // Single-user mode continues after an error and exits with 0.
      if (code === 0 && !/^\S+ .*(ERROR|FATAL):/m.test(reply)) resolve()
      else reject(new Error(`${program} failed with code ${code}: ${reply.trim()}`))
    })
  })
}

/** Without PG* variables and the operator's locale. */
export const cleanEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } as const
