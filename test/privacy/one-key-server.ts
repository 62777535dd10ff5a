import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { copyServer, type Patch } from '../chaos/server-copy.ts'
import type { ServerParts } from '../support/scenario.ts'

/** Gives all networks except Monero one key: one wallet for everything. The rule of three wallets would refuse each pair. */
const oneKeyPatches: readonly Patch[] = [
  {
    file: 'server/src/exchange/quotes/choose-intermediary.ts',
    find: 'if (from.network.id === to.network.id || wallet(from) === wallet(to))',
    put: 'if (from.asset.id === to.asset.id)',
  },
  { file: 'server/networks/btc.ts', find: 'coinType: 0,', put: 'coinType: 60,' },
  { file: 'server/networks/ltc.ts', find: 'coinType: 2,', put: 'coinType: 60,' },
  { file: 'server/networks/matic.ts', find: 'hotIndex: 8,', put: '' },
]

/** Loads a copy of the server with one key, which the program cannot be configured to use. `remove` deletes the copy. */
export async function loadServerWithOneKey(): Promise<ServerParts & { remove(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-one-key-'))
  const root = copyServer(join(folder, 'server'), oneKeyPatches)
  const load = (file: string) => import(/* @vite-ignore */ pathToFileURL(join(root, file)).href)
  const { createApp } = await load('server/src/app/app.ts')
  const { openAddresses } = await load('server/src/app/addresses.ts')
  const { networks } = await load('server/networks/index.ts')
  return {
    createApp,
    openAddresses,
    networks,
    remove: () => {
      // Remove the links first: their targets belong to the checkout.
      for (const { name } of readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink()))
        rmSync(join(root, name))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
