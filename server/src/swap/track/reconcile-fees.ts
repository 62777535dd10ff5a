import type { AlarmStore } from '../../core/ports/store/alarms.ts'
import type { Log } from '../../lib/log.ts'
import type { SwapNetworks } from '../networks.ts'
import type { FeeAccounts, HeldFees } from '../ports/store/fee-accounts.ts'
import type { SwapChain } from '../ports/swap-chain.ts'

export type ReconcileFeesDeps = Readonly<{
  networks: Pick<SwapNetworks, 'find'>
  feeAccounts: Pick<FeeAccounts, 'listHeldFees'>
  alarms: Pick<AlarmStore, 'raise' | 'clear'>
  /** The listed tokens of a network, by canonical address. The native coin is on no list. */
  listed(network: string): readonly Readonly<{ address: string }>[]
  log: Pick<Log, 'error' | 'warn'>
}>

/**
 * Compares the operator's fee addresses with the ledger. Less on the chain than in the ledger raises an alarm: a transfer out
 * was not booked. It must persist for two runs, because a block may arrive between the two reads. More on the chain is
 * normal: the operator may receive other transfers there. An unlisted token can report any balance, so a lower one is only logged.
 */
export function createReconcileFees(deps: ReconcileFeesDeps): () => Promise<void> {
  const { networks, feeAccounts, log } = deps
  const suspected = new Set<string>()
  return async () => {
    for (const held of await feeAccounts.listHeldFees()) {
      const chain = networks.find(tokenOf(held).network)?.chain
      if (chain === undefined) continue
      // A token whose contract fails does not delay the others.
      await compare(deps, suspected, chain, held).catch((err: unknown) =>
        log.warn({ err, address: held.address, assetId: held.assetId }, 'fees of partners were not compared'),
      )
    }
  }
}

async function compare(
  { alarms, listed, log }: ReconcileFeesDeps,
  suspected: Set<string>,
  chain: SwapChain,
  held: HeldFees,
): Promise<void> {
  const { address, assetId, units } = held
  const { token, network } = tokenOf(held)
  const onChain = units === 0n ? 0n : await chain.readBalance(address, token)
  const subject = `fees:${assetId}:${address}`
  if (onChain >= units) {
    suspected.delete(subject)
    await alarms.clear(subject)
  } else if (suspected.has(subject)) {
    const detail = { ledger: units.toString(), held: onChain.toString(), address, assetId }
    log.error(detail, 'fees of partners are missing')
    const isListed = [chain.native, chain.wrapped, ...listed(network).map((one) => one.address)].includes(token)
    if (isListed) await alarms.raise(subject, 'fees of partners are missing', detail)
  } else {
    suspected.add(subject)
  }
}

function tokenOf({ assetId }: HeldFees): Readonly<{ token: string; network: string }> {
  const at = assetId.indexOf('@')
  return { token: assetId.slice(0, at), network: assetId.slice(at + 1) }
}
