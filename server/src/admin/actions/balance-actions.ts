import { formatUnits, parseUnits } from '../../core/domain/amount.ts'
import type { AssetId } from '../../core/domain/asset.ts'
import { refused } from '../../core/services/audit-note.ts'
import { createOperateBalances } from '../../exchange/operations/operate-balances.ts'
import { planNow } from '../../exchange/payouts/plan-outputs.ts'
import type { ActionContext, ActionDeps, ActionResult, ActionsOf } from './action.ts'
import { checkDestination } from './destinations.ts'
import { findPartner, listedCurrency, showAmount } from './lookup.ts'

type Withdrawal = Readonly<{ currency: string; amount: string; address: string; key: string }>

const operateOn = ({ store, deps }: Pick<ActionContext, 'store' | 'deps'>) =>
  createOperateBalances(store, deps.maxFeesOf, showAmount)

/** By the outputs of the wallet when it is carried out. It pays our own wallet. */
const PLAN = ['outputs', 'units', 'payoutIds']

/** What we owe outside of exchanges, and our own capital. */
export const balanceActions: ActionsOf<
  | 'partners-pay-out'
  | 'unclaimed-pay-out'
  | 'treasury-withdraw'
  | 'treasury-ceiling'
  | 'treasury-split'
  | 'treasury-consolidate'
> = {
  'partners-pay-out': {
    unbound: ['owed'],
    async run(context, { name, currency, address, amount, key, memo }) {
      const partner = await findPartner(context, name)
      const { assetId, ...destination } = await checkDestination(context, currency, address, memo)
      const definition = listedCurrency(assetId)
      const units = parseUnits(amount, { ...definition, id: assetId })
      const request = { assetId, network: definition.network, units, destination }
      const paid = await operateOn(context).payOut(partner, request, key, context.note)
      return { name, currency: assetId, amount, address: destination.address, ...paid }
    },
  },
  'unclaimed-pay-out': {
    unbound: ['owed'],
    async run(context, { depositId, address, memo }) {
      const check = async (currency: AssetId) => {
        const { assetId: _, ...destination } = await checkDestination(context, currency, address, memo)
        return destination
      }
      const paid = await operateOn(context).payUnclaimed(depositId, check, context.note)
      return { depositId, ...paid, amount: formatUnits(paid.units, listedCurrency(paid.assetId).decimals) }
    },
  },
  'treasury-withdraw': {
    unbound: ['owed'],
    run: (context, given) =>
      withdraw(context, given, async (operate, request, units, note) => ({
        ...(await operate.withdraw({ ...request, units }, given.key, note)),
        units,
      })),
  },
  'treasury-ceiling': {
    // What is above the ceiling when it is carried out.
    unbound: ['owed', 'units'],
    run: (context, given) =>
      withdraw(context, given, (operate, request, ceilingUnits, note) =>
        operate.withdrawAbove(request, ceilingUnits, given.key, note),
      ),
  },
  'treasury-split': {
    unbound: PLAN,
    run: (context, { network }) => planOutputs(context, 'split', network),
  },
  'treasury-consolidate': {
    unbound: PLAN,
    run: (context, { network }) => planOutputs(context, 'consolidate', network),
  },
}

type Operate = ReturnType<typeof createOperateBalances>
type Request = Parameters<Operate['withdrawAbove']>[0]

async function withdraw(
  context: ActionContext,
  { currency, amount, address }: Withdrawal,
  work: (
    operate: Operate,
    request: Request,
    units: bigint,
    note: ActionContext['note'],
  ) => ReturnType<Operate['withdrawAbove']>,
): Promise<ActionResult> {
  const { assetId, ...destination } = await checkDestination(context, currency, address, undefined)
  const definition = listedCurrency(assetId)
  const { network } = definition
  if (!isCold(context.deps, network, destination.address))
    throw refused(`${network}:${destination.address} is not in treasury.coldAddresses`)
  const units = parseUnits(amount, { ...definition, id: assetId })
  const done = await work(operateOn(context), { assetId, network, destination }, units, context.note)
  return {
    ...{ currency: assetId, amount: formatUnits(done.units, definition.decimals), address: destination.address },
    ...{ payoutId: done.payoutId, state: done.state, repeated: done.repeated },
  }
}

function isCold({ coldAddresses, addresses }: ActionDeps, network: string, address: string): boolean {
  const own = addresses().get(network)?.addresses
  return coldAddresses.some(
    (cold) => cold.startsWith(`${network}:`) && own?.parse(cold.slice(network.length + 1)) === address,
  )
}

async function planOutputs(
  { store, deps, note }: ActionContext,
  purpose: 'split' | 'consolidate',
  network: string,
): Promise<ActionResult> {
  const wallet = deps.addresses().get(network)
  if (!wallet) throw refused(`${network} is not a network of this keystore`)
  const { payoutIds, units } = await planNow(store, wallet, purpose, deps.outputs, note)
  return { network, purpose, payoutIds, units }
}
