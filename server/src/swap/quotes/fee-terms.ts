import { AppError } from '../../core/domain/errors.ts'
import type { Partner } from '../../core/domain/partner.ts'
import { parsePayee } from '../accounts.ts'
import type { SwapSettings } from '../interfaces.ts'
import type { FeeAccounts } from '../ports/store/fee-accounts.ts'
import type { SwapChain } from '../ports/swap-chain.ts'

export type FeeTermsDeps = Readonly<{
  feeAccounts: Pick<FeeAccounts, 'findAddress'>
  settings: Pick<SwapSettings, 'feeAddresses'>
}>
export type FeeTerms = Readonly<{ feeTo: string | null; owesFee: boolean }>

/** The fee goes to the partner's address, else to the operator's, who then owes it to the partner. */
export async function readFeeTerms(
  { feeAccounts, settings }: FeeTermsDeps,
  partner: Partner,
  chain: SwapChain,
  feePpm: number,
): Promise<FeeTerms> {
  if (feePpm === 0) return { feeTo: null, owesFee: false }
  const { id } = chain.network
  const own = await feeAccounts.findAddress(partner.id, id)
  const feeTo = parsePayee(chain, own ?? settings.feeAddresses.get(id) ?? '')
  if (feeTo !== null) return { feeTo, owesFee: own === null }
  throw new AppError('REFERRER_FEE_OUT_OF_RANGE', `there is no fee address on ${id}: set one, or request a fee of 0`, {
    field: 'referrerFee',
    extra: { min: '0', max: '0' },
  })
}

/**
 * The terms under which the chain can pay a fee. Where it would leave the partner's address with less than the network requires of an
 * account, or where the user would pay for an account that the partner can close again, it goes to the operator's address and is owed to
 * the partner.
 */
export async function choosePayable(
  { settings }: Pick<FeeTermsDeps, 'settings'>,
  chain: SwapChain,
  { feeTo, owesFee }: FeeTerms,
  fee: Readonly<{ token: string; units: bigint }>,
): Promise<FeeTerms> {
  const isPayable = async (address: string, opensAccount: boolean) =>
    (await chain.isPayable?.(address, { ...fee, opensAccount })) ?? true
  // The operator's account of a token is opened once, by the first user who needs it.
  if (feeTo === null || fee.units === 0n || (await isPayable(feeTo, owesFee))) return { feeTo, owesFee }
  const operator = chain.parseAccount(settings.feeAddresses.get(chain.network.id) ?? '')
  if (operator !== null && operator !== feeTo && (await isPayable(operator, true)))
    return { feeTo: operator, owesFee: true }
  const reason = `the fee address ${chain.formatAddress(feeTo)} has no account of this token, or would hold less than the least balance of an account`
  throw new AppError('REFERRER_FEE_OUT_OF_RANGE', `${reason}: open that account, or request a fee of 0`, {
    field: 'referrerFee',
    extra: { min: '0', max: '0' },
  })
}

/** Refuses a fee that no build could pay. Reads the database only where the operator has no fee address. */
export async function requireFeeAddress(
  deps: FeeTermsDeps,
  partner: Partner,
  chain: SwapChain,
  feePpm: number,
): Promise<void> {
  if (feePpm > 0 && !deps.settings.feeAddresses.has(chain.network.id)) await readFeeTerms(deps, partner, chain, feePpm)
}
