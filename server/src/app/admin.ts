import { parseAddress } from '../adapters/chains/evm/address.ts'
import { createAdminStore } from '../adapters/postgres/admin/admin-store.ts'
import type { Database } from '../adapters/postgres/core/database.ts'
import { createSuiAddressFormat } from '../adapters/sui/address-format.ts'
import type { ActionDeps } from '../admin/actions/action.ts'
import { mountAdmin } from '../admin/http/mount-admin.ts'
import { hashPassword } from '../admin/identity/passwords.ts'
import { createSecretBox } from '../admin/identity/secret-box.ts'
import type { AdminStore } from '../admin/ports/admin-store.ts'
import { describeConfig } from '../config/describe.ts'
import type { Config } from '../config/load.ts'
import { openAddresses } from './addresses.ts'
import type { App } from './app.ts'
import type { NetworkNodes } from './chains.ts'
import { payeeMacsOf } from './payee-macs.ts'
import { createScreening } from './screening.ts'
import type { SwapOffer } from './swaps.ts'

/** The sandbox's operator, who needs no second factor. The sandbox listens on loopback only. */
export const sandboxOperator = { login: 'admin', password: 'sandbox-operator' } as const

type Offered = Pick<SwapOffer, 'settings' | 'routing'>

/** What acts of operators need, for the admin API and for the command line on the server. */
export function createActionDeps(config: Config, readOffer: () => Offered): ActionDeps {
  let own: ReturnType<typeof openAddresses> | null = null
  const addresses = () => {
    own ??= openAddresses(config)
    return own
  }
  const { environment, coldAddresses, outputs, partners: partnerDefaults } = config
  return {
    ...{ environment, coldAddresses, outputs, partnerDefaults, addresses },
    pepper: Buffer.from(config.pepper),
    box: createSecretBox(peppersOf(config)),
    encodingsOf,
    async isAllowed(network, address) {
      const screening = createScreening(config.denied, addresses())
      return (await screening.screen({ network, address, direction: 'recipient' })) === 'allow'
    },
    parseSwapAccount: (network, address) => (network === 'sui' ? createSuiAddressFormat().parseAccount(address) : null),
    // Imported here: most acts need no chain of swaps, and the command line starts in half the time without.
    async swaps() {
      const { serveNetworks } = await import('./swaps.ts')
      const { settings, routing } = readOffer()
      return { networks: serveNetworks(environment, routing), feeAddresses: settings?.feeAddresses ?? new Map() }
    },
  }
}

/** Hashes are stored in lower case, and addresses of accounts by EIP-55; a search takes any case. */
function encodingsOf(text: string): readonly string[] {
  const lower = text.toLowerCase()
  return [...new Set([text, lower, parseAddress(lower) ?? text])]
}

const peppersOf = ({ pepper, previousPepper }: Config): readonly Buffer[] =>
  [pepper, previousPepper].filter((one) => one !== null).map((one) => Buffer.from(one))

export const openAdminStore = (database: Database, config: Config): AdminStore =>
  createAdminStore(database, payeeMacsOf(config))

type Served = Readonly<{ nodes: readonly NetworkNodes[]; swaps: SwapOffer; publicUrl: string }>

/** Mounts the admin API on an API process. */
export function mountAdminApi(config: Config, app: App, { nodes, swaps, publicUrl }: Served): void {
  const store = openAdminStore(app.database, config)
  const deps = createActionDeps(config, () => swaps)
  const isSandbox = config.environment === 'sandbox'
  const { origin, hostname } = new URL(publicUrl)
  const isSecure = origin.startsWith('https:')
  const { idleMs, sessionMs, allowedNetworks, twoPersons } = config.admin
  mountAdmin(app.http, {
    identity: {
      ...{ store, box: deps.box, requiresSecondFactor: !isSandbox, sessionMs, now: Date.now },
      // A passkey belongs to a name, never to an address.
      site: { rpId: isSandbox ? 'localhost' : hostname, origins: originsOf(origin, isSandbox) },
    },
    deps,
    live: {
      book: () => app.books.current(),
      readiness: () => app.services.readiness(),
      networks: [...app.chains.values()].map(({ network }) => network),
      endpoints: new Map(nodes.map(({ network, rpcUrls }) => [network, rpcUrls.map(hostOf)])),
      tokens: (network) => app.services.swaps.listTokens(network).map(({ token, enabled }) => ({ ...token, enabled })),
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
