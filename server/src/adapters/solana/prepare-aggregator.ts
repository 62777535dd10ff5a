import { AppError } from '../../core/domain/errors.ts'
import type { GuardedAccount, InstructionCall } from '../../swap/ports/aggregator.ts'
import type { PreparedSwap, SwapOrder } from '../../swap/ports/swap-chain.ts'
import { firstAvailable } from '../chains/shared/agreement.ts'
import { isOnlyOf } from './account-rights.ts'
import { aggregatorInstructions, aggregatorMemo, closedAccount, feeOf } from './aggregator-swap.ts'
import { simulateOnOther } from './confirm-simulation.ts'
import { limitUnits, priceUnits } from './instructions.ts'
import { type Account, readAccounts, type SolanaNode, type SolanaNodes, tokenUnits } from './nodes.ts'
import { blockAt, leastOf, readBlockhash } from './prepare.ts'
import { wrappedSol } from './program-address.ts'
import { networkFee, requireSize, SIGNATURE_FEE, simulatedFee, simulateTransaction } from './simulate-transaction.ts'
import { encodeUnsigned } from './transaction.ts'
import { limitOf, UNITS_MAX } from './unit-limit.ts'
import { readUnitPrice } from './unit-price.ts'

/** As `prepare`, by an aggregator's instruction. What the account lacks, our own route reports. */
export const prepareAggregator = (nodes: SolanaNodes, order: SwapOrder, call: InstructionCall): Promise<PreparedSwap> =>
  firstAvailable(nodes.inOrder(), (node) => prepareOn(node, nodes, order, call))

async function prepareOn(
  node: SolanaNode,
  nodes: SolanaNodes,
  order: SwapOrder,
  call: InstructionCall,
): Promise<PreparedSwap> {
  const { account } = order
  const written = call.instruction.accounts.filter(({ isWritable, isSigner }) => isWritable && !isSigner)
  const [blockhash, price] = await Promise.all([
    readBlockhash(node),
    readUnitPrice(
      node,
      written.map(({ address }) => address),
    ),
  ])
  const body = [...aggregatorInstructions(order, call), aggregatorMemo(order)]
  const build = (units: number, unitPrice: bigint) =>
    encodeUnsigned(account, blockhash, [limitUnits(units), priceUnits(unitPrice), ...body], call.tables)
  // The fee of the network counts against an output in SOL, and the most units cost a multiple of what is built.
  const paysSol = order.tokenOut === wrappedSol
  const simulatedPrice = paysSol ? 0n : price
  const simulated = build(UNITS_MAX, simulatedPrice)
  requireSize(simulated)
  const cost = simulatedFee(simulatedPrice)
  const first = await simulate(node, order, call, simulated)
  const second = await simulateOnOther(nodes, { node, slot: first.slot }, (other) =>
    simulate(other, order, call, simulated),
  )
  const both = (second === null ? [first] : [first, second]).map((one) => accept(one, order, call, cost))
  const simulations = both.map(({ block, amountOut }) => ({ block, amountOut }))
  const units = limitOf(Math.max(...both.map((one) => one.units)))
  const simulatedOut = leastOf(simulations)
  if (paysSol && simulatedOut - (networkFee(price, units) - SIGNATURE_FEE) < order.minReceived)
    throw refusal('the fee of the network leaves less than the minimum')
  return { approve: null, swap: build(units, price).toString('base64'), simulatedOut, simulations }
}

/** The accounts that a swap changes. */
type State = Readonly<{
  user: Account | null
  /** The token account of the fee's recipient. */
  fee: Account | null
  source: Account | null
  target: Account | null
  /** The user's token accounts of the trade: source, target, others. */
  own: readonly (Account | null)[]
}>

const toState = ([user, fee, ...own]: readonly (Account | null)[]): State => {
  const [source, target] = own
  return { user: user ?? null, fee: fee ?? null, source: source ?? null, target: target ?? null, own }
}

const guardedBy = ({ source, target, others }: InstructionCall): readonly GuardedAccount[] => [
  source,
  target,
  ...others,
]

type Simulated =
  | Readonly<{ slot: number; units: number; before: State; after: State }>
  | Readonly<{ slot: number; failure: unknown }>

async function simulate(
  node: SolanaNode,
  order: SwapOrder,
  call: InstructionCall,
  transaction: Buffer,
): Promise<Simulated> {
  const fee = feeOf(order, call).account
  // Without a fee account of others the user's own stands in its place, which is there already.
  const named = [order.account, fee === null || fee === call.target.address ? order.account : fee]
  const addresses = [...named, ...guardedBy(call).map(({ address }) => address)]
  const before = await readAccounts(node, addresses)
  const result = await simulateTransaction(node, transaction, addresses)
  if ('failure' in result) return result
  const { slot, units, accounts } = result
  return { slot, units, before: toState(before.accounts), after: toState(accounts) }
}

/**
 * Throws SIMULATION_FAILED for a simulation that fails, or that changes what it must not. The transfers that bound the instruction state
 * what one node said of the balances, so every node that simulates must say the same.
 */
function accept(simulated: Simulated, order: SwapOrder, call: InstructionCall, cost: bigint) {
  if ('failure' in simulated) throw refusal(String(JSON.stringify(simulated.failure)).slice(0, REASON_MAX))
  const { slot, units, before, after } = simulated
  const isHeld = guardedBy(call).every(({ held }, index) => {
    const account = before.own[index] ?? null
    return held === (account === null ? null : tokenUnits(account))
  })
  if (!isHeld) throw refusal('a token account has another balance than the transaction states')
  // Less is refused by the transaction itself.
  if (heldLamports(order, call, before) > call.lamports)
    throw refusal('the account has more lamports than the transaction states')
  const paid = checkChanges(order, cost, before, after)
  const ownFee = order.feeTo === order.recipient ? feeOf(order, call).units : 0n
  return { block: blockAt(slot), units, amountOut: paid - ownFee }
}

const lamportsOf = (account: Account | null): bigint => account?.lamports ?? 0n

/** As `InstructionCall.lamports`. */
function heldLamports(order: SwapOrder, call: InstructionCall, { user, source, target }: State): bigint {
  const closed = closedAccount(order, call)
  return lamportsOf(user) + (closed === null ? 0n : lamportsOf(closed === call.source ? source : target))
}

const REASON_MAX = 200
const refusal = (reason: string): AppError =>
  new AppError('SIMULATION_FAILED', `the aggregator's swap would fail: ${reason}`, { extra: { reason } })

/**
 * What the user receives. Refuses an instruction that takes lamports of the user, also within the allowance of the transaction itself, or
 * after which others have a right to the user's token accounts.
 */
function checkChanges(
  { account: user, tokenIn, tokenOut, amountIn }: SwapOrder,
  cost: bigint,
  before: State,
  after: State,
): bigint {
  // An account of wrapped SOL is closed at the end.
  const isLeft = (account: Account | null): account is Account => account !== null && account.data.length > 0
  if (after.own.some((account) => isLeft(account) && !isOnlyOf(user, account)))
    throw refusal('it alters a token account')
  const isWrapping = tokenIn === wrappedSol
  if (!isWrapping && tokenUnits(before.source) - tokenUnits(after.source) > amountIn)
    throw refusal('it takes more than the input')
  const gained = lamportsOf(after.user) - lamportsOf(before.user) + cost
  if (tokenOut === wrappedSol) return gained - lamportsOf(before.target)
  const rentOf = (was: Account | null, is: Account | null) => (was === null ? lamportsOf(is) : 0n)
  const rents = rentOf(before.target, after.target) + rentOf(before.fee, after.fee)
  // The account of wrapped SOL is closed, so that the user has what was in it.
  const spent = isWrapping ? amountIn - lamportsOf(before.source) : 0n
  if (gained + rents + spent < 0n) throw refusal('it takes lamports')
  return tokenUnits(after.target) - tokenUnits(before.target)
}
