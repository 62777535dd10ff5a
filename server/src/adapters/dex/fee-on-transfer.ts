import { transferProbeCode } from '@swapyard/contracts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import { bytes } from '../chains/evm/replies.ts'
import { type Rpc, refusalOf } from '../chains/evm/rpc.ts'
import { callOf, wordAt, wordsOf } from './abi-words.ts'

/** Detects tokens with a fee on transfer: a swap pays less of them than the pool maths says. */
export type FeeOnTransferTokens = Readonly<{
  /** Measures the tokens that have no result yet, and some whose result is old. */
  check(pools: readonly Pool[]): Promise<void>
  /** The pools whose tokens all have a result; the same array until something changes. */
  poolsWithCheckedTokens(pools: readonly Pool[]): readonly Pool[]
  /** The tokens with a fee; the same set until something changes. */
  feeOnTransfer(): ReadonlySet<string>
}>

type Verdict = 'plain' | 'fee' | 'unknown'
type CheckResult = Readonly<{ verdict: Verdict; dueMs: number }>

/** contracts/src/TransferProbe.sol: measure(address,address) */
const MEASURE = '0x3318c0ee'
/** The other side of the measured transfers, an address without code. */
const OTHER = '0x7377617079617264000000000000000000000001'
/** Tokens that count by shares (stETH) round each transfer by a unit or two. */
const ROUNDING_UNITS = 2n
const GAS = '0x2dc6c0'
/** A token's owner can enable or disable the fee at any time. */
const RECHECK_MS = 60 * 60_000
/** After a failed transfer, or if the node does not support state overrides. */
const UNKNOWN_RECHECK_MS = 5 * 60_000
/** Limit of repeated checks per run. */
const RECHECKS_PER_RUN = 32
/** Limit of concurrent calls. */
const AT_ONCE = 200
/** Pools of a token that are tried until a transfer succeeds. */
const HOLDERS_MAX = 3

/**
 * Simulates a transfer of the token from a pool to another address and back, with the probe's code at the pool's address. If the
 * transfer fails or the node does not support state overrides, the token counts as plain: the minimum output and the simulation
 * of the swap protect the user.
 */
export function createFeeOnTransferTokens(
  rpc: () => Rpc,
  wrapped: string,
  now: () => number,
  /** Tokens that always count as fee-on-transfer: the native token's contract (`nativeContract`) transfers nothing without a value. */
  always: readonly string[] = [],
): FeeOnTransferTokens {
  const results = new Map<string, CheckResult>()
  // The wrapped native token has no fee.
  const unmeasured: ReadonlySet<string> = new Set([wrapped, ...always])
  let withFee: ReadonlySet<string> = new Set(always)
  let cache: Readonly<{ all: readonly Pool[]; checked: readonly Pool[] }> | null = null

  function record(token: string, measured: Verdict): void {
    const before = results.get(token)
    // An unknown result keeps the previous verdict.
    const verdict = measured === 'unknown' ? (before?.verdict ?? measured) : measured
    const dueMs = now() + (measured === 'unknown' ? UNKNOWN_RECHECK_MS : RECHECK_MS)
    results.set(token, { verdict, dueMs })
    if (before === undefined) cache = null
    if (withFee.has(token) !== (verdict === 'fee'))
      withFee = new Set([...always, ...[...results].flatMap(([one, { verdict }]) => (verdict === 'fee' ? [one] : []))])
  }

  return {
    feeOnTransfer: () => withFee,
    poolsWithCheckedTokens(pools) {
      if (cache?.all === pools) return cache.checked
      const isChecked = (token: string) => unmeasured.has(token) || results.has(token)
      const checked = pools.every(({ tokens }) => tokens.every(isChecked))
        ? pools
        : pools.filter(({ tokens }) => tokens.every(isChecked))
      cache = { all: pools, checked }
      return checked
    },
    async check(pools) {
      const holders = holdersOf(pools, unmeasured)
      const fresh = [...holders.keys()].filter((token) => !results.has(token))
      const due = [...results].filter(([token, { dueMs }]) => dueMs <= now() && holders.has(token))
      const tokens = [...fresh, ...due.slice(0, RECHECKS_PER_RUN).map(([token]) => token)]
      for (let start = 0; start < tokens.length; start += AT_ONCE)
        await Promise.all(
          tokens.slice(start, start + AT_ONCE).map(async (token) => {
            record(token, await measureAny(rpc(), token, holders.get(token) ?? []))
          }),
        )
      for (const token of results.keys()) if (!holders.has(token)) results.delete(token)
    },
  }
}

/** Some pools that hold each token. */
function holdersOf(pools: readonly Pool[], unmeasured: ReadonlySet<string>): ReadonlyMap<string, readonly string[]> {
  const holders = new Map<string, string[]>()
  for (const { tokens, address } of pools)
    for (const token of tokens) {
      if (unmeasured.has(token)) continue
      const addresses = holders.get(token)
      if (addresses === undefined) holders.set(token, [address])
      else if (addresses.length < HOLDERS_MAX && !addresses.includes(address)) addresses.push(address)
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
    // At the latest block: a node that no longer has the pools' block would seem to refuse the overrides.
    const params = [call, 'latest', { [holder]: code, [OTHER]: code }]
    const [answer] = await rpc.askMany([{ method: 'eth_call', params }], bytes)
    const words = wordsOf(answer ?? '0x')
    if (wordAt(words, 0) === 0n) return 'unknown'
    return wordAt(words, 1) > ROUNDING_UNITS || wordAt(words, 2) > ROUNDING_UNITS ? 'fee' : 'plain'
  } catch (error) {
    if (refusalOf(error) === null) throw error
    return 'unknown'
  }
}
