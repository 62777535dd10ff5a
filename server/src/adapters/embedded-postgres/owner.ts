import { spawnSync } from 'node:child_process'
import { chownSync, readFileSync, statSync } from 'node:fs'

/** The ordinary user that Postgres runs as when we are root: it refuses to run as root itself. */
export type Owner = Readonly<{ uid: number; gid: number }>

const NAMES = ['swapyard', 'postgres'] as const

/** null where we are an ordinary user: Postgres then runs as ourselves. */
export function findOwner(): Owner | null {
  if (process.getuid?.() !== 0) return null
  const found = lookup()
  if (found) return found
  const options = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'swapyard']
  spawnSync('useradd', options, { stdio: 'ignore', timeout: 10_000 })
  const made = lookup() ?? readUser('nobody')
  if (!made) throw new Error('started as root, and there is no ordinary user for Postgres: create one named swapyard')
  return made
}

/** Whose an existing cluster is. */
export function ownerOf(path: string): Owner | null {
  if (process.getuid?.() !== 0) return null
  const { uid, gid } = statSync(path)
  if (uid === 0) throw new Error(`${path} belongs to root, and Postgres does not run as root`)
  return { uid, gid }
}

function lookup(): Owner | null {
  for (const name of NAMES) {
    const user = readUser(name)
    if (user) return user
  }
  return null
}

/** From /etc/passwd: initdb wants a user that has an entry there. */
function readUser(name: string): Owner | null {
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [user, , uid, gid] = line.split(':')
    if (user === name && uid !== undefined && gid !== undefined)
      return { uid: Number.parseInt(uid, 10), gid: Number.parseInt(gid, 10) }
  }
  return null
}

/** Asked of the kernel as that user: modes of all folders above, groups and mount options count. */
export function canReach(owner: Owner, path: string): boolean {
  const result = spawnSync('/bin/sh', ['-c', 'test -r "$1" && test -x "$1"', 'sh', path], {
    ...owner,
    cwd: '/',
    timeout: 5_000,
  })
  return result.status === 0
}

export function give(path: string, owner: Owner | null): void {
  if (owner) chownSync(path, owner.uid, owner.gid)
}
