import { base58 } from '@scure/base'
import { AppError } from '../../core/domain/errors.ts'
import { smallest } from '../../lib/bigint.ts'
import { requireBalance } from '../../swap/ports/insufficient-balance.ts'
import type { RouteTerms } from '../../swap/ports/pools.ts'
import { BelowMinimum, type PreparedSwap, type SwapOrder, type SwapSimulation } from '../../swap/ports/swap-chain.ts'
import type { ExecutedSwap } from '../../swap/routing/execute.ts'
import { firstAvailable } from '../chains/shared/agreement.ts'
import { simulateOnOther } from './confirm-simulation.ts'
import { limitUnits, priceUnits } from './instructions.ts'
import { readLookupTables } from './lookup-tables.ts'
import { type Account, fieldsOf, readAccounts, type SolanaNode, type SolanaNodes, tokenUnits } from './nodes.ts'
import { wrappedSol } from './program-address.ts'
import { rentExemption, rentOfToken } from './rent.ts'
import { requireSize, simulatedFee, simulateTransaction } from './simulate-transaction.ts'
import { describeFailure } from './simulation-failure.ts'
import { accountsOf, memoOf, swapInstructions } from './swap-instructions.ts'
import {
  countAccounts,
  encodeUnsigned,
  type Instruction,
  type LookupTable,
  TRANSACTION_ACCOUNTS_MAX,
  TRANSACTION_BYTES_MAX,
} from './transaction.ts'
import { limitOf, UNITS_MAX } from './unit-limit.ts'
import { readUnitPrice } from './unit-price.ts'

/** Of an account without data, which the payer must keep. */
const PAYER_RENT = rentExemption(0)

/** Slots name states here: the replies of a node say no block hash. */
export const blockAt = (slot: number) => ({ height: slot, hash: `slot ${slot}` })

/**
 * The unsigned transaction of an order, from the state of one node, so that its values are consistent; the next node is used if one fails.
 * Another node confirms the outcome. `ownTables`: lookup tables for orders that are too large without.
 */
export const prepare = (nodes: SolanaNodes, order: SwapOrder, ownTables: readonly string[]): Promise<PreparedSwap> =>
  firstAvailable(nodes.inOrder(), (node) => prepareOn(node, nodes, order, ownTables))

async function prepareOn(
  node: SolanaNode,
  nodes: SolanaNodes,
  order: SwapOrder,
  ownTables: readonly string[],
): Promise<PreparedSwap> {
  const writable = order.swaps.map(({ pool }) => pool.address)
  const [blockhash, price] = await Promise.all([readBlockhash(node), readUnitPrice(node, writable)])
  const body = swapInstructions(order)
  const isSmall = encode(order, body, { blockhash, price, units: UNITS_MAX }).length <= TRANSACTION_BYTES_MAX
  const tables = isSmall ? [] : await readLookupTables(nodes, ownTables)
  const build = (instructions: readonly Instruction[], units: number) =>
    encode(order, instructions, { blockhash, price, units, tables })
  const simulated = build(body, UNITS_MAX)
  requireSize(simulated)
  const fee = simulatedFee(price)
  const before = await readBefore(node, order)
  checkBalances(order, before, fee)
  const state = { node, order, before, fee }
  const first = await simulate(state, simulated)
  if ('failure' in first)
    throw await failureOf({ ...state, failure: first.failure }, body, (one) => build(one, UNITS_MAX))
  const second = await simulateOnOther(nodes, { node, slot: first.slot }, async (other) =>
    simulate({ node: other, order, before: await readBefore(other, order), fee }, simulated),
  )
  // Where the first simulation succeeds, the failure of the second shows that the nodes differ, and nothing about the route.
  if (second !== null && 'failure' in second) throw failed(describeFailure(second.failure, body).reason)
  const both = second === null ? [first] : [first, second]
  const swap = build(body, limitOf(Math.max(...both.map(({ units }) => units)))).toString('base64')
  const simulations = both.map(({ slot, amountOut }) => ({ block: blockAt(slot), amountOut }))
  return { approve: null, swap, simulatedOut: leastOf(simulations), simulations }
}

/** The least amount of the simulations. */
export function leastOf([first, ...others]: readonly SwapSimulation[]): bigint {
  return smallest(first?.amountOut ?? 0n, ...others.map(({ amountOut }) => amountOut))
}

const failed = (reason: string): AppError =>
  new AppError('SIMULATION_FAILED', `the swap would fail: ${reason}`, { extra: { reason } })

type Envelope = Readonly<{ blockhash: string; price: bigint; units: number; tables?: readonly LookupTable[] }>

const encode = (
  { account, ref, feePpm }: SwapOrder,
  body: readonly Instruction[],
  { blockhash, price, units, tables }: Envelope,
): Buffer =>
  encodeUnsigned(account, blockhash, [limitUnits(units), priceUnits(price), ...body, memoOf(ref, feePpm)], tables)

/** Invented addresses, to measure a transaction with. */
const [USER, RECIPIENT, BLOCKHASH] = [1, 2, 3].map((byte) => base58.encode(Buffer.alloc(32, byte))) as [
  string,
  string,
  string,
]
const FEE_PPM_MAX = 50_000

/** Whether a transaction can hold these swaps, if need be with lookup tables. The account of the user does not matter. */
export function fitsTransaction(
  swaps: readonly ExecutedSwap[],
  { tokenIn, tokenOut, paysFee }: RouteTerms,
  tables: readonly LookupTable[],
): boolean {
  const order: SwapOrder = {
    ...{ account: USER, recipient: USER, tokenIn, tokenOut, amountIn: 1n, minReceived: 1n, swaps },
    ...{ feePpm: paysFee ? FEE_PPM_MAX : 0, feeTo: paysFee ? RECIPIENT : null },
    ...{ expiry: null, ref: `0x${'00'.repeat(32)}` },
  }
  const body = swapInstructions(order)
  const fits = (some: readonly LookupTable[]) =>
    encode(order, body, { blockhash: BLOCKHASH, price: 0n, units: UNITS_MAX, tables: some }).length <=
    TRANSACTION_BYTES_MAX
  // The programs of the compute budget and of the memo are the others.
  return countAccounts(USER, body) + 2 <= TRANSACTION_ACCOUNTS_MAX && (fits([]) || fits(tables))
}

export async function readBlockhash(node: SolanaNode): Promise<string> {
  const reply = await node.ask('getLatestBlockhash', [{ commitment: 'confirmed' }])
  return String(fieldsOf(fieldsOf(reply)['value'])['blockhash'])
}

/** By address, the accounts that a swap may create or pay. */
type Before = ReadonlyMap<string, Account | null>

async function readBefore(node: SolanaNode, order: SwapOrder): Promise<Before> {
  const { source, target, between, feeAccount } = accountsOf(order)
  const ofTokens = [source, target, ...between].map(({ address }) => address)
  const addresses = [order.account, ...ofTokens, ...(feeAccount === null ? [] : [feeAccount])]
  const { accounts } = await readAccounts(node, addresses)
  return new Map(addresses.map((address, index) => [address, accounts[index] ?? null]))
}

const lamportsOf = (account: Account | null | undefined): bigint => account?.lamports ?? 0n

/** The lamports that token accounts need which do not exist yet. Those of wrapped SOL are closed again at the end. */
function rentOfNew(order: SwapOrder, before: Before): bigint {
  const { source, target, between, feeAccount } = accountsOf(order)
  // A fee to the user goes to the target itself.
  const isOther = feeAccount !== null && feeAccount !== target.address
  const ofFee = isOther ? [{ address: feeAccount, program: target.program }] : []
  return [source, target, ...between, ...ofFee]
    .filter(({ address }) => !before.get(address))
    .reduce((sum, { program }) => sum + rentOfToken(program), 0n)
}

function checkBalances(order: SwapOrder, before: Before, fee: bigint): void {
  const { tokenIn, amountIn } = order
  const isNative = tokenIn === wrappedSol
  const available = lamportsOf(before.get(order.account))
  const required = fee + rentOfNew(order, before) + PAYER_RENT + (isNative ? amountIn : 0n)
  const held = tokenUnits(before.get(accountsOf(order).source.address))
  if (!isNative) requireBalance({ of: 'token', field: 'amount', required: amountIn, available: held })
  requireBalance({ of: 'native', field: isNative ? 'amount' : 'account', required, available })
}

type Simulated =
  | Readonly<{ slot: number; amountOut: bigint; units: number }>
  | Readonly<{ slot: number; failure: unknown }>

async function simulate(
  { node, order, before, fee }: Omit<Failing, 'failure'>,
  transaction: Buffer,
): Promise<Simulated> {
  const { target, between, feeUnits } = accountsOf(order)
  const addresses = [order.account, target.address, ...between.map(({ address }) => address)]
  const result = await simulateTransaction(node, transaction, addresses)
  if ('failure' in result) return result
  const { slot, units, accounts: after } = result
  // The user's lamports, those of the account of wrapped SOL, which is closed, and the rent of the accounts that were created.
  const gained = addresses.reduce(
    (sum, one, index) => sum + lamportsOf(after[index]) - lamportsOf(before.get(one)),
    fee,
  )
  const paid = order.tokenOut === wrappedSol ? gained : tokenUnits(after[1]) - tokenUnits(before.get(target.address))
  return { slot, amountOut: order.feeTo === order.recipient ? paid - feeUnits : paid, units }
}

type Failing = Readonly<{ node: SolanaNode; order: SwapOrder; before: Before; fee: bigint; failure: unknown }>

/** The partner's error. What a swap below its minimum would pay is simulated without the minimum. */
async function failureOf(
  { node, order, before, fee, failure }: Failing,
  body: readonly Instruction[],
  build: (body: readonly Instruction[]) => Buffer,
): Promise<AppError> {
  const { reason, isBelowMinimum } = describeFailure(failure, body)
  const error = failed(reason)
  if (!isBelowMinimum) return error
  const unlimited = await simulate({ node, order, before, fee }, build(swapInstructions(order, 0n)))
  if ('failure' in unlimited) return error
  const { slot, amountOut } = unlimited
  return new BelowMinimum(error.message, reason, { block: blockAt(slot), amountOut })
}
