import { transferProbeCode } from '@swapyard/contracts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import { bytes } from '../chains/evm/replies.ts'
import { type Rpc, refusalOf } from '../chains/evm/rpc.ts'
import { callOf, wordAt, wordsOf } from './abi-words.ts'

/** Which tokens take a fee on transfer: pools would pay less of them than their maths says. */
export type FeeOnTransferTokens = Readonly<{
  /** Asks the chain about tokens that were not looked at yet, and some of those looked at long ago. */
  check(pools: readonly Pool[]): Promise<void>
  /** Pools all of whose tokens were looked at; the same array as long as nothing changes. */
  poolsWithCheckedTokens(pools: readonly Pool[]): readonly Pool[]
  /** The same set as long as nothing changes. */
  feeOnTransfer(): ReadonlySet<string>
}>

type Verdict = 'plain' | 'taxed' | 'unknown'
type Looked = Readonly<{ verdict: Verdict; dueMs: number }>

/** contracts/src/TransferProbe.sol: measure(address,address) */
const MEASURE = '0x3318c0ee'
/** Where the other side of the measured transfers stands; nobody lives there. */
const OTHER = '0x7377617079617264000000000000000000000001'
/** Tokens that count by shares (stETH) round each transfer by a unit or two. */
const ROUNDING_UNITS = 2n
const GAS = '0x2dc6c0'
/** Fees are switched on and off by tokens' owners. */
const AGAIN_MS = 60 * 60_000
/** Where the token did not move, or the node takes no overrides. */
const UNKNOWN_AGAIN_MS = 5 * 60_000
/** Looked at again in one turn. */
const AGAIN_PER_TURN = 32
/** Questions in flight at once. */
const AT_ONCE = 200
/** Pools of a token whose holdings are tried until one moves. */
const HOLDERS_MAX = 3

/**
 * A token is sent from a pool that holds it to nobody and back, in a simulated call with the probe's code in the pool's place. Where
 * a token does not move so, or the node takes no state overrides, it counts as plain: the minimum and the simulation of the swap
 * protect who trades it.
 */
export function createFeeOnTransferTokens(
  rpc: () => Rpc,
  wrapped: string,
  now: () => number,
  /** Counted as such without a look: the coin's own contract (`nativeContract`), which pays nothing without a value. */
  always: readonly string[] = [],
): FeeOnTransferTokens {
  const looked = new Map<string, Looked>()
  // The wrapped coin takes nothing.
  const unasked: ReadonlySet<string> = new Set([wrapped, ...always])
  let taxed: ReadonlySet<string> = new Set(always)
  let seen: Readonly<{ all: readonly Pool[]; known: readonly Pool[] }> | null = null

  function note(token: string, found: Verdict): void {
    const before = looked.get(token)
    // What was once told stands until something else is told.
    const verdict = found === 'unknown' ? (before?.verdict ?? found) : found
    const dueMs = now() + (found === 'unknown' ? UNKNOWN_AGAIN_MS : AGAIN_MS)
    looked.set(token, { verdict, dueMs })
    if (before === undefined) seen = null
    if (taxed.has(token) !== (verdict === 'taxed'))
      taxed = new Set([...always, ...[...looked].flatMap(([one, { verdict }]) => (verdict === 'taxed' ? [one] : []))])
  }

  return {
    taxed: () => taxed,
    known(pools) {
      if (seen?.all === pools) return seen.known
      const isKnown = (token: string) => unasked.has(token) || looked.has(token)
      const known = pools.every(({ tokens }) => tokens.every(isKnown))
        ? pools
        : pools.filter(({ tokens }) => tokens.every(isKnown))
      seen = { all: pools, known }
      return known
    },
    async look(pools) {
      const holders = holdersOf(pools, unasked)
      const fresh = [...holders.keys()].filter((token) => !looked.has(token))
      const due = [...looked].filter(([token, { dueMs }]) => dueMs <= now() && holders.has(token))
      const tokens = [...fresh, ...due.slice(0, AGAIN_PER_TURN).map(([token]) => token)]
      for (let start = 0; start < tokens.length; start += AT_ONCE)
        await Promise.all(
          tokens.slice(start, start + AT_ONCE).map(async (token) => {
            note(token, await measureAny(rpc(), token, holders.get(token) ?? []))
          }),
        )
      for (const token of looked.keys()) if (!holders.has(token)) looked.delete(token)
    },
  }
}

/** Who holds each token that is asked about. */
function holdersOf(pools: readonly Pool[], unasked: ReadonlySet<string>): ReadonlyMap<string, readonly string[]> {
  const holders = new Map<string, string[]>()
  for (const { tokens, address } of pools)
    for (const token of tokens) {
      if (unasked.has(token)) continue
      const known = holders.get(token)
      if (known === undefined) holders.set(token, [address])
      else if (known.length < HOLDERS_MAX && !known.includes(address)) known.push(address)
    }
  return holders
}

async function measureAny(rpc: Rpc, token: string, holders: readonly string[]): Promise<Verdict> {
  for (const holder of holders) {
    const verdict = await measure(rpc, token, holder)
    if (verdict !== 'unknown') return verdict
  }
  return 'unknown'
}

async function measure(rpc: Rpc, token: string, holder: string): Promise<Verdict> {
  const code = { code: transferProbeCode }
  const call = { to: holder, data: callOf(MEASURE, token, OTHER), gas: GAS }
  try {
    // Not of the block that the pools are of: a node that no longer has it would seem to refuse the overrides.
    const params = [call, 'latest', { [holder]: code, [OTHER]: code }]
    const [answer] = await rpc.askMany([{ method: 'eth_call', params }], bytes)
    const words = wordsOf(answer ?? '0x')
    if (wordAt(words, 0) === 0n) return 'unknown'
    return wordAt(words, 1) > ROUNDING_UNITS || wordAt(words, 2) > ROUNDING_UNITS ? 'taxed' : 'plain'
  } catch (error) {
    if (refusalOf(error) === null) throw error
    return 'unknown'
  }
}
