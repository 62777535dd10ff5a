import type { BitcoinTicker } from '../../sandbox/src/bitcoin/addresses.ts'
import { callNode } from '../support/nodes.ts'
import { createGraph, createGroups, type Graph, type Groups, type Link, type Step } from './graph.ts'
import { findNativeAsset, formatWhere, type Movement, toEvmHolder } from './movements.ts'
import { readBitcoin, toBitcoinHolder } from './read-bitcoin.ts'
import { readEvm } from './read-evm.ts'

/** The transaction of a payer and the address of a recipient are public. Which of them belong together is not. */
export type PublicPayment = Readonly<{ network: string; txHash: string }>
export type PublicRecipient = Readonly<{ network: string; address: string }>

/** The view of an observer who has the given movements and no other source. */
export type Observer = Readonly<{
  movements: readonly Movement[]
  graph: Graph
  /** Holders that the payer's transaction paid, except the payer's own change. */
  findRecipients(payment: PublicPayment): ReadonlySet<string>
  findPayers(payment: PublicPayment): ReadonlySet<string>
  /** True if any links, in either direction, connect the holders that the payer paid with the recipient. */
  areLinked(payer: PublicPayment, recipient: PublicRecipient): boolean
  /** The shortest path from the holders that the payer paid to the recipient, around the payer's own wallet; null if there is no path. */
  findPath(payer: PublicPayment, recipient: PublicRecipient): readonly Step[] | null
}>

export const isBitcoin = (network: string): network is BitcoinTicker => network === 'btc' || network === 'ltc'

export async function readHeight(network: string): Promise<number> {
  return isBitcoin(network) ? callNode(network, 'getblockcount') : Number(await callNode(network, 'eth_blockNumber'))
}

/** The holder of an address, in the format of `Side`. */
export const toHolder = ({ network, address }: PublicRecipient): string =>
  isBitcoin(network) ? toBitcoinHolder(network, address) : toEvmHolder(address)

/** Reads every chain from above the given height to its head: every payment of every holder. */
export async function readMovements(since: ReadonlyMap<string, number>): Promise<readonly Movement[]> {
  const movements: Movement[] = []
  for (const [network, height] of since)
    movements.push(...(await (isBitcoin(network) ? readBitcoin(network, height) : readEvm(network, height))))
  return movements
}

export function createObserver(movements: readonly Movement[]): Observer {
  const graph = createGraph(findLinks(movements))
  const byHash = new Map<string, Movement[]>()
  for (const movement of movements) {
    const key = formatWhere(movement)
    byHash.set(key, [...(byHash.get(key) ?? []), movement])
  }
  const readMovements = (payment: PublicPayment): readonly Movement[] => {
    const transactionMovements = byHash.get(formatWhere(payment))
    if (!transactionMovements) throw new Error(`the chain shows no transaction ${formatWhere(payment)}`)
    return transactionMovements
  }
  const findPayers = (payment: PublicPayment) =>
    new Set(readMovements(payment).flatMap(({ from }) => from.map(({ holder }) => holder)))
  const findRecipients = (payment: PublicPayment) => {
    const own = findPayers(payment)
    return new Set(
      readMovements(payment).flatMap(({ to }) => to.flatMap(({ holder }) => (own.has(holder) ? [] : [holder]))),
    )
  }
  return {
    movements,
    graph,
    findRecipients,
    findPayers,
    areLinked: (payer, recipient) =>
      [...findRecipients(payer)].some((holder) => graph.areLinked(holder, toHolder(recipient))),
    findPath: (payer, recipient) => graph.findPath(findRecipients(payer), toHolder(recipient), findPayers(payer)),
  }
}

/** Finds all links between holders: common inputs, payments, common keys and equal payloads. */
export function findLinks(movements: readonly Movement[]): readonly Link[] {
  const wallets = createGroups()
  for (const { from } of movements) for (const { holder } of from) wallets.join(holder, from[0]?.holder ?? holder)
  const classifier = classifyPayments(movements)
  return movements.flatMap((movement) => [
    ...linkInputs(movement),
    ...linkPayments(movement, wallets, classifier),
    ...movement.keys.map(([from, to]): Link => ({ from, to, kind: 'one key', where: formatWhere(movement) })),
    ...movement.payloads.flatMap((payload) => linkPayload(movement, payload)),
  ])
}

function linkInputs(movement: Movement): Link[] {
  const [first, ...rest] = [...new Set(movement.from.map(({ holder }) => holder))]
  if (first === undefined) return []
  return rest.map((holder) => ({ from: first, to: holder, kind: 'spent together', where: formatWhere(movement) }))
}

function linkPayments(movement: Movement, wallets: Groups, classifier: Classifier): Link[] {
  const [payer] = movement.from
  if (!payer) return []
  return [...new Set(movement.to.map(({ holder }) => holder))].flatMap((to): Link[] => {
    const from = payer.holder
    if (from === to) return []
    const isChange = movement.from.length > 0 && wallets.find(from) === wallets.find(to)
    // A later transaction spends this output together with inputs of the payer: it stayed in the wallet.
    const kind = isChange ? 'change' : classifier.classify(payer, to)
    return [{ from, to, kind, where: formatWhere(movement) }]
  })
}

type Classifier = Readonly<{ classify(payer: Movement['from'][number], to: string): Link['kind'] }>

/**
 * Recognises sweeps and gas of accounts. An address that pays only one other address is swept to it. If the swept address
 * held tokens, native currency from the other address was its gas.
 */
function classifyPayments(movements: readonly Movement[]): Classifier {
  const recipientsByHolder = new Map<string, Set<string>>()
  const tokenHolders = new Set<string>()
  for (const { network, from, to } of movements)
    for (const { holder, asset } of from) {
      const recipients = recipientsByHolder.get(holder) ?? new Set()
      for (const side of to) recipients.add(side.holder)
      recipientsByHolder.set(holder, recipients)
      if (asset !== findNativeAsset(network)) tokenHolders.add(holder)
    }
  const isSweptTo = (from: string, to: string) =>
    recipientsByHolder.get(from)?.size === 1 && recipientsByHolder.get(from)?.has(to) === true
  return {
    classify: ({ holder }, to) => {
      if (isSweptTo(holder, to)) return 'swept'
      return isSweptTo(to, holder) && tokenHolders.has(to) ? 'gas' : 'paid'
    },
  }
}

/** 16 bytes. Equal shorter payloads prove no link: they may be numbers or markers. */
const PAYLOAD_HEX_DIGITS_MIN = 32

function linkPayload(movement: Movement, payload: string): Link[] {
  if (payload.length < PAYLOAD_HEX_DIGITS_MIN) return []
  return [...movement.from, ...movement.to].map(({ holder }) => ({
    from: holder,
    to: `content:${payload}`,
    kind: 'one content',
    where: formatWhere(movement),
  }))
}
