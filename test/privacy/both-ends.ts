import type { Pair } from './hundred.ts'

/** Both ends of one exchange in one line, readable without the database. */
export function linesWithBothEnds(lines: readonly string[], pairs: readonly Pair[]): readonly string[] {
  const written = lines.map((line) => line.toLowerCase())
  return pairs.flatMap((pair) =>
    written.filter((line) => payerSide(pair).some(isIn(line)) && recipientSide(pair).some(isIn(line))),
  )
}

/** Lines that name any address, transaction or exchange of the pairs. */
export function linesThatName(text: string, pairs: readonly Pair[]): readonly string[] {
  const names = new Set(pairs.flatMap((pair) => [...payerSide(pair), ...recipientSide(pair), pair.id]))
  return text.split('\n').filter((line) => [...names].some(isIn(line.toLowerCase())))
}

/** Of exchanges whose id is in the log: those for which lines with that id name both ends. */
export function idsWithBothEnds(lines: readonly string[], pairs: readonly Pair[]): readonly string[] {
  const written = lines.map((line) => line.toLowerCase())
  return pairs
    .filter((pair) => {
      const own = written.filter((line) => line.includes(pair.id))
      return [payerSide(pair), recipientSide(pair)].every((side) => own.some((line) => side.some(isIn(line))))
    })
    .map(({ id }) => id)
}

const isIn = (line: string) => (name: string) => line.includes(name)
const bare = (name: string) => name.toLowerCase().replace(/^0x/, '')
const payerSide = ({ depositAddress, refundAddress, payer }: Pair) =>
  [depositAddress, refundAddress, payer.txHash].map(bare)
const recipientSide = ({ recipient, paidBy }: Pair) => [recipient.address, paidBy].map(bare)
