import { createExplorer } from '../adapters/explorer/explorer.ts'
import { type Asset, assetId } from '../core/domain/asset.ts'
import type { Catalogue } from '../core/domain/catalogue.ts'
import type { Environment } from '../core/domain/network.ts'
import type { ApiSettings } from '../core/http/settings.ts'
import type { ChainExplorer } from '../exchange/ports/explorer.ts'
import { urlOf } from '../lib/node-endpoint.ts'
import { mountSite } from '../pages/docs/mount.ts'
import { mountSdkPackage } from '../pages/docs/sdk-package.ts'
import { mountExplorer } from '../pages/explorer.ts'
import { mountTracking, type TrackingDeps } from '../pages/tracking/routes.ts'
import { mountWidget } from '../pages/widget.ts'
import type { OwnTokens } from '../swap/interfaces.ts'
import type { ClosableChain, NetworkNodes } from './chains.ts'
import { type HttpServer, servedRoutes } from './http.ts'

type PageDependencies = Readonly<{
  environment: Environment
  settings: Pick<ApiSettings, 'publicUrl' | 'sandboxControlUrl'>
  nodes: readonly NetworkNodes[]
  catalogue: Catalogue
  chains: ReadonlyMap<string, ClosableChain>
  tracking: Pick<TrackingDeps, 'services' | 'settings'>
  /** Tokens of the sandbox that are no currencies, by network. */
  swapTokens?: ReadonlyMap<string, OwnTokens>
}>

/** Mounts the HTML pages. Only the sandbox has its own explorers; elsewhere currencies link to public ones. */
export function mountPages(app: HttpServer, dependencies: PageDependencies): void {
  const { environment, settings, nodes, catalogue, chains } = dependencies
  const operations = Object.entries(servedRoutes(settings)).map(([id, route]) => ({ ...route, id }))
  mountSite(app, { publicUrl: settings.publicUrl, isSandbox: environment === 'sandbox' }, operations)
  mountTracking(app, { ...dependencies.tracking, isDraining: app.isDraining })
  mountWidget(app)
  mountSdkPackage(app)
  if (environment !== 'sandbox') return
  const explorers = new Map<string, ChainExplorer>()
  for (const { network: id, rpcUrls } of nodes) {
    const network = catalogue.findNetwork(id)
    const parse = chains.get(id)?.addresses.parse ?? null
    const explorer = network && createExplorer({ network, parse }, rpcUrls.map(urlOf), assetsOf(id, dependencies))
    if (explorer) explorers.set(id, explorer)
  }
  app.addHook('onClose', async () => {
    await Promise.all([...explorers.values()].map((explorer) => explorer.close()))
  })
  mountExplorer(app, explorers)
}

/** The currencies of a network, then its other tokens. */
function assetsOf(network: string, { catalogue, swapTokens }: PageDependencies): readonly Asset[] {
  const assets = catalogue.list().flatMap(({ asset }) => (asset.network === network ? [asset] : []))
  const listed = new Set(assets.map(({ contract }) => contract?.toLowerCase()))
  const others = (swapTokens?.get(network) ?? []).filter(({ address }) => !listed.has(address.toLowerCase()))
  return [
    ...assets,
    ...others.map(({ address: contract, symbol, decimals }) => {
      const ticker = symbol.toLowerCase()
      return { id: assetId(ticker, network), ticker, network, decimals, contract }
    }),
  ]
}
