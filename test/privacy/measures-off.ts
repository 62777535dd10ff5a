import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { copyServer, type Patch } from '../chaos/server-copy.ts'
import type { ServerParts } from '../support/scenario.ts'

/** The rule of three wallets is left out, and all networks but Monero have one key: one wallet for everything. */
const patches: readonly Patch[] = [
  {
    file: 'server/src/exchange/quotes/choose-intermediary.ts',
    find: 'if (from.network.id === to.network.id || wallet(from) === wallet(to))',
    put: 'if (from.asset.id === to.asset.id)',
  },
  { file: 'server/networks/btc.ts', find: 'coinType: 0,', put: 'coinType: 60,' },
  { file: 'server/networks/ltc.ts', find: 'coinType: 2,', put: 'coinType: 60,' },
  { file: 'server/networks/matic.ts', find: 'hotIndex: 8,', put: '' },
]

/** No waits, and the intermediary's amount is the plain conversion of the deposit. */
export const nothingHidden = { delayMaxMs: 0, withheldMaxPpm: 0, stallMs: 3_600_000 }

/**
 * A copy of the server without what keeps the two ends apart: the program itself has no switch for that. Its files go with
 * `remove`.
 */
export async function serverWithoutMeasures(): Promise<ServerParts & { remove(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-measures-off-'))
  const root = copyServer(join(folder, 'server'), patches)
  const open = (file: string) => import(/* @vite-ignore */ pathToFileURL(join(root, file)).href)
  const { createApp } = await open('server/src/app/app.ts')
  const { networks } = await open('server/networks/index.ts')
  return {
    createApp,
    networks,
    remove: () => {
      // Links first: what they point to stays.
      for (const { name } of readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink()))
        rmSync(join(root, name))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
