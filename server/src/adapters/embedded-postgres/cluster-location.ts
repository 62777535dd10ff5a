import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { canReach, findOwner, give, type Owner, ownerOf } from './owner.ts'

/** Where the cluster of a data folder lies and how it is entered. `home` is the folder around the cluster. */
export type ClusterLocation = Readonly<{
  folder: string
  cluster: string
  password: string
  owner: Owner | null
  isNew: boolean
}>

type LocationRecord = Readonly<{ home: string; password: string }>

/** Outside of every home directory; used where the data folder lies below one that Postgres's user cannot enter. */
const ELSEWHERE = '/var/lib/swapyard'

/**
 * Where the cluster of `<dataDir>/postgres` is. Once one was made, its place is recorded in the data folder; a recorded
 * cluster that is gone is an error, never a new and empty one.
 */
export function locateCluster(dataDir: string): ClusterLocation {
  const folder = resolve(dataDir, 'postgres')
  const file = join(folder, 'place.json')
  if (existsSync(file)) {
    const { home, password } = JSON.parse(readFileSync(file, 'utf8')) as LocationRecord
    const path = home === '.' ? folder : home
    const cluster = join(path, 'cluster')
    if (!existsSync(join(cluster, 'PG_VERSION')))
      throw new Error(`the database of ${dataDir} should be in ${cluster}, and is not there`)
    return { home: path, cluster, password, owner: ownerOf(cluster), isNew: false }
  }
  const owner = findOwner()
  makeFolder(folder, owner)
  const home = owner === null || canReach(owner, folder) ? folder : elsewhere(folder, owner)
  return { home, cluster: join(home, 'cluster'), password: randomBytes(24).toString('hex'), owner, isNew: true }
}

/** The last act of making a cluster. The place is relative where it can be: a data folder may be moved. */
export function recordLocation(dataDir: string, place: ClusterLocation): void {
  const folder = resolve(dataDir, 'postgres')
  const record: LocationRecord = { home: place.home === folder ? '.' : place.home, password: place.password }
  const file = join(folder, 'place.json')
  writeFileSync(`${file}.new`, `${JSON.stringify(record)}\n`, { mode: 0o600, flush: true })
  renameSync(`${file}.new`, file)
}

/** The server's own user must pass through the data folder; what it holds has modes of its own. */
function makeFolder(folder: string, owner: Owner | null): void {
  const data = dirname(folder)
  const mode = owner === null ? 0o700 : 0o711
  mkdirSync(folder, { recursive: true, mode })
  if (owner === null) return
  for (const path of [data, folder]) chmodSync(path, statSync(path).mode | 0o011)
  give(folder, owner)
}

function elsewhere(folder: string, owner: Owner): string {
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 16)
  const home = join(ELSEWHERE, name)
  mkdirSync(home, { recursive: true, mode: 0o755 })
  chmodSync(ELSEWHERE, 0o755)
  chmodSync(home, 0o711)
  give(home, owner)
  if (!canReach(owner, home)) throw new Error(`user ${owner.uid} cannot enter ${home}, where the database would lie`)
  return home
}

export function binariesFolder(): string {
  return ELSEWHERE
}
