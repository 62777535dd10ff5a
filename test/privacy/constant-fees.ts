import { networks } from '../../server/networks/index.ts'
import { openAddresses } from '../../server/src/app/addresses.ts'
import { createApp } from '../../server/src/app/app.ts'
import { createChains } from '../../server/src/app/chains.ts'
import type { ServerParts } from '../support/scenario.ts'

/**
 * The server on nodes whose fee rates stay as they are at the start, as the prices stand still: an analyst subtracts the published
 * network fees from amounts, and transactions of other test files on the same chains would change them during the run. Monero's are
 * constant on its own.
 */
export const constantFeeServer: ServerParts = {
  openAddresses,
  networks,
  createApp: async (options) => {
    const nodes = options.nodes.filter(({ network }) => network !== 'xmr')
    const { chains } = createChains(options.environment, nodes, options.publicKeys)
    const constant = await Promise.all(
      [...chains].map(async ([network, chain]) => {
        const rate = await chain.reader.feeRate()
        return [network, { ...chain, reader: { ...chain.reader, feeRate: async () => rate } }] as const
      }),
    )
    return createApp({ ...options, chains: new Map(constant) })
  },
}
