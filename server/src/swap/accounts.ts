import { AppError, type Problem } from '../core/domain/errors.ts'
import type { Screening, ScreeningSubject } from '../core/ports/screening.ts'
import type { SwapChain } from './ports/swap-chain.ts'

/**
 * An account that can be paid, in canonical form; null for other text, for our contracts, from which anyone could withdraw, and for the
 * wrapped coin. Its contract wraps native coins that it receives for their sender: for our router, which keeps nothing for anyone.
 */
export function parsePayee(
  { parseAccount, ownContracts, wrapped }: Pick<SwapChain, 'parseAccount' | 'ownContracts' | 'wrapped'>,
  text: string,
): string | null {
  const account = parseAccount(text)
  return account === null || ownContracts.has(account) || account === wrapped ? null : account
}

/** As `parsePayee`; null with a problem added. */
export function readAccount(chain: SwapChain, text: string, field: string, problems: Problem[]): string | null {
  const account = parsePayee(chain, text)
  if (account === null)
    problems.push({ code: 'INVALID_ADDRESS', field, message: `${field} is not an account on ${chain.network.id}` })
  return account
}

export type CheckAccountDeps = Readonly<{
  /** Whether a checksummed address belongs to our wallets or to an exchange, on any network. */
  isOwnAddress(address: string): Promise<boolean>
  screening: Screening
}>

type Direction = ScreeningSubject['direction']

/** Refuses an address of this service, and a restricted one. */
export async function checkAccount(
  { isOwnAddress, screening }: CheckAccountDeps,
  chain: SwapChain,
  account: string,
  { field, direction }: Readonly<{ field: string; direction: Direction }>,
): Promise<void> {
  if (await isOwnAddress(chain.formatAddress(account)))
    throw new AppError('ADDRESS_IS_OURS', `${field} is an address of this service`, { field })
  await screen(screening, chain, account, { field, direction })
}

export async function screen(
  screening: Screening,
  chain: SwapChain,
  account: string,
  { field, direction }: Readonly<{ field: string; direction: Direction }>,
): Promise<void> {
  const address = chain.formatAddress(account)
  const verdict = await screening.screen({ network: chain.network.id, address, direction })
  if (verdict !== 'allow') throw new AppError('RESTRICTED', 'this address cannot be served', { field })
}
