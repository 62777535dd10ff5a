import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { Json } from '../../../../test/support/scenario.ts'
import { readJsonLines, startCommands } from '../../cli/commands.ts'
import type { Stage } from './partner.ts'

/** Runs `swapyard partners …` as an operator does beside the running app. */
export type Operator = Readonly<{
  partners(...args: string[]): Promise<{ lines: Json[]; error: string }>
  stop(): void
}>

export async function startOperator({ scenario }: Stage): Promise<Operator> {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-fees-'))
  copyFileSync(inject('chainsFile'), join(folder, 'chains.json'))
  const url = new URL(inject('databaseUrl'))
  const [row] = await scenario.app.database.query<{ name: string }>('select current_database() as name')
  url.pathname = `/${row?.name}`
  const config = join(folder, 'sandbox.json')
  writeFileSync(config, JSON.stringify({ environment: 'sandbox' }))
  const env = {
    ...{ PATH: '/usr/bin:/bin', SWAPYARD_DATA_DIR: folder },
    ...{ DATABASE_URL: url.href, SWAPYARD_CONFIG: config },
  }
  const commands = startCommands()
  return {
    async partners(...args) {
      const { stdout, stderr } = await commands.run(['partners', ...args], env)
      return { lines: readJsonLines<Json>(stdout), error: stderr.trim() }
    },
    stop() {
      commands.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
