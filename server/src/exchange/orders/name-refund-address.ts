import type { Asset } from '../../core/domain/asset.ts'
import { AppError, type Problem } from '../../core/domain/errors.ts'
import type { Network } from '../../core/domain/network.ts'
import type { Partner } from '../../core/domain/partner.ts'
import type { Screening } from '../../core/ports/screening.ts'
import { present } from '../../lib/assert.ts'
import type { Exchange } from '../domain/exchange.ts'
import type { ExchangeServices } from '../interfaces.ts'
import { type Chain, type Destination, isSameHolder } from '../ports/chain.ts'
import type { ExchangeStore } from '../ports/store/exchanges.ts'
import { checkRecipientGas } from './check-recipient-gas.ts'
import { revealsRecipient } from './create-private-exchange.ts'
import { readDestination } from './read-order.ts'

export type NameRefundAddressDeps = Readonly<{
  exchanges: Pick<ExchangeStore, 'find' | 'nameRefund'>
  catalogue: Readonly<{ findNetwork(network: string): Network | null }>
  chains: ReadonlyMap<string, Chain>
  screening: Screening
  /** Whether the address is a deposit or wallet address of ours, on any network. */
  isOwnAddress(address: string): Promise<boolean>
}>

/** Names the refund address of an exchange that has none. It is checked as at a create. */
export function createNameRefundAddress(deps: NameRefundAddressDeps): ExchangeServices['nameRefundAddress'] {
  return async (partner, { id, refundAddress, refundMemo }) => {
    const exchange = await findExchange(deps, partner, id)
    return nameRefund(deps, exchange, await checkRefundAddress(deps, exchange, refundAddress, refundMemo))
  }
}

/** The refund address of an exchange in its canonical form. Throws if a create would not accept it. */
export async function checkRefundAddress(
  deps: NameRefundAddressDeps,
  exchange: Exchange,
  address: string,
  memo: string | undefined,
): Promise<Destination> {
  const refund = readRefund(deps, exchange, address, memo)
  await check(deps, exchange, refund)
  return refund
}

/** Stores a checked refund address. Throws REFUND_ADDRESS_SET. */
export async function nameRefund(
  { exchanges }: Pick<NameRefundAddressDeps, 'exchanges'>,
  { id }: Exchange,
  refund: Destination,
): Promise<Destination> {
  const outcome = await exchanges.nameRefund(id, refund)
  if (outcome === 'set') return refund
  throw new AppError(
    'REFUND_ADDRESS_SET',
    outcome === 'other'
      ? 'the exchange has another refund address, which cannot be replaced: contact us'
      : 'a refund of the exchange was already sent to the sender: its address cannot change',
    { field: 'refundAddress' },
  )
}

async function findExchange({ exchanges }: NameRefundAddressDeps, partner: Partner, id: string): Promise<Exchange> {
  const view = await exchanges.find(partner.id, id.toLowerCase())
  if (view === null) throw new AppError('EXCHANGE_NOT_FOUND', 'no exchange with this id: check the id', { field: 'id' })
  return view.exchange
}

const sourceOf = ({ id, legs }: Exchange): Asset => present(legs[0], `the first leg of exchange ${id}`).from

function readRefund(
  { catalogue, chains }: NameRefundAddressDeps,
  exchange: Exchange,
  address: string,
  memo: string | undefined,
): Destination {
  const problems: Problem[] = []
  const network = present(catalogue.findNetwork(sourceOf(exchange).network), `the network of exchange ${exchange.id}`)
  const target = { network, chain: chains.get(network.id) ?? null, isRequired: true }
  const refund = readDestination(target, address, memo, ['refundAddress', 'refundMemo'], problems)
  const [first] = problems
  if (first) throw new AppError(first.code, first.message ?? 'the refund address is not valid', { problems })
  return present(refund, 'a valid refund address')
}

async function check(
  { chains, screening, isOwnAddress }: NameRefundAddressDeps,
  exchange: Exchange,
  refund: Destination,
): Promise<void> {
  const field = 'refundAddress'
  const { address } = refund
  const { network } = sourceOf(exchange)
  const { recipient, type, legs } = exchange
  const target = present(legs.at(-1), `the last leg of exchange ${exchange.id}`).to.network
  if (type === 'private' && recipient !== null) {
    if (isSameHolder(chains, { network, address }, { network: target, address: recipient.address }))
      throw revealsRecipient()
  }
  if ((await screening.screen({ network, address, direction: 'refund' })) !== 'allow')
    throw new AppError('RESTRICTED', `${field} is rejected by address screening: use another address`, { field })
  if (await isOwnAddress(address))
    throw new AppError('ADDRESS_IS_OURS', `${field} is an address of this service: use an address of the user`, {
      field,
    })
  // Last: it asks nodes.
  await checkRecipientGas(chains, sourceOf(exchange), refund, field)
}
