import type { AssetId } from '../../core/domain/asset.ts'
import { refused } from '../../core/services/audit-note.ts'
import type { Addresses } from '../../exchange/ports/chain.ts'
import type { ActionContext } from './action.ts'
import { findCurrency, listedCurrency } from './lookup.ts'

type Context = Pick<ActionContext, 'deps' | 'isOwnAddress'>
type Checked = Readonly<{ parsed: string; addresses: Addresses }>

/** The address in canonical form. Refuses our own addresses and addresses on the deny list. */
async function checkAddress({ deps, isOwnAddress }: Context, network: string, address: string): Promise<Checked> {
  const own = deps.addresses()
  const addresses = own.get(network)?.addresses
  if (addresses === undefined) throw refused(`the network ${network} has no adapter`)
  const parsed = addresses.parse(address)
  if (parsed === null) throw refused(`${address} is not an address of ${network}`)
  // Our address of another network is refused as well: no watcher looks for it on this one.
  const isHot = [...own.values()].some((one) => one.addresses.hot() === parsed)
  if (isHot || (await isOwnAddress(parsed))) throw refused(`${address} is an address of this service`)
  await requireAllowed(deps, network, parsed)
  return { parsed, addresses }
}

async function requireAllowed(deps: Context['deps'], network: string, address: string): Promise<void> {
  if (!(await deps.isAllowed(network, address))) throw refused(`${address} is never served (screening.denied)`)
}

/** The address for swap fees in canonical form, checked as above. Sui has swaps and no wallets of ours. */
export async function checkFeeAddress(context: Context, network: string, address: string): Promise<string> {
  if (network !== 'sui') return (await checkAddress(context, network, address)).parsed
  const parsed = context.deps.parseSwapAccount(network, address)
  if (parsed === null) throw refused(`${address} is not an address of ${network}`)
  await requireAllowed(context.deps, network, parsed)
  return parsed
}

export type CheckedDestination = Readonly<{ assetId: AssetId; address: string; memo: string | null }>

/** The destination in canonical form, checked as above: no typing error may become an address that receives money. */
export async function checkDestination(
  context: Context,
  currency: string,
  address: string,
  memo: string | undefined,
): Promise<CheckedDestination> {
  const assetId = findCurrency(currency)
  const { network } = listedCurrency(assetId)
  const { parsed, addresses } = await checkAddress(context, network, address)
  const parsedMemo = memo === undefined ? null : addresses.parseMemo(memo)
  if (memo !== undefined && parsedMemo === null) throw refused(`${memo} is not a memo of ${network}`)
  return { assetId, address: parsed, memo: parsedMemo }
}
