import type { Pair } from './run-exchanges.ts'

/** Lines that name both ends of one exchange. */
export function findLinesWithBothEnds(lines: readonly string[], pairs: readonly Pair[]): readonly string[] {
  const lowerCaseLines = lines.map((line) => line.toLowerCase())
  return pairs.flatMap((pair) =>
    lowerCaseLines.filter((line) => listPayerNames(pair).some(isIn(line)) && listRecipientNames(pair).some(isIn(line))),
  )
}

/** Lines that name an address, a transaction or the id of any pair. */
export function findLinesNaming(text: string, pairs: readonly Pair[]): readonly string[] {
  const names = new Set(pairs.flatMap((pair) => [...listPayerNames(pair), ...listRecipientNames(pair), pair.id]))
  return text.split('\n').filter((line) => [...names].some(isIn(line.toLowerCase())))
}

/** Ids of exchanges whose ends are both named in the lines with that id. */
export function findIdsWithBothEnds(lines: readonly string[], pairs: readonly Pair[]): readonly string[] {
  const lowerCaseLines = lines.map((line) => line.toLowerCase())
  return pairs
    .filter((pair) => {
      const linesWithId = lowerCaseLines.filter((line) => line.includes(pair.id))
      return [listPayerNames(pair), listRecipientNames(pair)].every((side) =>
        linesWithId.some((line) => side.some(isIn(line))),
      )
    })
    .map(({ id }) => id)
}

const isIn = (line: string) => (name: string) => line.includes(name)
const normalizeName = (name: string) => name.toLowerCase().replace(/^0x/, '')
const listPayerNames = ({ depositAddress, refundAddress, payer }: Pair) =>
  [depositAddress, refundAddress, payer.txHash].map(normalizeName)
const listRecipientNames = ({ recipient, secondPayoutHash }: Pair) =>
  [recipient.address, secondPayoutHash].map(normalizeName)
