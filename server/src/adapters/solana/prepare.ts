import { AppError } from '../../core/domain/errors.ts'
import { divideUp } from '../../lib/bigint.ts'
import { requireBalance } from '../../swap/ports/insufficient-balance.ts'
import { BelowMinimum, type PreparedSwap, type SwapOrder, type SwapSimulation } from '../../swap/ports/swap-chain.ts'
import { limitUnits, priceUnits } from './instructions.ts'
import {
  type Account,
  fieldsOf,
  listOf,
  readAccounts,
  type SolanaNodes,
  slotOf,
  toAccount,
  toCount,
  tokenUnits,
} from './nodes.ts'
import { token2022Program, wrappedSol } from './program-address.ts'
import { describeFailure } from './simulation-failure.ts'
import type { SwapAccounts } from './swap-instructions.ts'
import { planSwap, type SwapPlan } from './swap-plan.ts'
import { encodeUnsigned, type Instruction, TRANSACTION_BYTES_MAX } from './transaction.ts'
import { readUnitPrice } from './unit-price.ts'

/** The most compute units that a transaction may request, for the simulation. */
const UNITS_MAX = 1_400_000
/** The limit is what the simulation used, and a part of it more, because the state changes until the block. */
const UNITS_MARGIN = 1.2
const UNITS_EXTRA = 20_000
const SIGNATURE_FEE = 5_000n
/** Rent exemption of token accounts of the two programs: 165 bytes, and 182 with the extensions of a fee's mint. */
const RENT = { token: 2_039_280n, token2022: 2_157_600n } as const
/** Rent exemption of an account without data, which the payer must keep. */
const PAYER_RENT = 890_880n

/** Slots name states here: the replies of a node say no block hash. */
export const blockAt = (slot: number) => ({ height: slot, hash: `slot ${slot}` })

/** The unsigned transaction of an order, after a simulation. */
export async function prepare(nodes: SolanaNodes, order: SwapOrder): Promise<PreparedSwap> {
  const { account } = order
  const plan = planSwap(order)
  const [blockhash, price] = await Promise.all([readBlockhash(nodes), readUnitPrice(nodes, plan.written)])
  const build = (instructions: readonly Instruction[], units: number) =>
    encodeUnsigned(account, blockhash, [limitUnits(units), priceUnits(price), ...instructions, plan.memo], plan.tables)
  const simulated = build(plan.body, UNITS_MAX)
  if (simulated.length > TRANSACTION_BYTES_MAX)
    throw new AppError('NO_ROUTE', `the route needs a transaction of more than ${TRANSACTION_BYTES_MAX} bytes`)
  // What the simulation pays; the limit that is built asks for less.
  const fee = SIGNATURE_FEE + divideUp(BigInt(UNITS_MAX) * price, 1_000_000n)
  const before = await readBefore(nodes, order, plan)
  checkBalances(order, plan, before, fee)
  const state = { nodes, order, plan, before, fee }
  const result = await simulate(state, simulated)
  if ('failure' in result) throw await failureOf({ ...state, failure: result.failure }, (one) => build(one, UNITS_MAX))
  const { simulation, units } = result
  const limit = Math.min(UNITS_MAX, Math.ceil(units * UNITS_MARGIN) + UNITS_EXTRA)
  const swap = build(plan.body, limit).toString('base64')
  return { approve: null, swap, simulatedOut: simulation.amountOut, simulations: [simulation] }
}

async function readBlockhash(nodes: SolanaNodes): Promise<string> {
  const reply = await nodes.ask('getLatestBlockhash', [{ commitment: 'confirmed' }])
  return String(fieldsOf(fieldsOf(reply)['value'])['blockhash'])
}

type Before = Readonly<{
  user: Account | null
  source: Account | null
  target: Account | null
  fee: Account | null
  /** As `SwapPlan.unchanged`. */
  unchanged: readonly (Account | null)[]
}>

async function readBefore(nodes: SolanaNodes, { account }: SwapOrder, plan: SwapPlan): Promise<Before> {
  const { source, target, feeAccount } = plan.accounts
  const named = [account, source, target, ...(feeAccount === null ? [] : [feeAccount])]
  const { accounts } = await readAccounts(nodes, [...named, ...plan.unchanged])
  const [user = null, from = null, to = null, fee = null] = accounts.slice(0, named.length)
  return { user, source: from, target: to, fee, unchanged: accounts.slice(named.length) }
}

const rentOf = (program: string): bigint => (program === token2022Program ? RENT.token2022 : RENT.token)

/** The lamports that token accounts need which do not exist yet. Those of wrapped SOL are closed again at the end. */
function rentOfNew(order: SwapOrder, { programs, feeAccount }: SwapAccounts, { source, target, fee }: Before): bigint {
  const wraps = order.tokenIn === wrappedSol && source === null ? rentOf(programs[0]) : 0n
  const ofTarget = target === null ? rentOf(programs[1]) : 0n
  return wraps + ofTarget + (feeAccount !== null && fee === null ? rentOf(programs[1]) : 0n)
}

function checkBalances(order: SwapOrder, { accounts }: SwapPlan, before: Before, fee: bigint): void {
  const { tokenIn, amountIn } = order
  const isNative = tokenIn === wrappedSol
  const available = before.user?.lamports ?? 0n
  const required = fee + rentOfNew(order, accounts, before) + PAYER_RENT + (isNative ? amountIn : 0n)
  const held = tokenUnits(before.source)
  if (!isNative) requireBalance({ of: 'token', field: 'amount', required: amountIn, available: held })
  requireBalance({ of: 'native', field: isNative ? 'amount' : 'account', required, available })
}

type Simulated = Readonly<{ simulation: SwapSimulation; units: number }> | Readonly<{ failure: unknown }>

async function simulate(state: Omit<Failing, 'failure'>, transaction: Buffer): Promise<Simulated> {
  const { nodes, order, plan, before, fee } = state
  const { target, feeAccount } = plan.accounts
  const paid = [order.account, target, ...(feeAccount === null ? [] : [feeAccount])]
  const reply = await nodes.ask('simulateTransaction', [
    transaction.toString('base64'),
    {
      ...{ encoding: 'base64', commitment: 'confirmed', sigVerify: false, replaceRecentBlockhash: true },
      accounts: { encoding: 'base64', addresses: [...paid, ...plan.unchanged] },
    },
  ])
  const value = fieldsOf(fieldsOf(reply)['value'])
  if (value['err'] !== null) return { failure: value['err'] }
  const accounts = listOf(value['accounts']).map(toAccount)
  const [user = null, after = null, ofFee = null] = accounts.slice(0, paid.length)
  if (order.aggregatorCall !== undefined)
    checkUnchanged(state, { user, target: after, fee: ofFee, unchanged: accounts.slice(paid.length) })
  const amountOut =
    order.tokenOut === wrappedSol
      ? (user?.lamports ?? 0n) - (before.user?.lamports ?? 0n) - (before.target?.lamports ?? 0n) + fee
      : tokenUnits(after) - tokenUnits(before.target)
  return { simulation: { block: blockAt(slotOf(reply)), amountOut }, units: toCount(value['unitsConsumed']) }
}

type After = Omit<Before, 'source'>

/**
 * Refuses an instruction that takes lamports of the user, or that gives others a right to the user's token accounts: no transfer in the
 * transaction itself bounds those.
 */
function checkUnchanged({ order, before, fee }: Omit<Failing, 'failure'>, after: After): void {
  const { tokenIn, tokenOut, amountIn } = order
  const rentOf = (was: Account | null, is: Account | null) => (was === null ? (is?.lamports ?? 0n) : 0n)
  const rents = rentOf(before.target, after.target) + rentOf(before.fee, after.fee)
  const cost = fee + rents + (tokenIn === wrappedSol ? amountIn : 0n)
  const spent = (before.user?.lamports ?? 0n) - (after.user?.lamports ?? 0n)
  const rights = (account: Account | null) =>
    account?.data.subarray(0, TOKEN_ACCOUNT_BYTES).toString('hex').replace(BALANCE_IN_HEX, '$1')
  // An account of wrapped SOL is closed at the end.
  const isAltered = after.unchanged.some(
    (account, index) =>
      account !== null && account.data.length > 0 && rights(account) !== rights(before.unchanged[index] ?? null),
  )
  if (isAltered || (tokenOut !== wrappedSol && spent > cost))
    throw new AppError('SIMULATION_FAILED', 'the swap would take more of the account than its input', {
      extra: { reason: isAltered ? 'it alters a token account' : 'it takes lamports' },
    })
}

/** Extensions follow; they hold no rights of others. */
const TOKEN_ACCOUNT_BYTES = 165
/** Bytes 64 to 72 of a token account. */
const BALANCE_IN_HEX = /^(.{128}).{16}/

type Failing = Readonly<{
  nodes: SolanaNodes
  order: SwapOrder
  plan: SwapPlan
  before: Before
  fee: bigint
  failure: unknown
}>

/** The partner's error. What a swap below its minimum would pay is simulated without the minimum. */
async function failureOf(
  { failure, ...state }: Failing,
  build: (body: readonly Instruction[]) => Buffer,
): Promise<AppError> {
  const { body, unlimited } = state.plan
  const { reason, isBelowMinimum } = describeFailure(failure, body)
  const message = `the swap would fail: ${reason}`
  if (isBelowMinimum && unlimited !== null) {
    const simulated = await simulate(state, build(unlimited))
    if ('simulation' in simulated) return new BelowMinimum(message, reason, simulated.simulation)
  }
  return new AppError('SIMULATION_FAILED', message, { extra: { reason } })
}
