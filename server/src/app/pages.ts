import { createExplorer } from '../adapters/explorer/explorer.ts'
import type { Catalogue } from '../core/domain/catalogue.ts'
import type { Environment } from '../core/domain/network.ts'
import { statusOf } from '../core/http/errors.ts'
import type { ChainExplorer } from '../exchange/ports/explorer.ts'
import { mountErrorPage } from '../pages/errors.ts'
import { mountExplorer } from '../pages/explorer.ts'
import type { ClosableChain, NetworkNodes } from './chains.ts'
import type { HttpServer } from './http.ts'

type PageDependencies = Readonly<{
  environment: Environment
  nodes: readonly NetworkNodes[]
  catalogue: Catalogue
  chains: ReadonlyMap<string, ClosableChain>
}>

/** Mounts the HTML pages. Only the sandbox has its own explorers; elsewhere currencies link to public ones. */
export function mountPages(app: HttpServer, { environment, nodes, catalogue, chains }: PageDependencies): void {
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
