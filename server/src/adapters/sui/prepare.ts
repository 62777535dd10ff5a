import { setTimeout } from 'node:timers/promises'
import { bcs } from '@mysten/sui/bcs'
import { toBase64 } from '@mysten/sui/utils'
import { AppError } from '../../core/domain/errors.ts'
import type { Network } from '../../core/domain/network.ts'
import { largest, smallest } from '../../lib/bigint.ts'
import { BelowMinimum, type PreparedSwap, type SwapOrder, type SwapSimulation } from '../../swap/ports/swap-chain.ts'
import { answersOf, firstAvailable } from '../chains/shared/agreement.ts'
import { nativeCoin } from './address-format.ts'
import type { SharedVersions } from './builder.ts'
import { composeSwap } from './compose-swap.ts'
import { type Execution, netGasOf, type ObjectRef, SimulationRefused, type SuiNode } from './node.ts'
import { sharedObjectsOf } from './pool-calls.ts'
import { receivedIn } from './received.ts'
import { selectCoins } from './select-coins.ts'

export type PrepareContext = Readonly<{
  network: Network
  nodes: readonly SuiNode[]
  /** Initial versions of shared objects, which never change. */
  sharedVersions: Map<string, bigint>
}>

const SIMULATION_BUDGET = 10_000_000_000n
/** Computation units on top of what the simulation used. */
const OVERHEAD_UNITS = 1_000n
/** The chain charges what is used; the budget allows for a fifth more. */
const budgetOf = (gas: bigint): bigint => (gas * 12n) / 10n

/** Prepares a swap from the state of one node; the next node is used if one fails. Another node confirms the outcome. */
export async function prepare(context: PrepareContext, order: SwapOrder): Promise<PreparedSwap> {
  if (order.swaps.length === 0) throw new AppError('NO_ROUTE', 'there is no route between these coins')
  const price = await readGasPrice(context.nodes)
  try {
    return await firstAvailable(context.nodes, (node) => prepareOn(node, { ...context, price }, order))
  } catch (error) {
    // One node alone may have stated a wrong version.
    if (error instanceof SimulationRefused) for (const id of sharedIdsOf(order)) context.sharedVersions.delete(id)
    throw error
  }
}

/** The price that every answering node states. One node alone could make the user pay too much, or the transaction be refused. */
async function readGasPrice(nodes: readonly SuiNode[]): Promise<bigint> {
  const [price = 0n, ...others] = await answersOf(nodes, (node) => node.readGasPrice())
  if (others.every((other) => other === price)) return price
  throw new AppError('NETWORK_UNAVAILABLE', `the nodes disagree about the gas price: ${[price, ...others].join(', ')}`)
}

const sharedIdsOf = ({ swaps }: SwapOrder): readonly string[] => [
  ...new Set(swaps.flatMap(({ pool }) => sharedObjectsOf(pool))),
]

type Gas = Readonly<{ payment: readonly ObjectRef[]; price: bigint; budget: bigint }>
type Ready = Readonly<{ coins: readonly ObjectRef[]; versions: SharedVersions }>

function encode(order: SwapOrder, { coins, versions }: Ready, { payment, price, budget }: Gas): Uint8Array {
  const { account, expiry } = order
  const data = {
    kind: { ProgrammableTransaction: composeSwap(order, coins, versions) },
    sender: account,
    gasData: { payment: payment.map((ref) => ({ ...ref })), owner: account, price, budget },
    expiration: expiry?.by === 'epoch' ? { Epoch: expiry.at } : ({ None: true } as const),
  }
  return bcs.TransactionData.serialize({ V1: data }).toBytes()
}

async function prepareOn(
  node: SuiNode,
  context: PrepareContext & Readonly<{ price: bigint }>,
  order: SwapOrder,
): Promise<PreparedSwap> {
  const { price } = context
  const { account, tokenIn, amountIn } = order
  const isNativeIn = tokenIn === nativeCoin
  const [sui, tokens, versions] = await Promise.all([
    node.listCoins(account, nativeCoin),
    isNativeIn ? [] : node.listCoins(account, tokenIn),
    readVersions(node, context, order),
  ])
  const coins = isNativeIn ? [] : selectCoins(tokens, amountIn, { of: 'token', field: 'amount' })
  if (isNativeIn) selectCoins(sui, amountIn, { of: 'native', field: 'amount' })
  const ready = { coins, versions }
  const budget = await estimateBudget(node, order, ready, price)
  const needed = budget + (isNativeIn ? amountIn : 0n)
  const payment = selectCoins(sui, needed, { of: 'native', field: isNativeIn ? 'amount' : 'account' })
  const bytes = encode(order, ready, { payment, price, budget })
  const others = context.nodes.filter((one) => one !== node).slice(0, 1)
  const [first, ...rest] = await Promise.all([
    simulateOn(node, order, bytes),
    ...others.map((one) => confirmOn(one, order, bytes).catch(unlessUnavailable)),
  ])
  const confirmed = rest.flatMap((simulation) => simulation ?? [])
  const simulatedOut = smallest(first.amountOut, ...confirmed.map(({ amountOut }) => amountOut))
  return { approve: null, swap: toBase64(bytes), simulatedOut, simulations: [first, ...confirmed] }
}

/** Time for a second node to catch up with the first: it refuses a transaction that names coins which it does not have yet. */
const CATCH_UP_MS = 2_000
const CATCH_UP_PACE_MS = 200

async function confirmOn(node: SuiNode, order: SwapOrder, bytes: Uint8Array): Promise<SwapSimulation> {
  for (let waitedMs = 0; waitedMs < CATCH_UP_MS; waitedMs += CATCH_UP_PACE_MS) {
    try {
      return await simulateOn(node, order, bytes)
    } catch (error) {
      if (!(error instanceof SimulationRefused)) throw error
    }
    await setTimeout(CATCH_UP_PACE_MS)
  }
  return simulateOn(node, order, bytes)
}

/** A second node that does not answer confirms nothing; the swap is built all the same. */
function unlessUnavailable(error: unknown): null {
  if (error instanceof AppError && error.code === 'NETWORK_UNAVAILABLE') return null
  throw error
}

async function readVersions(
  node: SuiNode,
  { sharedVersions }: PrepareContext,
  order: SwapOrder,
): Promise<SharedVersions> {
  const ids = sharedIdsOf(order)
  const versions = new Map(ids.flatMap((id) => pairOf(id, sharedVersions.get(id))))
  const unknown = ids.filter((id) => !versions.has(id))
  const objects = unknown.length === 0 ? [] : await node.readObjects(unknown)
  for (const [index, id] of unknown.entries()) {
    const version = objects[index]?.sharedVersion ?? null
    if (version === null) throw new AppError('NO_ROUTE', 'a pool of the route does not exist any more')
    for (const map of [versions, sharedVersions]) map.set(id, version)
  }
  // Of its own: another build may forget versions meanwhile.
  return (id) => versions.get(id) ?? 0n
}

const pairOf = (id: string, version: bigint | undefined): readonly (readonly [string, bigint])[] =>
  version === undefined ? [] : [[id, version]]

/** A simulation with a coin that the node invents, so that the account's coins are not needed yet. */
async function estimateBudget(node: SuiNode, order: SwapOrder, ready: Ready, price: bigint): Promise<bigint> {
  const simulate = (one: SwapOrder) =>
    node.simulate(encode(one, ready, { payment: [], price, budget: SIMULATION_BUDGET }))
  const outcome = await simulate(order)
  if (outcome.failure !== null) {
    // Without a minimum the simulation shows what the swap would have paid.
    const unlimited = await simulate({ ...order, minReceived: 0n })
    if (unlimited.failure !== null) throw failed(unlimited)
    throw belowMinimum(outcome, await simulationOf(node, order, unlimited))
  }
  return budgetOf(largest(netGasOf(outcome), outcome.gas.computation) + OVERHEAD_UNITS * price)
}

const reasonOf = ({ failure }: Execution): string => failure?.description ?? 'unknown reason'

const failed = (outcome: Execution): AppError =>
  new AppError('SIMULATION_FAILED', `the swap would fail: ${reasonOf(outcome)}`, {
    extra: { reason: reasonOf(outcome) },
  })

const belowMinimum = (outcome: Execution, simulation: SwapSimulation): BelowMinimum =>
  new BelowMinimum('the swap would pay less than its minimum', reasonOf(outcome), simulation)

/** A simulation runs on the newest state of a node, which no checkpoint names yet: it proves nothing about the state that was quoted. */
async function simulationOf(node: SuiNode, order: SwapOrder, outcome: Execution): Promise<SwapSimulation> {
  const { height, hash } = await node.readTip()
  return { block: { height: height + 1, hash: `after ${hash}` }, amountOut: receivedIn(outcome, order).received }
}

async function simulateOn(node: SuiNode, order: SwapOrder, bytes: Uint8Array): Promise<SwapSimulation> {
  const outcome = await node.simulate(bytes)
  if (outcome.failure !== null) throw failed(outcome)
  return simulationOf(node, order, outcome)
}
