import type { Scenario } from '../support/scenario.ts'
import { createGroups } from './graph.ts'
import type { Movement } from './movements.ts'
import { isBitcoin, type Observer, type PublicPayment, type PublicRecipient, toHolder } from './observer.ts'
import { findCurrency, type Pair } from './run-exchanges.ts'

/** A payment as the chains show it: from a payer to us, between our legs, or from us to a recipient. `time` is in seconds. */
export type Payment = Readonly<{ asset: string; amount: number; time: number }>

/** Finds what each payer paid and what each recipient received: amounts and block times from the chains. */
export function findEndPayments(
  scenario: Scenario,
  { movements, findRecipients }: Observer,
  pairs: readonly Pair[],
): { payers: readonly Payment[]; recipients: readonly Payment[] } {
  const find = (isMovement: (movement: Movement) => boolean, isHolder: (holder: string) => boolean): Payment => {
    const movement = movements.find((one) => isMovement(one) && one.to.some(({ holder }) => isHolder(holder)))
    if (!movement) throw new Error('the chains do not show a payment of the pair')
    return toPayment(scenario, movement, isHolder)
  }
  return {
    payers: pairs.map(({ payer }) => {
      const paidHolders = findRecipients(payer)
      return find(
        ({ txHash }) => txHash === payer.txHash,
        (holder) => paidHolders.has(holder),
      )
    }),
    recipients: pairs.map(({ recipient }) => {
      const recipientHolder = toHolder(recipient)
      return find(
        () => true,
        (holder) => holder === recipientHolder,
      )
    }),
  }
}

/**
 * Finds every payment that may be between two legs: no payer made it, and its recipient belongs to us. On UTXO chains these
 * are also change outputs. Returns the payment to each holder except our hot wallets.
 */
export function findReturningPayments(
  scenario: Scenario,
  { movements, graph, findPayers, findRecipients }: Observer,
  wallets: ReadonlySet<string>,
  deposits: readonly PublicPayment[],
): ReadonlyMap<string, Payment> {
  const payers = new Set(deposits.flatMap((deposit) => [...findPayers(deposit)]))
  const depositAddresses = deposits.flatMap((deposit) => [...findRecipients(deposit)])
  const ownMovements = movements.filter(({ from }) => from.length > 0 && !from.some(({ holder }) => payers.has(holder)))
  const swept = new Set(
    graph.links.flatMap(({ kind, from, to }) => (kind === 'swept' && wallets.has(to) ? [from] : [])),
  )
  const isUtxoOwner = findUtxoOwners(ownMovements, new Set([...wallets, ...depositAddresses]))
  const isReturning = (holder: string) => !wallets.has(holder) && (isUtxoOwner(holder) || swept.has(holder))
  return new Map(
    ownMovements.flatMap((movement) =>
      movement.to
        .filter(({ holder }) => isReturning(holder))
        .map(({ holder }) => [holder, toPayment(scenario, movement, (one) => one === holder)] as const),
    ),
  )
}

/**
 * Finds the holders that belong to us on UTXO chains, from those that are known. Inputs of one transaction have one owner.
 * Since no payer made these transactions, one that pays a holder of ours pays its own change.
 */
export function findUtxoOwners(
  movements: readonly Movement[],
  knownHolders: ReadonlySet<string>,
): (holder: string) => boolean {
  const utxoMovements = movements.filter(({ network }) => isBitcoin(network))
  const owners = createGroups()
  for (const holder of knownHolders) owners.join(holder, OURS)
  for (const { from } of utxoMovements) for (const { holder } of from) owners.join(holder, from[0]?.holder ?? holder)
  const isOurs = (holder: string) => owners.find(holder) === owners.find(OURS)
  const joinPayersOfChange = () =>
    utxoMovements.filter(({ from, to }) => {
      const payer = from[0]?.holder
      if (payer === undefined || isOurs(payer) || !to.some(({ holder }) => isOurs(holder))) return false
      owners.join(payer, OURS)
      return true
    }).length
  while (joinPayersOfChange() > 0);
  return isOurs
}

const OURS = 'ours'

/** The addresses that the first legs paid. Only we know which exchange they belong to; the matcher counts its hits by them. */
export async function readInnerAddresses({ app }: Scenario): Promise<ReadonlyMap<string, PublicRecipient>> {
  const rows = await app.database.query<{ id: string; network: string; address: string }>(
    'select exchange_id as id, network, address from deposit_targets where leg = 1',
  )
  return new Map(rows.map(({ id, network, address }) => [id, { network, address }]))
}

function toPayment(scenario: Scenario, { to, time }: Movement, isHolder: (holder: string) => boolean): Payment {
  const side = to.find(({ holder }) => isHolder(holder))
  if (!side) throw new Error('the transaction does not pay the holder')
  // The matcher needs no exact amounts.
  return {
    asset: side.asset,
    amount: Number(side.units) / 10 ** findCurrency(scenario, side.asset).asset.decimals,
    time,
  }
}
