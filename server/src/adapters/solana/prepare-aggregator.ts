import { base58 } from '@scure/base'
import { AppError } from '../../core/domain/errors.ts'
import type { GuardedAccount, InstructionCall } from '../../swap/ports/aggregator.ts'
import type { PreparedSwap, SwapOrder } from '../../swap/ports/swap-chain.ts'
import { firstAvailable } from '../chains/shared/agreement.ts'
import { aggregatorInstructions, aggregatorMemo, feeOf } from './aggregator-swap.ts'
import { simulateOnOther } from './confirm-simulation.ts'
import { limitUnits, priceUnits } from './instructions.ts'
import { type Account, readAccounts, type SolanaNode, type SolanaNodes, tokenUnits } from './nodes.ts'
import { blockAt, leastOf, readBlockhash } from './prepare.ts'
import { wrappedSol } from './program-address.ts'
import { requireSize, simulatedFee, simulateTransaction } from './simulate-transaction.ts'
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
  const build = (units: number) =>
    encodeUnsigned(account, blockhash, [limitUnits(units), priceUnits(price), ...body], call.tables)
  const simulated = build(UNITS_MAX)
  requireSize(simulated)
  const cost = simulatedFee(price)
  const first = await simulate(node, order, call, simulated)
  const second = await simulateOnOther(nodes, { node, slot: first.slot }, (other) =>
    simulate(other, order, call, simulated),
  )
  const both = (second === null ? [first] : [first, second]).map((one) => accept(one, order, call, cost))
  const simulations = both.map(({ block, amountOut }) => ({ block, amountOut }))
  const swap = build(limitOf(Math.max(...both.map(({ units }) => units)))).toString('base64')
  return { approve: null, swap, simulatedOut: leastOf(simulations), simulations }
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
  const paid = checkChanges(order, cost, before, after)
  const ownFee = order.feeTo === order.recipient ? feeOf(order, call).units : 0n
  return { block: blockAt(slot), units, amountOut: paid - ownFee }
}

const REASON_MAX = 200
const refusal = (reason: string): AppError =>
  new AppError('SIMULATION_FAILED', `the aggregator's swap would fail: ${reason}`, { extra: { reason } })

/**
 * What the user receives. Refuses an instruction that takes lamports of the user, or that gives others a right to the user's token
 * accounts: no transfer in the transaction itself bounds those.
 */
function checkChanges(
  { account: user, tokenIn, tokenOut, amountIn }: SwapOrder,
  cost: bigint,
  before: State,
  after: State,
): bigint {
  // An account of wrapped SOL is closed at the end.
  const isLeft = (account: Account | null): account is Account => account !== null && account.data.length > 0
  const isAltered = after.own.some((account, index) => {
    const was = before.own[index] ?? null
    return isLeft(account) && (was === null ? !isOnlyOf(user, account) : rightsOf(account) !== rightsOf(was))
  })
  if (isAltered) throw refusal('it alters a token account')
  const isWrapping = tokenIn === wrappedSol
  if (!isWrapping && tokenUnits(before.source) - tokenUnits(after.source) > amountIn)
    throw refusal('it takes more than the input')
  const lamportsOf = (account: Account | null) => account?.lamports ?? 0n
  const gained = lamportsOf(after.user) - lamportsOf(before.user) + cost
  if (tokenOut === wrappedSol) return gained - lamportsOf(before.target)
  const rentOf = (was: Account | null, is: Account | null) => (was === null ? lamportsOf(is) : 0n)
  const rents = rentOf(before.target, after.target) + rentOf(before.fee, after.fee)
  // The account of wrapped SOL is closed, so that the user has what was in it.
  const spent = isWrapping ? amountIn - lamportsOf(before.source) : 0n
  if (gained + rents + spent < 0n) throw refusal('it takes lamports')
  return tokenUnits(after.target) - tokenUnits(before.target)
}

/** A token account without its extensions, which hold no rights of others, and without its balance in bytes 64 to 72. */
const TOKEN_ACCOUNT_BYTES = 165
const [BALANCE_FROM, BALANCE_TO] = [64, 72] as const
const rightsOf = (account: Account | null): string | null =>
  account &&
  Buffer.concat([
    account.data.subarray(0, BALANCE_FROM),
    account.data.subarray(BALANCE_TO, TOKEN_ACCOUNT_BYTES),
  ]).toString('hex')

const OWNER_AT = 32
const DELEGATE_AT = 72
const STATE_AT = 108
const INITIALIZED = 1
const CLOSER_AT = 129

/** Whether the account is the user's alone: owned, not frozen, without a delegate, and without another one who may close it. */
const isOnlyOf = (user: string, { data }: Account): boolean =>
  data.length >= TOKEN_ACCOUNT_BYTES &&
  base58.encode(data.subarray(OWNER_AT, OWNER_AT + 32)) === user &&
  data.readUInt32LE(DELEGATE_AT) === 0 &&
  data[STATE_AT] === INITIALIZED &&
  data.readUInt32LE(CLOSER_AT) === 0
