import { createHash } from 'node:crypto'

/** What the chains show of a deposit: its network and its name there. */
export type PublicDeposit = Readonly<{ network: string; identity: string }>

const LEGS = [0, 1]
/** Payouts that were made for the deposit before: more than any of the tests makes. */
const BEFORE = [0, 1, 2]

/**
 * The beginnings of all ids that somebody could compute of public deposits without a key: by any usual hash of their
 * network and name, alone or with leg and count, as ids and as digests are written.
 */
export function guessedIds(deposits: readonly PublicDeposit[]): readonly string[] {
  const texts = deposits.flatMap(({ network, identity }) => [
    identity,
    JSON.stringify([network, identity]),
    ...LEGS.flatMap((leg) => [
      JSON.stringify([network, identity, leg]),
      ...BEFORE.flatMap((before) => [
        JSON.stringify([network, identity, leg, before]),
        JSON.stringify([network, identity, leg, `${before}`]),
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

/** Those of them that are written somewhere. */
export function writtenIds(text: string, deposits: readonly PublicDeposit[]): readonly string[] {
  return guessedIds(deposits).filter((id) => text.includes(id))
}
