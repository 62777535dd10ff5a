import { parseUnits } from '../../core/domain/amount.ts'
import { canonicalNetwork } from '../../core/domain/catalogue.ts'
import { refused } from '../../core/services/audit-note.ts'
import { swapNetworks } from '../../swap/domain/swap.ts'
import type { ActionContext, ActionResult, ActionsOf } from './action.ts'
import { checkDestination, checkFeeAddress } from './destinations.ts'
import { findCurrency, listedCurrency } from './lookup.ts'

const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u

const EMAIL = /^[^\s@<>,;"]{1,64}@[^\s@<>,;"]{1,189}$/

/** An absent address changes nothing, `none` removes it. */
function toEmail(email: string | undefined): { email?: string | null } {
  if (email === undefined) return {}
  if (email !== 'none' && !EMAIL.test(email)) throw refused(`${email} is not an e-mail address`)
  return { email: email === 'none' ? null : email }
}

/** Changes a partner, and records who changed it, its state before and after. */
async function change<T>(context: ActionContext, name: string, act: string, work: () => Promise<T>): Promise<T> {
  await context.lockRow('partner', name)
  const before = await context.partnerRow(name)
  const result = await work()
  await context.store.auditLog.record({
    ...{ ...context.note, act: `partner ${act}`, subject: name, before, after: await context.partnerRow(name) },
  })
  return result
}

const requireFound = (isFound: boolean, name: string, rest = ''): void => {
  if (!isFound) throw refused(`there is no partner ${name}${rest}`)
}

async function setSuspended(context: ActionContext, name: string, suspended: boolean): Promise<ActionResult> {
  await change(context, name, suspended ? 'suspend' : 'resume', async () =>
    requireFound(await context.partners.setSuspended(name, suspended), name),
  )
  return { name, suspended }
}

export const partnerActions: ActionsOf<
  | 'partners-add'
  | 'partners-set'
  | 'partners-suspend'
  | 'partners-resume'
  | 'partners-recipient'
  | 'partners-fee-address'
  | 'partners-monthly-payout'
> = {
  'partners-add': {
    async run(context, { name, strict = false, refundToSender = false, email, ...given }) {
      if (!NAME.test(name)) throw refused('a name has 1 to 64 letters, digits, spaces, dots, dashes or underscores')
      const row = {
        name,
        ...context.deps.partnerDefaults,
        ...withoutAbsent(given),
        strict,
        refundToSender,
        ...toEmail(email),
      }
      const id = await change(context, name, 'add', async () => {
        const added = await context.partners.add(row)
        if (added === null) throw refused(`partner ${name} already exists`)
        return added
      })
      // NAME allows spaces, and no other character that a shell interprets.
      return { id, name, next: `swapyard partners keys add ${name.includes(' ') ? `'${name}'` : name}` }
    },
  },
  'partners-set': {
    async run(context, { name, email, ...given }) {
      const changes = { ...withoutAbsent(given), ...toEmail(email) }
      if (Object.keys(changes).length === 0) throw refused('nothing to change: name an option')
      await change(context, name, 'set', async () => requireFound(await context.partners.set(name, changes), name))
      return { name, ...changes }
    },
  },
  'partners-suspend': { run: (context, { name }) => setSuspended(context, name, true) },
  'partners-resume': { run: (context, { name }) => setSuspended(context, name, false) },
  'partners-recipient': {
    async run(context, { name, currency, address, memo }) {
      const checked = await checkDestination(context, currency, address, memo)
      await change(context, name, 'recipient', async () =>
        requireFound(await context.partners.setRecipient(name, checked.assetId, checked.address, checked.memo), name),
      )
      return { name, currency: checked.assetId, address: checked.address, memo: checked.memo }
    },
  },
  'partners-monthly-payout': {
    async run(context, { name, currency, minimum, convertOthers = false }) {
      const assetId = findCurrency(currency)
      const units = minimum === 'none' ? null : parseUnits(minimum, { ...listedCurrency(assetId), id: assetId })
      if (units === 0n) throw refused('the minimum must be above zero; `none` ends the payouts')
      await change(context, name, 'monthly-payout', async () =>
        requireFound(
          await context.store.monthlyPayouts.set(
            name,
            assetId,
            units === null ? null : { minimumUnits: units, convertsOthers: convertOthers },
          ),
          name,
          units === null ? ` with monthly payouts of ${assetId}` : ` with a recipient for ${assetId}`,
        ),
      )
      return { name, currency: assetId, minimum: units === null ? null : minimum, convertOthers }
    },
  },
  'partners-fee-address': {
    async run(context, { name, network: ticker, address }) {
      const network = canonicalNetwork(ticker)
      if (!swapNetworks.some((known) => known === network)) throw refused(`swaps are not available on ${ticker}`)
      const parsed = address === 'none' ? null : await checkFeeAddress(context, network, address)
      await change(context, name, 'fee-address', async () =>
        requireFound(
          await context.feeAccounts.setAddress(name, network, parsed),
          name,
          parsed === null ? ' with a fee address there' : '',
        ),
      )
      return { name, network, feeAddress: parsed }
    },
  },
}

type Present<Given> = { readonly [Key in keyof Given]: Exclude<Given[Key], undefined> }

const withoutAbsent = <Given extends object>(given: Given): Present<Given> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Present<Given>
