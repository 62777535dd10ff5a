import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { canReach, findOwner, give, type Owner, ownerOf } from './owner.ts'

/** Where the cluster of a data folder is, and its password. `folder` contains the cluster and its log. */
export type ClusterLocation = Readonly<{
  folder: string
  cluster: string
  password: string
  owner: Owner | null
  isNew: boolean
}>

type LocationRecord = Readonly<{ home: string; password: string }>

/** Used if the user of Postgres cannot enter the data folder, for example below /root. */
export const SYSTEM_FOLDER = '/var/lib/swapyard'

/**
 * Locates the cluster of a data folder. After its creation, the file place.json of the data folder records the location. A
 * recorded cluster that does not exist is an error; it is never replaced by an empty one.
 */
export function locateCluster(dataDir: string): ClusterLocation {
  const dataFolder = resolve(dataDir, 'postgres')
  const file = join(dataFolder, 'place.json')
  if (existsSync(file)) {
    const { home, password } = JSON.parse(readFileSync(file, 'utf8')) as LocationRecord
    const folder = home === '.' ? dataFolder : home
    const cluster = join(folder, 'cluster')
    if (!existsSync(join(cluster, 'PG_VERSION')))
      throw new Error(`the database of ${dataDir} is recorded in ${cluster} and is not there: restore the folder`)
    return { folder, cluster, password, owner: ownerOf(cluster), isNew: false }
  }
  const owner = findOwner()
  createFolder(dataFolder, owner)
  const folder = owner === null || canReach(owner, dataFolder) ? dataFolder : createSystemFolder(dataFolder, owner)
  return { folder, cluster: join(folder, 'cluster'), password: randomBytes(24).toString('hex'), owner, isNew: true }
}

/** The last step of the creation. The path is relative if possible, because a data folder may be moved. */
export function recordLocation(dataDir: string, { folder, password }: ClusterLocation): void {
  const dataFolder = resolve(dataDir, 'postgres')
  const record: LocationRecord = { home: folder === dataFolder ? '.' : folder, password }
  const file = join(dataFolder, 'place.json')
  writeFileSync(`${file}.new`, `${JSON.stringify(record)}\n`, { mode: 0o600, flush: true })
  renameSync(`${file}.new`, file)
}

/** The user of Postgres must be able to pass through the data folder; the files in it have their own modes. */
function createFolder(folder: string, owner: Owner | null): void {
  const data = dirname(folder)
  const mode = owner === null ? 0o700 : 0o711
  mkdirSync(folder, { recursive: true, mode })
  if (owner === null) return
  for (const path of [data, folder]) chmodSync(path, statSync(path).mode | 0o011)
  give(folder, owner)
}

function createSystemFolder(dataFolder: string, owner: Owner): string {
  const name = createHash('sha256').update(dataFolder).digest('hex').slice(0, 16)
  const folder = join(SYSTEM_FOLDER, name)
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  chmodSync(SYSTEM_FOLDER, 0o755)
  chmodSync(folder, 0o711)
  give(folder, owner)
  if (!canReach(owner, folder)) throw new Error(`user ${owner.uid} cannot enter ${folder}, the folder for the database`)
  return folder
}
