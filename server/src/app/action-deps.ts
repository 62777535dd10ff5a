import { dexNetworks } from '../../dexes/index.ts'
import { parseAddress } from '../adapters/chains/evm/address.ts'
import { createAdminStore } from '../adapters/postgres/admin/admin-store.ts'
import type { Database } from '../adapters/postgres/core/database.ts'
import { createSuiAddressFormat } from '../adapters/sui/address-format.ts'
import type { ActionDeps } from '../admin/actions/action.ts'
import { createOperatorSecrets } from '../admin/identity/operator-secrets.ts'
import type { AdminStore } from '../admin/ports/admin-store.ts'
import type { Config } from '../config/load.ts'
import { parsePool, parsePoolToken } from '../config/swap-addresses.ts'
import { present } from '../lib/assert.ts'
import { openAddresses } from './addresses.ts'
import { createMaxFees } from './max-fees.ts'
import { payeeMacsOf } from './payee-macs.ts'
import { createScreening } from './screening.ts'
import type { SwapOffer } from './swaps.ts'

type Offered = Pick<SwapOffer, 'settings' | 'routing'>

/** What actions of operators need, for the admin API and for the command line on the server. */
export function createActionDeps(
  config: Config,
  readOffer: () => Promise<Offered>,
  market: ActionDeps['market'] = null,
): ActionDeps {
  let own: ReturnType<typeof openAddresses> | null = null
  const addresses = () => {
    own ??= openAddresses(config)
    return own
  }
  const { environment, coldAddresses, outputs, partners: partnerDefaults } = config
  return {
    ...{ environment, coldAddresses, outputs, partnerDefaults, addresses, market },
    maxFeesOf: createMaxFees(environment),
    pepper: Buffer.from(config.pepper),
    secrets: createOperatorSecrets(peppersOf(config)),
    encodingsOf,
    async isAllowed(network, address) {
      const screening = createScreening(config.denied, addresses())
      return (await screening.screen({ network, address, direction: 'recipient' })) === 'allow'
    },
    parseSwapAccount: (network, address) => (network === 'sui' ? createSuiAddressFormat().parseAccount(address) : null),
    parsePoolName: async (network, kind, text) =>
      kind === 'pool' ? parsePool(network, text) : parsePoolToken(network, text, () => readWrapped(network, readOffer)),
    // Imported here: most actions need no chain of swaps, and the command line starts in half the time without.
    async swaps() {
      const { serveNetworks } = await import('./swaps.ts')
      const { settings, routing } = await readOffer()
      return { networks: await serveNetworks(environment, routing), feeAddresses: settings?.feeAddresses ?? new Map() }
    },
  }
}

/** The token by which pools represent the native coin. */
async function readWrapped(network: string, readOffer: () => Promise<Offered>): Promise<string> {
  const { routing } = await readOffer()
  const known = [...routing.map(({ dexNetwork }) => dexNetwork), ...dexNetworks]
  return present(known.find((one) => one.network === network)?.wrapped, `the wrapped coin of ${network}`)
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
