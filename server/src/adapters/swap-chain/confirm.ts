import type { Hex } from 'viem'
import { AppError } from '../../core/domain/errors.ts'
import type { Network } from '../../core/domain/network.ts'
import type { BlockRef, FeeRate } from '../../core/ports/chain.ts'
import { present } from '../../lib/assert.ts'
import { agreeOnFeeRate, type FeeCaps, readPrice } from '../chains/evm/fees.ts'
import type { EvmNode } from '../chains/evm/node.ts'
import { count } from '../chains/evm/replies.ts'
import { answersOf } from '../chains/shared/agreement.ts'
import {
  type GrantedAllowance,
  type LimitedCall,
  type NextBlock,
  type Outcome,
  readNextBlock,
  simulateCalls,
} from './simulate.ts'

/*
 * A single node can report any state. Where several are configured, a second one confirms what the first says. A node that does not
 * answer, or whose newest block is old, confirms nothing: then the swap is built from one node (SECURITY.md).
 */

/** Time for a second node to catch up with the first. */
const CATCH_UP_MS = 2_000
const CATCH_UP_PACE_MS = 200
/** A node whose newest block is older, by our clock, does not follow the chain; in ms and in block times. */
const HEAD_AGE_MS = 90_000
const HEAD_AGE_BLOCKS = 20
/** The second attempt's gas limit, for calls that need more gas while they run than they use. */
const GAS_FACTORS = [1n, 2n] as const

export type NodeSimulation = Readonly<{ block: BlockRef; outcome: Outcome }>
type Place = Readonly<{ nodes: readonly EvmNode[]; node: EvmNode; network: Network; next: NextBlock }>
type Options = Readonly<{ allowance: GrantedAllowance; fees: Readonly<Record<string, Hex>> }>

/**
 * Simulates the transactions as in the next block, at `node` and at another node that answers. The outcomes are those of the last
 * transaction. `checkGas` throws if the account cannot pay.
 */
export async function simulateOnNodes(
  { nodes, node, network, next }: Place,
  calls: readonly LimitedCall[],
  options: Options,
  checkGas: (calls: readonly LimitedCall[]) => void,
): Promise<Readonly<{ transactions: readonly LimitedCall[]; simulations: readonly NodeSimulation[] }>> {
  let transactions = calls
  let outcomes: readonly Outcome[] = []
  for (const factor of GAS_FACTORS) {
    transactions = calls.map((call) => ({ ...call, gas: call.gas * factor }))
    checkGas(transactions)
    outcomes = await simulateCalls(node, transactions, next, options)
    if (outcomes.every(({ ok }) => ok)) break
  }
  const first = { block: next.parent, outcome: outcomeOf(outcomes) }
  if (!first.outcome.ok) return { transactions, simulations: [first] }
  for (const other of nodes.filter((one) => one !== node)) {
    const second = await simulateOnOther(other, network, next.parent, transactions, options)
    if (second !== null) return { transactions, simulations: [first, second] }
  }
  return { transactions, simulations: [first] }
}

/** The first failure, else the outcome of the last call. */
const outcomeOf = (outcomes: readonly Outcome[]): Outcome =>
  outcomes.find(({ ok }) => !ok) ?? outcomes.at(-1) ?? { ok: false, reverted: null }

/** Null if the node confirms nothing. */
async function simulateOnOther(
  other: EvmNode,
  network: Network,
  first: BlockRef,
  calls: readonly LimitedCall[],
  options: Options,
): Promise<NodeSimulation | null> {
  try {
    let next = await readNextBlock(other, network)
    if (!isFollowing(next, network)) return null
    // An approval of the newest block may not have reached this node yet.
    for (let waitedMs = 0; next.parent.height < first.height && waitedMs < CATCH_UP_MS; waitedMs += CATCH_UP_PACE_MS) {
      await new Promise((resolve) => setTimeout(resolve, CATCH_UP_PACE_MS))
      next = await readNextBlock(other, network)
    }
    return { block: next.parent, outcome: outcomeOf(await simulateCalls(other, calls, next, options)) }
  } catch (error) {
    if (error instanceof AppError && error.retryable) return null
    throw error
  }
}

/** Whether the node's newest block shows that it follows the chain. */
const isFollowing = ({ minedAtMs }: NextBlock, { blockTimeMs }: Network): boolean =>
  Date.now() - minedAtMs <= Math.max(HEAD_AGE_MS, HEAD_AGE_BLOCKS * blockTimeMs)

/** The answers of the nodes that follow the chain; of all that answer if none does. */
async function askFollowing<T>(
  nodes: readonly EvmNode[],
  network: Network,
  ask: (node: EvmNode) => Promise<T>,
): Promise<readonly T[]> {
  const answers = await answersOf(nodes, (node) =>
    Promise.all([ask(node), readNextBlock(node, network).then((next) => isFollowing(next, network))]),
  )
  const following = answers.filter(([, follows]) => follows)
  return (following.length > 0 ? following : answers).map(([answer]) => answer)
}

/** Time for a pending transaction to reach the other nodes. */
const GOSSIP_MS = 300

/**
 * The highest pending nonce that two nodes confirm: a single one could say a nonce that is never reached. A lower one would replace a
 * pending transaction, so that the nodes are asked again if they differ, and longer where one of them has it in a block.
 */
export async function readNonce(nodes: readonly EvmNode[], network: Network, account: string): Promise<number> {
  const countAt = (node: EvmNode, at: string) => node.ask('eth_getTransactionCount', [account, at], count)
  const read = async () => {
    const counts = await askFollowing(nodes, network, (node) =>
      Promise.all([countAt(node, 'pending'), countAt(node, 'latest')]),
    )
    const pending = counts.map(([one]) => one).sort((x, y) => y - x)
    const highest = present(pending[0], 'a nonce')
    const nonce = pending[1] ?? highest
    return { nonce, isAgreed: nonce === highest, isMined: counts.some(([, mined]) => mined > nonce) }
  }
  let found = await read()
  for (
    let waitedMs = 0;
    !found.isAgreed && waitedMs < (found.isMined ? CATCH_UP_MS : GOSSIP_MS);
    waitedMs += GOSSIP_MS
  ) {
    await new Promise((resolve) => setTimeout(resolve, GOSSIP_MS))
    found = await read()
  }
  return found.nonce
}

/** A fee rate that no node alone can raise far, nor one that does not follow the chain lower. */
export const readConfirmedFeeRate = async (
  nodes: readonly EvmNode[],
  network: Network,
  caps: FeeCaps,
): Promise<FeeRate> =>
  agreeOnFeeRate(await askFollowing(nodes, network, (node) => readPrice(node, network)), network, caps)
