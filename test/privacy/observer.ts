import type { BitcoinTicker } from '../../sandbox/src/bitcoin/addresses.ts'
import { nodeCall } from '../support/nodes.ts'
import { createGraph, createGroups, type Graph, type Groups, type Link, type Step } from './graph.ts'
import { coinOf, evmHolder, type Movement, where } from './movements.ts'
import { bitcoinHolder, readBitcoin } from './read-bitcoin.ts'
import { readEvm } from './read-evm.ts'

/** A payer's transaction and a recipient's address are public; which belong together is not. */
export type PayerFact = Readonly<{ network: string; txHash: string }>
export type RecipientFact = Readonly<{ network: string; address: string }>

/** What an observer sees who reads all chains completely and has no other source. */
export type Observer = Readonly<{
  movements: readonly Movement[]
  graph: Graph
  /** Who a payer's transaction paid; not the payer, nor the payer's own change. */
  paidBy(fact: PayerFact): ReadonlySet<string>
  payersOf(fact: PayerFact): ReadonlySet<string>
  holderOf(fact: RecipientFact): string
  /** Whether anything ties what the payer paid to the recipient, in whatever direction. */
  areTied(payer: PayerFact, recipient: RecipientFact): boolean
  /** The shortest way from what the payer paid to the recipient, not over the payer's own wallet; null = none. */
  path(payer: PayerFact, recipient: RecipientFact): readonly Step[] | null
}>

const isBitcoin = (network: string): network is BitcoinTicker => network === 'btc' || network === 'ltc'

export async function heightOf(network: string): Promise<number> {
  return isBitcoin(network) ? nodeCall(network, 'getblockcount') : Number(await nodeCall(network, 'eth_blockNumber'))
}

/** Reads every chain from above the given height to its head. No service's wallet is left out, however well it is known. */
export async function observe(since: ReadonlyMap<string, number>): Promise<Observer> {
  const movements: Movement[] = []
  for (const [network, height] of since)
    movements.push(...(await (isBitcoin(network) ? readBitcoin(network, height) : readEvm(network, height))))
  const graph = createGraph(linksOf(movements))
  const byHash = new Map<string, Movement[]>()
  for (const movement of movements) {
    const key = where(movement)
    byHash.set(key, [...(byHash.get(key) ?? []), movement])
  }
  const of = (fact: PayerFact): readonly Movement[] => {
    const found = byHash.get(where(fact))
    if (!found) throw new Error(`the chain shows no transaction ${where(fact)}`)
    return found
  }
  const payersOf = (fact: PayerFact) => new Set(of(fact).flatMap(({ from }) => from.map(({ holder }) => holder)))
  const paidBy = (fact: PayerFact) => {
    const own = payersOf(fact)
    return new Set(of(fact).flatMap(({ to }) => to.flatMap(({ holder }) => (own.has(holder) ? [] : [holder]))))
  }
  const holderOf = ({ network, address }: RecipientFact) =>
    isBitcoin(network) ? bitcoinHolder(network, address) : evmHolder(address)
  return {
    movements,
    graph,
    paidBy,
    payersOf,
    holderOf,
    areTied: (payer, recipient) => [...paidBy(payer)].some((paid) => graph.areTied(paid, holderOf(recipient))),
    path: (payer, recipient) => graph.path(paidBy(payer), holderOf(recipient), payersOf(payer)),
  }
}

/** All that ties holders together: who spends together, who pays whom, what is one key or carries one content. */
export function linksOf(movements: readonly Movement[]): readonly Link[] {
  const clusters = createGroups()
  for (const { from } of movements) for (const { holder } of from) clusters.join(holder, from[0]?.holder ?? holder)
  const habits = habitsOf(movements)
  return movements.flatMap((movement) => [
    ...spentTogether(movement),
    ...payments(movement, clusters, habits),
    ...movement.keys.map(([from, to]): Link => ({ from, to, kind: 'one key', where: where(movement) })),
    ...movement.contents.flatMap((content) => carried(movement, content)),
  ])
}

function spentTogether(movement: Movement): Link[] {
  const [first, ...rest] = [...new Set(movement.from.map(({ holder }) => holder))]
  if (first === undefined) return []
  return rest.map((holder) => ({ from: first, to: holder, kind: 'spent together', where: where(movement) }))
}

function payments(movement: Movement, clusters: Groups, habits: Habits): Link[] {
  const [payer] = movement.from
  if (!payer) return []
  return [...new Set(movement.to.map(({ holder }) => holder))].flatMap((to): Link[] => {
    const from = payer.holder
    if (from === to) return []
    const isOwn = movement.from.length > 0 && clusters.of(from) === clusters.of(to)
    // Spent together with its own inputs later on: it never left the wallet.
    const kind = isOwn ? 'change' : habits.kind(payer, to)
    return [{ from, to, kind, where: where(movement) }]
  })
}

type Habits = Readonly<{ kind(payer: Movement['from'][number], to: string): Link['kind'] }>

/** What accounts do at all times: an address that pays one other alone is emptied into it, and that one's coin to it was its gas. */
function habitsOf(movements: readonly Movement[]): Habits {
  const paid = new Map<string, Set<string>>()
  const tokens = new Set<string>()
  for (const { network, from, to } of movements)
    for (const { holder, asset } of from) {
      const known = paid.get(holder) ?? new Set()
      for (const side of to) known.add(side.holder)
      paid.set(holder, known)
      if (asset !== coinOf(network)) tokens.add(holder)
    }
  const isEmptiedInto = (from: string, to: string) => paid.get(from)?.size === 1 && paid.get(from)?.has(to) === true
  return {
    kind: ({ holder }, to) => {
      if (isEmptiedInto(holder, to)) return 'swept'
      return isEmptiedInto(to, holder) && tokens.has(to) ? 'gas' : 'paid'
    },
  }
}

/** Contents of less say nothing: a number, a marker. */
const CONTENT_DIGITS = 32

function carried(movement: Movement, content: string): Link[] {
  if (content.length < CONTENT_DIGITS) return []
  return [...movement.from, ...movement.to].map(({ holder }) => ({
    from: holder,
    to: `content:${content}`,
    kind: 'one content',
    where: where(movement),
  }))
}
