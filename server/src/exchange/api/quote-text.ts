import { formatUnits, type Rounding, toSignificant } from '../../core/domain/amount.ts'
import type { Asset } from '../../core/domain/asset.ts'
import { formatUsd } from '../../core/domain/price.ts'
import { toIso } from '../../lib/time.ts'
import type { IssuedQuote, RateQuote } from '../domain/rate-quote.ts'

/**
 * Partners poll quotes: this one answer is written by hand, because a serializer makes numbers of texts and texts of them
 * again. It is ASCII, so that its length is its bytes.
 */
export function rateQuoteText({ quote, rateId, validUntil }: IssuedQuote): string {
  const { from, to, fees } = quote
  const { bounds, names, networkFee } = getShared(quote)
  return `${bounds}${numberText(quote.fromUnits, from.decimals, 'down')},"toAmount":${numberText(quote.toUnits, to.decimals, 'down')}${names}${formatUsd(quote.fromUsd)}","amountToUsd":"${formatUsd(quote.toUsd)}","rateId":${rateId === null ? 'null' : `"${rateId}"`},"validUntil":${validUntil === null ? 'null' : `"${toIso(validUntil)}"`},"fees":{"service":"${formatUnits(fees.serviceUnits, to.decimals)}","partner":"${formatUnits(fees.partnerUnits, to.decimals)}${networkFee}`
}

/** At most 15 significant digits: read as binary64, it is the amount itself (see `toNumber`). */
function numberText(units: bigint, decimals: number, rounding: Rounding): string {
  return formatUnits(toSignificant(units, rounding), decimals)
}

/** What most quotes of a direction have in common while the book stays as it is, and the figures that it was written from. */
type Shared = Readonly<{
  minUnits: bigint
  maxUnits: bigint | null
  networkUnits: bigint
  bounds: string
  names: string
  networkFee: string
}>

/** Of each direction the last that was written. */
const written = new WeakMap<Asset, WeakMap<Asset, Shared>>()

function getShared(quote: RateQuote): Shared {
  const { from, to, minUnits, maxUnits, fees } = quote
  const known = written.get(from)?.get(to)
  if (known?.minUnits === minUnits && known.maxUnits === maxUnits && known.networkUnits === fees.networkUnits) {
    return known
  }
  const shared = writeShared(quote)
  const ofSource = written.get(from) ?? new WeakMap<Asset, Shared>()
  written.set(from, ofSource.set(to, shared))
  return shared
}

function writeShared({ from, to, minUnits, maxUnits, fees: { networkUnits } }: RateQuote): Shared {
  const max = maxUnits === null ? 'null' : numberText(maxUnits, from.decimals, 'down')
  return {
    minUnits,
    maxUnits,
    networkUnits,
    bounds: `{"min":${numberText(minUnits, from.decimals, 'up')},"max":${max},"fromAmount":`,
    names: `,"fromCurrency":${quoted(from.ticker)},"toCurrency":${quoted(to.ticker)},"fromNetwork":${quoted(from.network)},"toNetwork":${quoted(to.network)},"amountFromUsd":"`,
    networkFee: `","network":"${formatUnits(networkUnits, to.decimals)}"}}`,
  }
}

const quoted = (text: string): string =>
  JSON.stringify(text).replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
