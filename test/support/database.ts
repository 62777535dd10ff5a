import { randomBytes } from 'node:crypto'
import pg from 'pg'

/** A fresh database on the shared cluster. */
export async function createDatabase(clusterUrl: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `world_${randomBytes(6).toString('hex')}`
  await onCluster(clusterUrl, `create database ${name}`)
  const url = new URL(clusterUrl)
  url.pathname = `/${name}`
  // Plainly first: by force, the server refuses to end its own autovacuum, which a plain drop waits for.
  const drop = () =>
    onCluster(clusterUrl, `drop database if exists ${name}`).catch(() =>
      onCluster(clusterUrl, `drop database if exists ${name} with (force)`),
    )
  return { url: url.href, drop }
}

async function onCluster(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
