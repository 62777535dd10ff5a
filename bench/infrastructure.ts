import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../server/src/adapters/embedded-postgres/postgres.ts'
import { createKeystore } from '../server/src/adapters/signers/keystore.ts'
import { coinTypes } from '../server/src/app/keys.ts'
import type { HouseSettings } from './app.ts'
import { type Process, startProcess } from './processes.ts'
import { bareTable, createDatabase, fillStatements, runStatements } from './seed-database.ts'
import { startStubNodes } from './stub-nodes.ts'

/** The API of a house, its database, and how many exchanges lie in it. */
export type House = Readonly<{ process: Process; databaseUrl: string; rows: number }>

/** A Postgres of its own in a temporary folder, stand-in nodes and keys: what the servers under test stand on. */
export type Ground = Readonly<{
  folder: string
  openDatabase(name: string): Promise<string>
  openHouse(name: string, rows: number, chainsFile?: string): Promise<House>
  open(file: string, settings: unknown): Promise<Process>
  close(): Promise<void>
}>

export async function openGround(profileFolder: string | null): Promise<Ground> {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-bench-'))
  const postgres = await startPostgres({ dataDir: folder })
  const stub = await startStubNodes()
  const keystore = join(folder, 'keystore.json')
  await createKeystore(keystore, 'a passphrase', coinTypes)
  const processes: Process[] = []
  const open = async (file: string, settings: unknown) => {
    const process = await startProcess(file, settings, profileFolder)
    processes.push(process)
    return process
  }
  return {
    folder,
    open,
    openDatabase: (name) => createDatabase(postgres.url, name),
    openHouse: async (name, rows, chainsFile) => {
      const databaseUrl = await createDatabase(postgres.url, name)
      const settings = { databaseUrl, keystore, nodes: stub.nodes, chainsFile: chainsFile ?? null }
      const process = await open('app.ts', settings satisfies HouseSettings)
      await runStatements(databaseUrl, [...bareTable, ...fillStatements(rows)])
      return { process, databaseUrl, rows }
    },
    close: async () => {
      for (const process of processes) await process.stop()
      await stub.stop()
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
