import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { openDatabase } from '../../server/src/adapters/postgres/core/database.ts'
import { migrate } from '../../server/src/adapters/postgres/core/migrate.ts'
import { prepareJobs } from '../../server/src/adapters/postgres/queue/job-runner.ts'

/** Creates a database on the shared cluster: empty, or a copy of the template. The template must have no connections. */
export async function createDatabase(
  clusterUrl: string,
  template: string | null = null,
): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `scenario_${randomBytes(6).toString('hex')}`
  await runOnCluster(
    clusterUrl,
    `create database ${name} strategy file_copy${template === null ? '' : ` template ${template}`}`,
  )
  // A plain drop waits for autovacuum; `with (force)` fails because it may not end autovacuum.
  const drop = () =>
    runOnCluster(clusterUrl, `drop database if exists ${name}`).catch(() =>
      runOnCluster(clusterUrl, `drop database if exists ${name} with (force)`),
    )
  return { url: urlOf(clusterUrl, name), drop }
}

const urlOf = (clusterUrl: string, name: string): string => {
  const url = new URL(clusterUrl)
  url.pathname = `/${name}`
  return url.href
}

/** Creates a template database with the program's schema and returns its name. A copy takes a tenth of the time of all migrations. */
export async function createTemplate(clusterUrl: string): Promise<string> {
  const name = 'template_of_scenarios'
  await runOnCluster(clusterUrl, `create database ${name}`)
  const database = openDatabase(urlOf(clusterUrl, name), { max: 1, waitMs: 30_000 })
  try {
    await migrate(database)
    await prepareJobs(database)
  } finally {
    await database.close()
  }
  return name
}

async function runOnCluster(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
