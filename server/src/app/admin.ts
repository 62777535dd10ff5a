import type { Database } from '../adapters/postgres/core/database.ts'
import { mountAdmin } from '../admin/http/mount-admin.ts'
import { hashPassword } from '../admin/identity/passwords.ts'
import { describeConfig } from '../config/in-force.ts'
import type { Config } from '../config/load.ts'
import { urlOf } from '../lib/node-endpoint.ts'
import { mountConsole } from '../pages/console.ts'
import { createActionDeps, openAdminStore } from './action-deps.ts'
import type { App } from './app.ts'
import type { NetworkNodes } from './chains.ts'
import { sandboxOperator } from './sandbox-operator.ts'
import type { SwapOffer } from './swaps.ts'

type Served = Readonly<{ nodes: readonly NetworkNodes[]; swaps: SwapOffer; publicUrl: string }>

/** Mounts the admin API and the console on an API process. */
export function mountAdminApi(config: Config, app: App, { nodes, swaps, publicUrl }: Served): void {
  const store = openAdminStore(app.database, config)
  const deps = createActionDeps(config, async () => swaps, {
    ...{ books: app.books, chains: app.chains, clock: { now: Date.now } },
    settings: { guards: config.guards },
    currencyOf: (id) => app.catalogue.list().find(({ asset }) => asset.id === id) ?? null,
  })
  const isSandbox = config.environment === 'sandbox'
  const { origin, hostname } = new URL(publicUrl)
  const isSecure = origin.startsWith('https:')
  const { idleMs, sessionMs, allowedNetworks, twoPersons } = config.admin
  mountAdmin(app.http, {
    identity: {
      ...{ store, secrets: deps.secrets, requiresSecondFactor: !isSandbox, sessionMs, now: Date.now },
      // A passkey belongs to a name, never to an address.
      site: { rpId: isSandbox ? 'localhost' : hostname, origins: originsOf(origin, isSandbox) },
    },
    deps,
    live: {
      book: () => app.books.current(),
      readiness: () => app.services.readiness(),
      networks: [...app.chains.values()].map(({ network }) => network),
      endpoints: new Map(nodes.map(({ network, rpcUrls }) => [network, rpcUrls.map((node) => hostOf(urlOf(node)))])),
      tokens: (network) => app.services.swaps.listTokens(network).map(({ token, enabled }) => ({ ...token, enabled })),
      pools: app.pools,
      publicUrl,
      settings: describeConfig(config),
      now: Date.now,
    },
    settings: {
      cookie: isSecure ? '__Host-swapyard' : 'swapyard-sandbox',
      ...{ isSecure, origins: originsOf(origin, isSandbox), allowedNetworks, idleMs, sessionMs },
    },
    ...{ twoPersons, throttle: app.throttle, publicUrl },
  })
  mountConsole(app.http)
}

/** The sandbox is also reached by the name of loopback, to which its passkeys belong. */
const originsOf = (origin: string, isSandbox: boolean): readonly string[] =>
  isSandbox ? [origin, origin.replace('127.0.0.1', 'localhost').replace('[::1]', 'localhost')] : [origin]

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url)

/** Creates the operator of the sandbox. */
export async function seedSandboxOperator(database: Database, config: Config): Promise<void> {
  const { operators } = openAdminStore(database, config)
  const { login, password } = sandboxOperator
  const id = await operators.add({ login, role: 'admin', createdBy: 'sandbox' })
  if (id !== null) await operators.setPassword(id, await hashPassword(password))
}
