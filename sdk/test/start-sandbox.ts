import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { ChainsFile } from '../../server/src/app/sandbox-chains.ts'
import { startProgram } from '../../test/starts/program.ts'
import { createDatabase } from '../../test/support/database.ts'

/** Each further network takes coins of the shared sandbox bank. */
const networks = ['btc', 'eth', 'bsc', 'base']

/** Starts the program on the shared chains, as `npm start` does. Its prices move, because the pools follow moving prices. */
export async function startSandbox(): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-sdk-'))
  const chains = JSON.parse(readFileSync(inject('chainsFile'), 'utf8')) as ChainsFile
  const chainsFile = join(folder, 'some-chains.json')
  writeFileSync(
    chainsFile,
    JSON.stringify({ ...chains, networks: chains.networks.filter(({ network }) => networks.includes(network)) }),
  )
  const database = await createDatabase(inject('databaseUrl'))
  const program = startProgram({
    env: {
      DATABASE_URL: database.url,
      SWAPYARD_DATA_DIR: folder,
      SWAPYARD_CHAINS: chainsFile,
      SWAPYARD_SANDBOX_STILL: '0',
    },
  })
  return {
    url: await program.waitUntilReady(),
    async stop() {
      program.kill('SIGTERM')
      await program.ended
      await database.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
