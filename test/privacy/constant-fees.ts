import { createChains } from '../../server/src/app/chains.ts'
import { checkoutServer, type ServerParts } from '../support/scenario.ts'

/**
 * The server with the fee rates of its start, as its prices stand still: an analyst subtracts the published network fees from amounts,
 * and transactions of other test files on the same chains would change these fees during the run. The app creates the chain of Monero
 * itself, because it needs a wallet; the fee rate there changes only with blocks of more than 300 kB.
 */
export const constantFeeServer: ServerParts = {
  ...checkoutServer,
  createApp: async (options) => {
    const nodes = options.nodes.filter(({ network }) => network !== 'xmr')
    const { chains } = createChains(options.environment, nodes, options.publicKeys)
    const constant = await Promise.all(
      [...chains].map(async ([network, chain]) => {
        const rate = await chain.reader.feeRate()
        return [network, { ...chain, reader: { ...chain.reader, feeRate: async () => rate } }] as const
      }),
    )
    return checkoutServer.createApp({ ...options, chains: new Map(constant) })
  },
}
