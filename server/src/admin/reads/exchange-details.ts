import { BPS, formatUnits, powerOfTen, scale, toSignificant } from '../../core/domain/amount.ts'
import { AppError } from '../../core/domain/errors.ts'
import { largest } from '../../lib/bigint.ts'
import { coinsOrNull } from './coins.ts'
import { readGuards } from './exchange-guards.ts'
import { explorerUrl } from './explorer-links.ts'
import { type ReadContext, toPlain } from './read.ts'

type Part = Readonly<Record<string, unknown>>
type Side = Readonly<{ id: string; network: string; decimals: number }>
type Leg = Readonly<{ from: Side; to: Side }>

/** Everything about one exchange, with amounts in coins and pages at explorers. */
export async function readExchangeDetails(context: ReadContext, id: string) {
  const { store, live } = context
  const details = await store.lists.exchangeDetails(id)
  if (details === null) throw new AppError('EXCHANGE_NOT_FOUND', `there is no exchange ${id}`, { field: 'id' })
  const { exchange, plan, parts, ledger } = details
  const legs = exchange['legs'] as readonly Leg[]
  const [from, to] = [legs[0]?.from.id, legs.at(-1)?.to.id]
  const amounts = {
    ...{ via: legs[1]?.from.id ?? null, rate: rateOf(exchange, legs), quotedFees: listQuotedFees(exchange, to) },
    ...{ from, to, fromAmount: coinsOrNull(exchange['from_units'], from) },
    toAmount: coinsOrNull(exchange['to_units'], to),
  }
  const ofKind = (...kinds: readonly string[]) => parts.filter(({ what }) => kinds.includes(String(what)))
  return {
    exchange: toPlain({ ...exchange, ...amounts }),
    addresses: toPlain(listAddresses(exchange, ofKind('address'), live)),
    guards: toPlain(await readGuards(context, id, parts)),
    timeline: toPlain(ofKind('event')),
    transfers: toPlain(ofKind('execution', 'payout').map((part) => toTransfer(part, legs, live))),
    orders: toPlain(ofKind('order').map(toOrder)),
    ledger: toPlain(ledger),
    facts: toPlain(parts),
    plan: toPlain(plan ?? null),
  }
}

const RATE_PLACES = 36
const RATE_DIGITS = 8

/** What the quote gives for one coin, after all fees. */
function rateOf({ from_units: from, to_units: to }: Part, legs: readonly Leg[]): string | null {
  const [source, target] = [legs[0]?.from, legs.at(-1)?.to]
  if (source === undefined || target === undefined) return null
  const [scaled, divisor] = [powerOfTen(RATE_PLACES + source.decimals), powerOfTen(target.decimals)]
  const rate = scale(BigInt(String(to)), scaled, BigInt(String(from)) * divisor, 'down')
  return formatUnits(toSignificant(rate, 'down', RATE_DIGITS), RATE_PLACES)
}

/** The fees of the quote in coins of the target. Only fixed rates store them; others have those of their conversions. */
function listQuotedFees(exchange: Part, to: string | undefined) {
  if (exchange['quoted_gross_units'] === null) return null
  const unitsOf = (column: string) => BigInt(String(exchange[column]))
  const [gross, network, due] = [unitsOf('quoted_gross_units'), unitsOf('quoted_network_units'), unitsOf('to_units')]
  const bps = unitsOf('partner_fee_bps')
  // As the conversion splits them (server/src/exchange/settlement/steps/convert.ts).
  const partner = scale(due + network, bps, BPS - bps, 'down')
  const service = largest(gross - due - network - partner, 0n)
  return {
    ...{ service: coinsOrNull(service, to), partner: coinsOrNull(partner, to) },
    network: coinsOrNull(network, to),
  }
}

function toTransfer(part: Part, legs: readonly Leg[], live: ReadContext['live']) {
  const { asset_id: currency, units, due_units: due, leg } = part
  const dueCurrency = legs[leg as number]?.to.id
  return {
    ...{ ...part, currency, amount: coinsOrNull(units, currency) },
    ...{ dueCurrency, dueAmount: coinsOrNull(due, dueCurrency), links: linksOf(part, live) },
  }
}

const toOrder = (part: Part) => ({
  ...part,
  giveAmount: coinsOrNull(part['give_units'], part['give_asset']),
  takeAmount: coinsOrNull(part['take_units'], part['take_asset']),
})

/** Every transaction of the part with its page at an explorer. */
function linksOf({ network, payin_hash: payin, tx_hashes: paid }: Part, live: ReadContext['live']) {
  const hashes = [payin, ...(Array.isArray(paid) ? paid : [])].filter((one) => typeof one === 'string')
  return toLinks(hashes, String(network), live)
}

export const toLinks = (hashes: readonly string[], network: string, live: ReadContext['live']) =>
  hashes.map((hash) => ({ hash, url: explorerUrl(live, network, 'tx', hash) }))

function listAddresses(exchange: Part, targets: readonly Part[], live: ReadContext['live']) {
  const legs = exchange['legs'] as readonly Leg[]
  const [from, to] = [legs[0]?.from.network, legs.at(-1)?.to.network]
  const named = [
    ...targets.map(({ leg, network, address, memo }) => ({ kind: 'deposit', leg, network, address, memo })),
    { kind: 'recipient', network: to, address: exchange['recipient_address'], memo: exchange['recipient_memo'] },
    { kind: 'refund', network: from, address: exchange['refund_address'], memo: exchange['refund_memo'] },
  ]
  return named.flatMap((one) => {
    if (typeof one.address !== 'string') return []
    return { ...one, url: explorerUrl(live, String(one.network), 'address', one.address) }
  })
}
