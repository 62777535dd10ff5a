import { createHash } from 'node:crypto'
import { AppError } from '../../core/domain/errors.ts'
import { referrerFeeOf } from '../../core/domain/percent.ts'
import { assert } from '../../lib/assert.ts'
import type { SwapAction, SwapOrder } from '../../swap/ports/swap-chain.ts'
import type { ExecutedSwap } from '../../swap/routing/execute.ts'
import { isSolanaPool, readDexSwap, swapIn } from './dexes/dexes.ts'
import type { SolanaPool, StatedSwap } from './dexes/solana-dex.ts'
import {
  closeAccount,
  createAssociated,
  readCreated,
  syncNative,
  transferChecked,
  transferLamports,
  writeMemo,
} from './instructions.ts'
import {
  associatedToken,
  computeBudgetProgram,
  memoProgram,
  systemProgram,
  token2022Program,
  tokenProgram,
  wrappedSol,
} from './program-address.ts'
import type { Instruction } from './transaction.ts'

type Order = Omit<SwapOrder, 'ref'>
type Step = ExecutedSwap & Readonly<{ pool: SolanaPool; from: string; to: string }>

/** A token account of the user. */
export type TokenAccount = Readonly<{ address: string; token: string; program: string; decimals: number }>

export type SwapAccounts = Readonly<{
  source: TokenAccount
  target: TokenAccount
  /** Of the intermediate tokens. */
  between: readonly TokenAccount[]
  /** Of the fee's recipient; null without a fee, and where it is paid in the native coin. */
  feeAccount: string | null
  feeUnits: bigint
}>

function stepsOf({ swaps }: Order): readonly Step[] {
  return swaps.map((step) => {
    const { pool } = step
    assert(isSolanaPool(pool), `a pool of Solana, not of the kind ${pool.kind}`)
    const [from, to] = [pool.tokens[step.tokenIn], pool.tokens[step.tokenOut]]
    assert(from !== undefined && to !== undefined, 'a pool has two tokens')
    return { ...step, pool, from, to }
  })
}

/**
 * The accounts of an order. No program of ours computes the fee on the chain, so it is fixed: the share of the output that the route
 * pays at the state of its quote.
 */
export function accountsOf(order: Order): SwapAccounts {
  const { account, tokenIn, tokenOut, feePpm, feeTo } = order
  assert(account === order.recipient, 'a route of Solana pays its own account')
  const steps = stepsOf(order)
  const accountOf = (token: string): TokenAccount => {
    const step = steps.find(({ from, to }) => from === token || to === token)
    if (step === undefined) throw new AppError('NO_ROUTE', 'no pool trades one of the two tokens')
    const side = step.pool.tokens[0] === token ? 0 : 1
    const [program, decimals] = [step.pool.programs[side], step.pool.decimals[side]]
    return { address: associatedToken(account, token, program), token, program, decimals }
  }
  const tokens = new Set(steps.flatMap(({ from, to }) => [from, to]))
  const target = accountOf(tokenOut)
  const paysToken = feePpm > 0 && feeTo !== null && tokenOut !== wrappedSol
  return {
    ...{ source: accountOf(tokenIn), target },
    between: [...tokens].filter((token) => token !== tokenIn && token !== tokenOut).map(accountOf),
    feeAccount: paysToken ? associatedToken(feeTo, tokenOut, target.program) : null,
    feeUnits: feePpm > 0 && feeTo !== null ? referrerFeeOf(paidTo(steps, tokenOut), feePpm) : 0n,
  }
}

const paidTo = (steps: readonly Step[], token: string): bigint =>
  steps.reduce((sum, { to, amountOut }) => (to === token ? sum + amountOut : sum), 0n)

/**
 * What a swap does, without its reference and its compute budget. `least`: the sum of the minima of the pools that pay the output. Each
 * token account is created if it is missing. That instruction also names the mint of the account, which not every DEX does.
 */
export function swapInstructions(order: Order, least?: bigint): readonly Instruction[] {
  const { account, tokenIn, tokenOut, amountIn, feeTo, minReceived } = order
  const { source, target, between, feeAccount, feeUnits } = accountsOf(order)
  const accounts = [source, ...between, target]
  const addressOf = (token: string) => accounts.find((one) => one.token === token)?.address ?? ''
  const steps = stepsOf(order)
  const minima = minimaOf(steps, tokenOut, least ?? minReceived + feeUnits)
  const swaps = steps.map((step, index) =>
    swapIn(step.pool, {
      ...{ owner: account, source: addressOf(step.from), target: addressOf(step.to) },
      ...{ tokenIn: step.tokenIn === 0 ? 0 : 1, amountIn: step.amountIn, minOut: minima[index] ?? 0n },
    }),
  )
  const wrap = [transferLamports(account, source.address, amountIn), syncNative(source.address)]
  const wrapped = accounts.find(({ token }) => token === wrappedSol)
  const { program, decimals } = target
  return [
    ...accounts.map((one) => createAssociated(account, one.address, account, one.token, one.program)),
    ...(tokenIn === wrappedSol ? wrap : []),
    ...swaps,
    ...(feeAccount !== null && feeTo !== null
      ? [
          createAssociated(account, feeAccount, feeTo, tokenOut, program),
          transferChecked({
            ...{ program, mint: tokenOut, decimals, from: target.address, to: feeAccount, owner: account },
            units: feeUnits,
          }),
        ]
      : []),
    ...(wrapped === undefined ? [] : [closeAccount(wrapped.address, account)]),
    ...(feeAccount === null && feeTo !== null && order.feePpm > 0 ? [transferLamports(account, feeTo, feeUnits)] : []),
  ]
}

/**
 * Each pool has a minimum of its own, in proportion to its output. Together they are the route's, and for an intermediate token what later
 * swaps spend: so no swap can lack its input.
 */
function minimaOf(steps: readonly Step[], tokenOut: string, least: bigint): readonly bigint[] {
  const minima = steps.map(() => 0n)
  for (const token of new Set(steps.map(({ to }) => to))) {
    const spent = steps.reduce((sum, { from, amountIn }) => (from === token ? sum + amountIn : sum), 0n)
    const total = token === tokenOut ? least : spent
    const amountOut = paidTo(steps, token)
    let rest = total
    let last = -1
    for (const [index, step] of steps.entries()) {
      if (step.to !== token) continue
      minima[index] = (total * step.amountOut) / amountOut
      rest -= minima[index] ?? 0n
      last = index
    }
    minima[last] = (minima[last] ?? 0n) + rest
  }
  return minima
}

const REF_BYTES = 32

/** Our reference and the fee's rate, which no other instruction states. */
export const memoOf = (ref: string, feePpm: number): Instruction =>
  writeMemo(`${Buffer.from(ref.slice(2), 'hex').toString('base64url')}:${feePpm}`)

function readMemo({ data }: Instruction): Readonly<{ ref: string; feePpm: number }> | null {
  const [, text = '', rate = ''] = /^([\w-]{43}):(0|[1-9]\d{0,6})$/.exec(Buffer.from(data).toString('latin1')) ?? []
  const ref = Buffer.from(text, 'base64url')
  return ref.length === REF_BYTES ? { ref: `0x${ref.toString('hex')}`, feePpm: Number.parseInt(rate, 10) } : null
}

/** The wallet may choose the priority fee, and the reference names the rest. */
const isBound = ({ program }: Instruction) => program !== computeBudgetProgram && program !== memoProgram

export function hashInstructions(instructions: readonly Instruction[]): string {
  const hash = createHash('sha256')
  for (const { program, accounts, data } of instructions.filter(isBound)) {
    const metas = accounts.map(({ address }) => address)
    hash.update(JSON.stringify([program, metas, Buffer.from(data).toString('base64')]))
  }
  return `0x${hash.digest('hex')}`
}

/** The swap of a transaction; null if it has none. The reference binds its terms and its instructions. */
export function readSwapAction(signer: string, instructions: readonly Instruction[]): SwapAction | null {
  const mints = new Map(
    instructions.flatMap((one) => readCreated(one) ?? []).map(({ account, mint }) => [account, mint]),
  )
  const swaps = instructions.flatMap((one) => readDexSwap(one) ?? [])
  const sums = sumUp(swaps, mints)
  const memos = instructions.filter(({ program }) => program === memoProgram)
  const memo = memos.length === 1 && memos[0] !== undefined ? readMemo(memos[0]) : null
  if (sums === null || memo === null) return null
  const { tokenIn, tokenOut, amountIn, least, routeTokens } = sums
  const { feePpm, ref } = memo
  const { feeTo, feeUnits } = readFee(instructions, feePpm, tokenOut)
  return {
    kind: 'swap',
    executor: null,
    ...{ recipient: signer, tokenIn, tokenOut, amountIn, minReceived: least - feeUnits },
    ...{ feePpm, feeTo, ref, expiry: null },
    callHash: hashInstructions(instructions),
    pools: swaps.map(({ pool }) => pool),
    routeTokens,
  }
}

/** The input is the only token that no swap pays, and the output the only one that no swap spends. Null for anything else. */
function sumUp(swaps: readonly StatedSwap[], mints: ReadonlyMap<string, string>) {
  const spent = new Map<string, bigint>()
  const paid = new Map<string, bigint>()
  for (const { source, target, amountIn, minOut } of swaps) {
    const [from, to] = [mints.get(source), mints.get(target)]
    if (from === undefined || to === undefined) return null
    spent.set(from, (spent.get(from) ?? 0n) + amountIn)
    paid.set(to, (paid.get(to) ?? 0n) + minOut)
  }
  const [tokenIn, ...otherInputs] = [...spent.keys()].filter((token) => !paid.has(token))
  const [tokenOut, ...otherOutputs] = [...paid.keys()].filter((token) => !spent.has(token))
  if (tokenIn === undefined || tokenOut === undefined || otherInputs.length + otherOutputs.length > 0) return null
  const between = [...spent.keys()].filter((token) => token !== tokenIn)
  return {
    ...{ tokenIn, tokenOut, amountIn: spent.get(tokenIn) ?? 0n, least: paid.get(tokenOut) ?? 0n },
    routeTokens: [tokenIn, ...between, tokenOut],
  }
}

const U64_AT = { token: 1, system: 4 } as const
const isTokenProgram = (program: string) => program === tokenProgram || program === token2022Program

/** The fee is the last transfer; its recipient owns the token account that is created before it. */
export function readFee(
  instructions: readonly Instruction[],
  feePpm: number,
  tokenOut: string,
): Readonly<{ feeTo: string | null; feeUnits: bigint }> {
  if (feePpm === 0) return { feeTo: null, feeUnits: 0n }
  const isTransfer = ({ program, data }: Instruction) =>
    tokenOut === wrappedSol
      ? program === systemProgram && data[0] === 2
      : isTokenProgram(program) && data[0] === 12 && data.length === 10
  const index = instructions.findLastIndex(isTransfer)
  const transfer = instructions[index]
  if (transfer === undefined) return { feeTo: null, feeUnits: 0n }
  const units = (offset: number) =>
    transfer.data.length < offset + 8 ? 0n : Buffer.from(transfer.data).readBigUInt64LE(offset)
  if (tokenOut === wrappedSol) return { feeTo: transfer.accounts[1]?.address ?? null, feeUnits: units(U64_AT.system) }
  return { feeTo: instructions[index - 1]?.accounts[2]?.address ?? null, feeUnits: units(U64_AT.token) }
}
