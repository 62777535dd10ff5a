import { formatUnits, type Rounding, toSignificant } from '../domain/amount.ts'
import type { Asset } from '../domain/asset.ts'
import type { IssuedQuote } from '../domain/rate-quote.ts'
import { toIso } from '../lib/time.ts'
import { toUsd } from './present.ts'

/** Partners poll quotes: this one answer is written by hand, because a serializer makes numbers of texts and texts of them again. */
export function rateQuoteText({ quote, rateId, validUntil }: IssuedQuote): string {
  const { from, to, fees, minUnits, maxUnits } = quote
  const max = maxUnits === null ? 'null' : numberText(maxUnits, from.decimals, 'down')
  return `{"min":${numberText(minUnits, from.decimals, 'up')},"max":${max},"fromAmount":${numberText(quote.fromUnits, from.decimals, 'down')},"toAmount":${numberText(quote.toUnits, to.decimals, 'down')},"fromCurrency":${quoted(from).ticker},"toCurrency":${quoted(to).ticker},"fromNetwork":${quoted(from).network},"toNetwork":${quoted(to).network},"amountFromUsd":"${toUsd(quote.fromUsd)}","amountToUsd":"${toUsd(quote.toUsd)}","rateId":${rateId === null ? 'null' : `"${rateId}"`},"validUntil":${validUntil === null ? 'null' : `"${toIso(validUntil)}"`},"fees":{"service":"${formatUnits(fees.serviceUnits, to.decimals)}","partner":"${formatUnits(fees.partnerUnits, to.decimals)}","network":"${formatUnits(fees.networkUnits, to.decimals)}"}}`
}

/** At most 15 significant digits: read as binary64, it is the amount itself (see `toNumber`). */
function numberText(units: bigint, decimals: number, rounding: Rounding): string {
  return formatUnits(toSignificant(units, rounding), decimals)
}

type Names = Readonly<{ ticker: string; network: string }>
const known = new WeakMap<Asset, Names>()

function quoted(asset: Asset): Names {
  const names = known.get(asset) ?? { ticker: JSON.stringify(asset.ticker), network: JSON.stringify(asset.network) }
  known.set(asset, names)
  return names
}
