import { createHash } from 'node:crypto'

/** The public data of a deposit: its network and its identity on that network. */
export type PublicDeposit = Readonly<{ network: string; identity: string }>

const LEGS = [0, 1]
/** Counts of earlier payouts for the deposit: more than any test makes. */
const EARLIER_PAYOUTS = [0, 1, 2]

/**
 * The first 12 digits of every id that an outsider could compute from public deposits without a key: a common hash of
 * network and identity, alone or with the leg and the count of payouts, in the format of a UUID and of a digest.
 */
export function computeGuessableIds(deposits: readonly PublicDeposit[]): readonly string[] {
  const texts = deposits.flatMap(({ network, identity }) => [
    identity,
    JSON.stringify([network, identity]),
    ...LEGS.flatMap((leg) => [
      JSON.stringify([network, identity, leg]),
      ...EARLIER_PAYOUTS.flatMap((earlier) => [
        JSON.stringify([network, identity, leg, earlier]),
        JSON.stringify([network, identity, leg, `${earlier}`]),
      ]),
    ]),
  ])
  return texts.flatMap((text) =>
    ['md5', 'sha1', 'sha256', 'sha512'].flatMap((name) => {
      const hex = createHash(name).update(text).digest('hex')
      return [hex.slice(0, 12), `${hex.slice(0, 8)}-${hex.slice(8, 12)}`]
    }),
  )
}

/** The guessable ids that occur in the text, at any place of a word of hexadecimal digits and dashes. */
export function findGuessableIds(text: string, deposits: readonly PublicDeposit[]): readonly string[] {
  const ids = new Set(computeGuessableIds(deposits))
  const lengths = new Set([...ids].map(({ length }) => length))
  const found = new Set<string>()
  for (const word of new Set(text.match(/[0-9a-f-]+/g)))
    for (const length of lengths)
      for (let start = 0; start + length <= word.length; start++) {
        const part = word.slice(start, start + length)
        if (ids.has(part)) found.add(part)
      }
  return [...found]
}
