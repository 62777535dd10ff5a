import { AppError, type Problem } from '../../core/domain/errors.ts'
import type { Partner } from '../../core/domain/partner.ts'
import type { WithIdempotency } from '../../core/services/interfaces.ts'
import { type CheckAccountDeps, checkAccount, readAccount } from '../accounts.ts'
import type { FeeAddressView, SwapServices, SwapSettings } from '../interfaces.ts'
import type { SwapNetworks } from '../networks.ts'
import type { FeeAccounts, FeeAddressMail, OwnFeeAddress } from '../ports/store/fee-accounts.ts'
import { refusal } from '../quotes/read-swap-request.ts'

export type FeeAddressesDeps = CheckAccountDeps &
  Readonly<{
    networks: Pick<SwapNetworks, 'get' | 'formats'>
    feeAccounts: Pick<FeeAccounts, 'listAddresses' | 'requestAddress'>
    withIdempotency: WithIdempotency
    /** Whether a mail server is configured. */
    sendsMail: boolean
    /** Whether a new address is refused without one. */
    requiresMail: boolean
    settings: Pick<SwapSettings, 'feeAddressDelayMs'>
  }>

/** Removes the address. */
const NONE = 'none'
const HOUR_MS = 3_600_000
/** Who holds a stolen key must not hide its e-mail among thousands. */
const CHANGE_EVERY_MS = HOUR_MS

/** The addresses at which a partner receives its referrer fees, as the partner sees and sets them. */
export function createFeeAddresses(deps: FeeAddressesDeps): Pick<SwapServices, 'listFeeAddresses' | 'setFeeAddress'> {
  const list = async ({ id }: Pick<Partner, 'id'>) =>
    (await deps.feeAccounts.listAddresses(id)).map((one) => viewOf(deps, one))
  return {
    listFeeAddresses: list,
    async setFeeAddress(caller, request, idempotency) {
      const { partner, keyId } = caller
      const stored = await deps.withIdempotency(partner, idempotency, async () => {
        const network = deps.networks.get(request.network).chain.network.id
        const address = await readFeeAddress(deps, request)
        const outcome = await deps.feeAccounts.requestAddress({
          ...{ partnerId: partner.id, network, address, keyId },
          ...{ mail: deps.sendsMail ? changeMail : null, requiresMail: deps.requiresMail },
          ...{ delayMs: deps.settings.feeAddressDelayMs, everyMs: CHANGE_EVERY_MS },
        })
        refuse(outcome, network)
        const now = (await list(partner)).find((one) => one.network === network)
        return JSON.stringify(now ?? { network, address: null, next: null })
      })
      return JSON.parse(stored) as FeeAddressView
    },
  }
}

/** The address in canonical form; null removes it. */
async function readFeeAddress(
  deps: FeeAddressesDeps,
  { network, address }: Readonly<{ network: string; address: string }>,
): Promise<string | null> {
  if (address === NONE) return null
  const { chain } = deps.networks.get(network)
  const problems: Problem[] = []
  const account = readAccount(chain, address, 'address', problems)
  if (account === null) throw refusal(problems)
  await checkAccount(deps, chain, account, { field: 'address', direction: 'recipient' })
  return account
}

type Outcome = Awaited<ReturnType<FeeAccounts['requestAddress']>>

function refuse(outcome: Outcome, network: string): void {
  if (outcome === 'done') return
  if (outcome === 'no e-mail')
    throw new AppError(
      'EMAIL_REQUIRED',
      'a new fee address is announced by e-mail and we have no address of yours: contact us',
      { field: 'address' },
    )
  if (outcome === 'no mail server')
    throw new AppError(
      'EMAIL_REQUIRED',
      'a new fee address is announced by e-mail and this service has no mail server: ask the operator to set the address',
      { field: 'address' },
    )
  throw new AppError(
    'RATE_LIMIT_EXCEEDED',
    `the fee address on ${network} was changed within the last hour: wait, or withdraw the change with the address in effect`,
    { field: 'address', retryAfterSeconds: outcome.retryAfterSeconds },
  )
}

function viewOf({ networks }: FeeAddressesDeps, { network, address, next }: OwnFeeAddress): FeeAddressView {
  const show = (text: string) =>
    networks
      .formats(network)
      .find((format) => format.parseAccount(text) === text)
      ?.formatAddress(text) ?? text
  return {
    network,
    address: address === null ? null : show(address),
    next: next === null ? null : { address: show(next.address), effective: next.from.toISOString() },
  }
}

const changeMail: FeeAddressMail = (network, next) => ({
  subject: `Your fee address on ${network} was changed`,
  body: [
    next === null
      ? `Your fee address on ${network} was removed, or a waiting change of it was withdrawn, by an API key of yours.`
      : `From ${next.from.toISOString()} on, your swap referrer fees on ${network} will go to ${next.address}. An API key of yours asked for it.`,
    'If this was not you, withdraw the change before that time: call POST /v1/partner/fee-addresses with the address that is in effect now, or with none. Then contact us to revoke your API keys.',
    '',
  ].join('\n'),
})
