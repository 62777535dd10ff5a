import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { openDatabase } from '../../server/src/adapters/postgres/core/database.ts'
import { migrate } from '../../server/src/adapters/postgres/core/migrate.ts'
import { prepareJobs } from '../../server/src/adapters/postgres/queue/job-runner.ts'

/** A fresh database on the shared cluster: empty, or a copy of the template, which has no connections. */
export async function createDatabase(
  clusterUrl: string,
  template: string | null = null,
): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `scenario_${randomBytes(6).toString('hex')}`
  await onCluster(clusterUrl, `create database ${name}${template === null ? '' : ` template ${template}`}`)
  // Plainly first: by force, the server refuses to end its own autovacuum, which a plain drop waits for.
  const drop = () =>
    onCluster(clusterUrl, `drop database if exists ${name}`).catch(() =>
      onCluster(clusterUrl, `drop database if exists ${name} with (force)`),
    )
  return { url: urlOf(clusterUrl, name), drop }
}

const urlOf = (clusterUrl: string, name: string): string => {
  const url = new URL(clusterUrl)
  url.pathname = `/${name}`
  return url.href
}

/** A database with the program's schema, to be copied: a copy costs a tenth of all migrations. Returns its name. */
export async function createTemplate(clusterUrl: string): Promise<string> {
  const name = 'template_of_scenarios'
  await onCluster(clusterUrl, `create database ${name}`)
  const database = openDatabase(urlOf(clusterUrl, name), { max: 1, waitMs: 30_000 })
  try {
    await migrate(database)
    await prepareJobs(database)
  } finally {
    await database.close()
  }
  return name
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
