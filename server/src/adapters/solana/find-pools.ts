import { base58 } from '@scure/base'
import type { Dex, SolanaDexKind } from '../../swap/domain/dex.ts'
import type { Pair } from '../../swap/routing/pools/solana/solana-pool.ts'
import { dexOf, isSolanaKind } from './dexes/dexes.ts'
import { ACCOUNTS_MAX, fieldsOf, listOf, readAccounts, type SolanaNodes, toAccount, tokenUnits } from './nodes.ts'

/** A pool with the accounts that it names and that never change. */
export type FoundPool = Readonly<{
  address: string
  /** Name of its DEX. */
  dex: string
  kind: SolanaDexKind
  tokens: Pair<string>
  vaults: Pair<string>
}>

/** Pools of a pair that are read whole to compare them: those that hold the most of the connector token. */
const CANDIDATES_MAX = 64

export type Candidates = Readonly<{
  found: readonly FoundPool[]
  /** Why the pools of a DEX could not be searched, by its name. */
  faults: ReadonlyMap<string, string>
}>

/**
 * The pools of a token and a connector token that hold the most of the latter. Anybody can create any number of others. Nodes may refuse to
 * search one program: the others count. Throws if no DEX can be searched.
 */
export async function findCandidates(
  nodes: SolanaNodes,
  dexes: readonly Dex[],
  pair: Readonly<{ token: string; connector: string }>,
): Promise<Candidates> {
  const found: FoundPool[] = []
  const faults = new Map<string, string>()
  let searched = 0
  let failure: unknown
  for (const { name, kind } of dexes) {
    if (!isSolanaKind(kind)) continue
    try {
      found.push(...(await findPools(nodes, { name, kind }, [pair.token, pair.connector])))
      searched++
    } catch (error) {
      failure = error
      faults.set(name, faultOf(error))
    }
  }
  if (searched === 0 && failure !== undefined) throw failure
  return { found: await chooseDeepest(nodes, found, pair.connector), faults }
}

/** What a node replied is in the cause. */
export function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}

async function chooseDeepest(
  nodes: SolanaNodes,
  found: readonly FoundPool[],
  connector: string,
): Promise<readonly FoundPool[]> {
  const vaults = found.map((one) => one.vaults[one.tokens[0] === connector ? 0 : 1])
  const units = await readUnits(nodes, vaults)
  return found
    .map((one, index) => ({ one, units: units[index] ?? 0n }))
    .filter((candidate) => candidate.units > 0n)
    .sort((a, b) => (a.units === b.units ? (a.one.address < b.one.address ? -1 : 1) : a.units > b.units ? -1 : 1))
    .slice(0, CANDIDATES_MAX)
    .map(({ one }) => one)
}

async function readUnits(nodes: SolanaNodes, vaults: readonly string[]): Promise<readonly bigint[]> {
  const units: bigint[] = []
  for (let from = 0; from < vaults.length; from += ACCOUNTS_MAX) {
    const { accounts } = await readAccounts(nodes, vaults.slice(from, from + ACCOUNTS_MAX))
    units.push(...accounts.map(tokenUnits))
  }
  return units
}

/** The pools of a pair, whichever token the program has put first. */
async function findPools(
  nodes: SolanaNodes,
  { name, kind }: Readonly<{ name: string; kind: SolanaDexKind }>,
  [token, other]: Pair<string>,
): Promise<readonly FoundPool[]> {
  const { program, filters, mintsAt, vaultsAt } = dexOf(kind)
  const orders = [
    [token, other],
    [other, token],
  ] as const
  const replies = await Promise.all(
    orders.map(([first, second]) =>
      nodes.ask('getProgramAccounts', [
        program,
        {
          ...{ encoding: 'base64', commitment: 'confirmed' },
          filters: [
            ...filters,
            { memcmp: { offset: mintsAt[0], bytes: first } },
            { memcmp: { offset: mintsAt[1], bytes: second } },
          ],
        },
      ]),
    ),
  )
  return replies.flatMap(listOf).flatMap((row) => {
    const { pubkey, account } = fieldsOf(row)
    const read = toAccount(account)
    if (read === null) return []
    const pairAt = ([first, second]: Pair<number>): Pair<string> => [
      base58.encode(read.data.subarray(first, first + 32)),
      base58.encode(read.data.subarray(second, second + 32)),
    ]
    return [{ address: String(pubkey), dex: name, kind, tokens: pairAt(mintsAt), vaults: pairAt(vaultsAt) }]
  })
}
