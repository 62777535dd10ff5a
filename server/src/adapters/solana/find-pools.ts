import { base58 } from '@scure/base'
import type { DexNetwork, SolanaDexKind } from '../../swap/domain/dex.ts'
import type { Pair } from '../../swap/routing/pools/solana/solana-pool.ts'
import { dexOf, isSolanaKind } from './dexes/dexes.ts'
import { fieldsOf, listOf, type SolanaNodes, toAccount } from './nodes.ts'

/** A pool with the accounts that it names and that never change. */
export type FoundPool = Readonly<{
  address: string
  /** Name of its DEX. */
  dex: string
  kind: SolanaDexKind
  tokens: Pair<string>
  vaults: Pair<string>
}>

/** Finds the pools of requested tokens with the connector tokens, once for each token. */
export function createPoolLookup(nodes: SolanaNodes, { dexes }: DexNetwork, connectors: readonly string[]) {
  const known = new Map<string, FoundPool>()
  const searched = new Set<string>()
  const requested = new Set<string>()
  const served = dexes.filter(({ enabled }) => enabled !== false)

  async function search(token: string): Promise<void> {
    for (const { name, kind } of served)
      for (const other of connectors.filter((one) => one !== token))
        if (isSolanaKind(kind))
          for (const one of await findPools(nodes, { name, kind }, [token, other])) known.set(one.address, one)
    searched.add(token)
  }

  return {
    known: () => [...known.values()],
    request: (token: string) => void (searched.has(token) || requested.add(token)),
    async run(): Promise<void> {
      for (const token of requested) {
        await search(token)
        requested.delete(token)
      }
    },
  }
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
