import { createHash } from 'node:crypto'
import { AppError } from '../../core/domain/errors.ts'
import { referrerFeeOf } from '../../core/domain/percent.ts'
import { assert } from '../../lib/assert.ts'
import type { SwapAction, SwapOrder } from '../../swap/ports/swap-chain.ts'
import type { ExecutedSwap } from '../../swap/routing/execute.ts'
import type { RaydiumCpmmRoutePool } from '../../swap/routing/pools/raydium-cpmm.ts'
import {
  closeAccount,
  createAssociated,
  syncNative,
  transferChecked,
  transferLamports,
  writeMemo,
} from './instructions.ts'
import { associatedToken, computeBudgetProgram, memoProgram, systemProgram, wrappedSol } from './program-address.ts'
import { readCpmmSwap, swapCpmm } from './raydium-cpmm.ts'
import type { Instruction } from './transaction.ts'

type Order = Omit<SwapOrder, 'ref'>
type CpmmStep = ExecutedSwap & Readonly<{ pool: RaydiumCpmmRoutePool }>

/** The user's token accounts of a swap, and those of the fee. */
export type SwapAccounts = Readonly<{
  source: string
  target: string
  /** Null without a fee, and where it is paid in the native coin. */
  feeAccount: string | null
  feeUnits: bigint
  programs: readonly [string, string]
  decimals: number
}>

function stepsOf({ swaps, tokenIn, tokenOut }: Order): readonly CpmmStep[] {
  return swaps.map((step) => {
    const { pool } = step
    assert(pool.kind === 'raydium-cpmm', `a pool of Solana, not of the kind ${pool.kind}`)
    const isDirect = pool.tokens[step.tokenIn] === tokenIn && pool.tokens[step.tokenOut] === tokenOut
    if (!isDirect) throw new AppError('NO_ROUTE', 'no pool trades the two tokens directly')
    return { ...step, pool }
  })
}

/**
 * The accounts of an order. No program of ours computes the fee on the chain, so it is fixed: the share of the output that the route
 * pays at the state of its quote.
 */
export function accountsOf(order: Order): SwapAccounts {
  const { account, tokenIn, tokenOut, feePpm, feeTo } = order
  const steps = stepsOf(order)
  const [first] = steps
  assert(first !== undefined && account === order.recipient, 'a route of Solana pays its own account')
  const [programIn, programOut] = [first.pool.programs[first.tokenIn], first.pool.programs[first.tokenOut]]
  assert(programIn !== undefined && programOut !== undefined, 'a pool has two tokens')
  const amountOut = steps.reduce((sum, step) => sum + step.amountOut, 0n)
  const paysToken = feePpm > 0 && feeTo !== null && tokenOut !== wrappedSol
  return {
    source: associatedToken(account, tokenIn, programIn),
    target: associatedToken(account, tokenOut, programOut),
    feeAccount: paysToken ? associatedToken(feeTo, tokenOut, programOut) : null,
    feeUnits: feePpm > 0 && feeTo !== null ? referrerFeeOf(amountOut, feePpm) : 0n,
    programs: [programIn, programOut],
    decimals: first.pool.decimals[first.tokenOut === 0 ? 0 : 1],
  }
}

/** What a swap does, without its reference and its compute budget. `least`: the sum of the pools' minima. */
export function swapInstructions(order: Order, least?: bigint): readonly Instruction[] {
  const { account, tokenIn, tokenOut, amountIn, feeTo, minReceived } = order
  const { source, target, feeAccount, feeUnits, programs, decimals } = accountsOf(order)
  const minima = shareMinima(stepsOf(order), least ?? minReceived + feeUnits)
  const swaps = stepsOf(order).map((step, index) =>
    swapCpmm(step.pool, {
      ...{ owner: account, source, target, tokenIn: step.tokenIn },
      ...{ amountIn: step.amountIn, minOut: minima[index] ?? 0n },
    }),
  )
  const isWrapping = tokenIn === wrappedSol
  const wrap = [
    createAssociated(account, source, account, tokenIn, programs[0]),
    transferLamports(account, source, amountIn),
    syncNative(source),
  ]
  const unwrapped = isWrapping ? source : tokenOut === wrappedSol ? target : null
  return [
    ...(isWrapping ? wrap : []),
    createAssociated(account, target, account, tokenOut, programs[1]),
    ...swaps,
    ...(feeAccount !== null && feeTo !== null
      ? [
          createAssociated(account, feeAccount, feeTo, tokenOut, programs[1]),
          transferChecked({
            ...{ program: programs[1], mint: tokenOut, decimals, from: target, to: feeAccount, owner: account },
            units: feeUnits,
          }),
        ]
      : []),
    ...(unwrapped === null ? [] : [closeAccount(unwrapped, account)]),
    ...(feeAccount === null && feeTo !== null && order.feePpm > 0 ? [transferLamports(account, feeTo, feeUnits)] : []),
  ]
}

/** Each pool has a minimum of its own, in proportion to its output. Together they are the route's. */
function shareMinima(steps: readonly CpmmStep[], least: bigint): readonly bigint[] {
  const amountOut = steps.reduce((sum, step) => sum + step.amountOut, 0n)
  const shares = steps.map((step) => (least * step.amountOut) / amountOut)
  const rest = least - shares.reduce((sum, share) => sum + share, 0n)
  return shares.map((share, index) => (index === shares.length - 1 ? share + rest : share))
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
  const swaps = instructions.map(readCpmmSwap).filter((one) => one !== null)
  const memos = instructions.filter(({ program }) => program === memoProgram)
  const [first] = swaps
  const memo = memos.length === 1 && memos[0] !== undefined ? readMemo(memos[0]) : null
  if (first === undefined || memo === null) return null
  const { feePpm, ref } = memo
  const { feeTo, feeUnits } = readFee(instructions, feePpm, first)
  return {
    kind: 'swap',
    executor: null,
    ...{ recipient: signer, tokenIn: first.tokenIn, tokenOut: first.tokenOut },
    amountIn: swaps.reduce((sum, { amountIn }) => sum + amountIn, 0n),
    minReceived: swaps.reduce((sum, { minOut }) => sum + minOut, 0n) - feeUnits,
    ...{ feePpm, feeTo, ref, expiry: null },
    callHash: hashInstructions(instructions),
    pools: swaps.map(({ pool }) => pool),
    routeTokens: [first.tokenIn, first.tokenOut],
  }
}

const U64_AT = { token: 1, system: 4 } as const

/** The fee is the last transfer; its recipient owns the token account that is created before it. */
function readFee(
  instructions: readonly Instruction[],
  feePpm: number,
  { tokenOut }: Readonly<{ tokenOut: string }>,
): Readonly<{ feeTo: string | null; feeUnits: bigint }> {
  if (feePpm === 0) return { feeTo: null, feeUnits: 0n }
  const isTransfer = ({ program, data }: Instruction) =>
    tokenOut === wrappedSol ? program === systemProgram && data[0] === 2 : data[0] === 12 && data.length === 10
  const index = instructions.findLastIndex(isTransfer)
  const transfer = instructions[index]
  if (transfer === undefined) return { feeTo: null, feeUnits: 0n }
  const units = (offset: number) =>
    transfer.data.length < offset + 8 ? 0n : Buffer.from(transfer.data).readBigUInt64LE(offset)
  if (tokenOut === wrappedSol) return { feeTo: transfer.accounts[1]?.address ?? null, feeUnits: units(U64_AT.system) }
  return { feeTo: instructions[index - 1]?.accounts[2]?.address ?? null, feeUnits: units(U64_AT.token) }
}
