import type { AmountChange, Outcome } from './outcome.ts'
import { coinTypeArgument, readCoinBalance, type SuiObject } from './sui-object.ts'
import type { TransactionBody } from './transaction-body.ts'

export type ExecutedTransaction = {
  readonly digest: string
  readonly data: TransactionBody
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly signatures: readonly Uint8Array<ArrayBuffer>[]
  readonly outcome: Outcome
  /** Null until a checkpoint contains it. */
  checkpoint: Readonly<{ sequence: bigint; timestampMs: number }> | null
}

export type CoinMetadata = Readonly<{
  id: string
  decimals: number
  name: string
  symbol: string
  description: string
  iconUrl: string | null
}>

/** What execution and the checks read. */
export type LedgerView = Readonly<{
  findObject(id: string): SuiObject | undefined
  readAddressBalance(owner: string, coinType: string): bigint
  /** The objects that belong to another object: its dynamic fields. */
  listChildren(parent: string): readonly SuiObject[]
}>

/** Base units: in coin objects, and in the address balance. */
export type Balance = Readonly<{ coinType: string; inCoins: bigint; inAddress: bigint }>

export type Ledger = LedgerView &
  Readonly<{
    findVersion(id: string, version: bigint): SuiObject | undefined
    listObjects(isListed: (object: SuiObject) => boolean): SuiObject[]
    listBalances(owner: string): Balance[]
    findTransaction(digest: string): ExecutedTransaction | undefined
    coinMetadata: Map<string, CoinMetadata>
    readSupply(coinType: string): bigint
    put(object: SuiObject): void
    remove(id: string): void
    changeAddressBalance(owner: string, coinType: string, amount: bigint): void
    commit(transaction: ExecutedTransaction): void
    /** The transaction that locks this version of an owned object until the epoch ends. */
    findLock(id: string, version: bigint): string | undefined
    lock(id: string, version: bigint, transactionDigest: string): void
    releaseLocks(): void
  }>

const keyOf = (first: string, second: string | bigint): string => `${first} ${second}`

/** By coin type. */
function sumBalances(owner: string, objects: Iterable<SuiObject>, inAddresses: Iterable<AmountChange>): Balance[] {
  const sums = new Map<string, { inCoins: bigint; inAddress: bigint }>()
  const sumOf = (coinType: string) => {
    const sum = sums.get(coinType) ?? { inCoins: 0n, inAddress: 0n }
    sums.set(coinType, sum)
    return sum
  }
  for (const object of objects) {
    const coinType = coinTypeArgument(object.type)
    if (coinType === null || object.owner.kind !== 'address' || object.owner.address !== owner) continue
    sumOf(coinType).inCoins += readCoinBalance(object.contents)
  }
  for (const entry of inAddresses) if (entry.owner === owner) sumOf(entry.coinType).inAddress += entry.amount
  return [...sums].map(([coinType, sum]) => ({ coinType, ...sum })).sort((a, b) => (a.coinType < b.coinType ? -1 : 1))
}

/** Everything that a ledger holds. It can be written to a file and read again. */
export type LedgerState = Readonly<{
  live: Map<string, SuiObject>
  versions: Map<string, SuiObject>
  children: Map<string, Set<string>>
  addressBalances: Map<string, AmountChange>
  transactions: Map<string, ExecutedTransaction>
  coinMetadata: Map<string, CoinMetadata>
  locks: Map<string, string>
}>

export const emptyLedger = (): LedgerState => ({
  ...{ live: new Map(), versions: new Map(), children: new Map(), addressBalances: new Map() },
  ...{ transactions: new Map(), coinMetadata: new Map(), locks: new Map() },
})

/** Objects with all their versions, address balances, executed transactions and locks, in memory. */
export function createLedger(state: LedgerState): Ledger {
  const { live, versions, children, addressBalances, transactions, coinMetadata, locks } = state

  const put = (object: SuiObject) => {
    live.set(object.id, object)
    versions.set(keyOf(object.id, object.version), object)
    if (object.owner.kind !== 'object') return
    const siblings = children.get(object.owner.id) ?? new Set()
    children.set(object.owner.id, siblings.add(object.id))
  }

  const changeAddressBalance = (owner: string, coinType: string, change: bigint) => {
    const key = keyOf(owner, coinType)
    const amount = (addressBalances.get(key)?.amount ?? 0n) + change
    if (amount < 0n) throw new Error(`Address balance of ${owner} in ${coinType} would be ${amount}`)
    if (amount === 0n) addressBalances.delete(key)
    else addressBalances.set(key, { owner, coinType, amount })
  }

  function readSupply(coinType: string): bigint {
    let supply = 0n
    for (const object of live.values())
      if (coinTypeArgument(object.type) === coinType) supply += readCoinBalance(object.contents)
    for (const entry of addressBalances.values()) if (entry.coinType === coinType) supply += entry.amount
    return supply
  }

  return {
    findObject: (id) => live.get(id),
    findVersion: (id, version) => versions.get(keyOf(id, version)),
    readAddressBalance: (owner, coinType) => addressBalances.get(keyOf(owner, coinType))?.amount ?? 0n,
    listChildren: (parent) =>
      [...(children.get(parent) ?? [])].flatMap((id) => {
        const object = live.get(id)
        return object?.owner.kind === 'object' && object.owner.id === parent ? [object] : []
      }),
    listObjects: (isListed) => [...live.values()].filter(isListed),
    listBalances: (owner) => sumBalances(owner, live.values(), addressBalances.values()),
    findTransaction: (digest) => transactions.get(digest),
    coinMetadata,
    readSupply,
    put,
    remove: (id) => void live.delete(id),
    changeAddressBalance,
    commit(transaction) {
      transactions.set(transaction.digest, transaction)
      for (const { id, after } of transaction.outcome.changes) {
        if (after === null) live.delete(id)
        else put(after)
      }
      for (const { owner, coinType, amount } of transaction.outcome.accumulatorWrites)
        changeAddressBalance(owner, coinType, amount)
    },
    findLock: (id, version) => locks.get(keyOf(id, version)),
    lock: (id, version, digest) => void locks.set(keyOf(id, version), digest),
    releaseLocks: () => locks.clear(),
  }
}
