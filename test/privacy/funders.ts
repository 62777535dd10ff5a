import { evmBankAddress } from '../../sandbox/src/keys.ts'
import { type Movement, type Side, toEvmHolder } from './movements.ts'

const bank = toEvmHolder(evmBankAddress())

/**
 * The sandbox's bank pays every deposit and funds every wallet of ours, on all EVM networks from one address. Payers and an
 * operator are different people with different addresses, so each role gets a holder of its own. `funding` decides whether
 * one address funded our wallets on all EVM networks, as in the sandbox, or one address on each network.
 */
export function separateBankRoles(
  movements: readonly Movement[],
  wallets: ReadonlySet<string>,
  funding: 'one address' | 'one address per network',
): readonly Movement[] {
  return movements.map((movement): Movement => {
    const fundsWallet = movement.to.some(({ holder }) => wallets.has(holder))
    const funder = funding === 'one address' ? 'funder' : `funder on ${movement.network}`
    const name = fundsWallet ? funder : `payers on ${movement.network}`
    const rename = (side: Side): Side => (side.holder === bank ? { ...side, holder: name } : side)
    return { ...movement, from: movement.from.map(rename), to: movement.to.map(rename) }
  })
}
