import { spawnSync } from 'node:child_process'
import { chownSync, readFileSync, statSync } from 'node:fs'

/** The user that runs Postgres if the server runs as root, because Postgres refuses to run as root. */
export type Owner = Readonly<{ uid: number; gid: number }>

const NAMES = ['swapyard', 'postgres'] as const
/** The unprivileged user of most distributions (uid 65534). */
const FALLBACK_NAME = 'nobody'

/** Finds or creates the user for Postgres; null if the server does not run as root, and Postgres runs as the same user. */
export function findOwner(): Owner | null {
  if (process.getuid?.() !== 0) return null
  const existing = lookup()
  if (existing) return existing
  const options = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'swapyard']
  spawnSync('useradd', options, { stdio: 'ignore', timeout: 10_000 })
  const created = lookup() ?? readUser(FALLBACK_NAME)
  if (!created)
    throw new Error('started as root, and no other user exists that could run Postgres: create a user named swapyard')
  return created
}

/** The owner of an existing cluster. */
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

/** Reads /etc/passwd: initdb needs a user with an entry there. */
function readUser(name: string): Owner | null {
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [user, , uid, gid] = line.split(':')
    if (user === name && uid !== undefined && gid !== undefined)
      return { uid: Number.parseInt(uid, 10), gid: Number.parseInt(gid, 10) }
  }
  return null
}

/** Tests the access as that user, so that the modes of all parent folders, groups and mount options count. */
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
