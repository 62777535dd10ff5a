import { createExplorer } from './adapters/explorer/explorer.ts'
import type { App } from './api/app.ts'
import { statusOf } from './api/errors.ts'
import type { ClosableChain, NetworkNodes } from './compose-chains.ts'
import type { Catalogue } from './domain/catalogue.ts'
import type { Environment } from './domain/network.ts'
import { mountErrorPage } from './pages/errors.ts'
import { mountExplorer } from './pages/explorer.ts'
import type { ChainExplorer } from './ports/explorer.ts'

type PageParts = Readonly<{
  environment: Environment
  nodes: readonly NetworkNodes[]
  catalogue: Catalogue
  chains: ReadonlyMap<string, ClosableChain>
}>

/** The pages for people. Explorers are the sandbox's only: elsewhere currencies name public ones. */
export function composePages(app: App, { environment, nodes, catalogue, chains }: PageParts): void {
  mountErrorPage(app, statusOf)
  if (environment !== 'sandbox') return
  const explorers = new Map<string, ChainExplorer>()
  for (const { network, rpcUrls } of nodes) {
    const chain = chains.get(network)
    const assets = catalogue.list().flatMap(({ asset }) => (asset.network === network ? [asset] : []))
    const explorer = chain && createExplorer(chain, rpcUrls, assets)
    if (explorer) explorers.set(network, explorer)
  }
  app.addHook('onClose', async () => {
    await Promise.all([...explorers.values()].map((explorer) => explorer.close()))
  })
  mountExplorer(app, explorers)
}
