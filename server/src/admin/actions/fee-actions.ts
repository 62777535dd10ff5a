import { formatUnits } from '../../core/domain/amount.ts'
import type { AssetId } from '../../core/domain/asset.ts'
import { canonicalNetwork } from '../../core/domain/catalogue.ts'
import { refused } from '../../core/services/audit-note.ts'
import { tokenAsset } from '../../swap/networks.ts'
import { createBookFeePayment } from '../../swap/track/book-fee-payment.ts'
import type { ActionsOf } from './action.ts'
import { findPartner } from './lookup.ts'

function orRefuse<T>(value: T | null | undefined, message: string): T {
  if (value === null || value === undefined) throw refused(message)
  return value
}

/** Swap fees that the operator holds for partners. */
export const feeActions: ActionsOf<'partners-fees-paid' | 'partners-fees-search'> = {
  'partners-fees-paid': {
    unbound: ['owed'],
    async run(context, { name, network: ticker, token, address, hash, from }) {
      const id = canonicalNetwork(ticker)
      const { networks, feeAddresses } = await context.deps.swaps()
      const network = orRefuse(networks.get(id), `swaps are not served on ${ticker}`)
      const account = (text: string) => orRefuse(network.chain.parseAccount(text), `${text} is not an address of ${id}`)
      const sender = orRefuse(
        from ?? feeAddresses.get(id),
        `no fee address is configured for ${id}; name it with --from`,
      )
      const paid = {
        hash: orRefuse(network.chain.parseHash(hash), `${hash} is not a transaction hash`),
        token: orRefuse(network.chain.parse(token), `${token} is not an address of ${id}`),
        from: account(sender),
        to: account(address),
      }
      const partner = await findPartner(context, name)
      const decimals = (await context.feeAccounts.findDecimals(tokenAsset(network, paid.token))) ?? 0
      const show = (units: bigint, assetId: AssetId) => `${formatUnits(units, decimals)} ${assetId}`
      const book = createBookFeePayment(context.store, show)
      const { assetId, units, repeated } = await book(partner, network, paid, context.note)
      const amount = formatUnits(units, decimals)
      return { name, currency: assetId, amount, from: paid.from, address: paid.to, hash: paid.hash, repeated }
    },
  },
  'partners-fees-search': {
    async run({ swapFees, store, note }, { network: ticker, height }) {
      const network = canonicalNetwork(ticker)
      if (!(await swapFees.resetScan(network, height)))
        throw refused(`no block of ${network} after ${height} has been searched yet`)
      await store.auditLog.record({ ...note, act: 'fees search', subject: `network:${network}`, detail: { height } })
      return { network, searchedTo: height }
    },
  },
}
