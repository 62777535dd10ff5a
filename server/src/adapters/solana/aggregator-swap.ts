import { referrerFeeOf } from '../../core/domain/percent.ts'
import type { AggregatorInstruction, GuardedAccount, InstructionCall } from '../../swap/ports/aggregator.ts'
import type { SwapAction, SwapOrder } from '../../swap/ports/swap-chain.ts'
import {
  closeAccount,
  createAssociated,
  requireNoCloser,
  revokeDelegate,
  syncNative,
  transferChecked,
  transferLamports,
  writeMemo,
} from './instructions.ts'
import { associatedToken, associatedTokenProgram, memoProgram, systemProgram, wrappedSol } from './program-address.ts'
import { rentOfToken } from './rent.ts'
import { SIGNATURE_FEE, simulatedFee } from './simulate-transaction.ts'
import { statedFee } from './stated-fee.ts'
import { hashInstructions } from './swap-instructions.ts'
import type { Instruction } from './transaction.ts'
import { PRICE_MAX } from './unit-price.ts'

/*
 * A swap by the instruction of an aggregator. Its data are the aggregator's, so they are not read. A transfer of a token account to itself,
 * and one of lamports to oneself, changes nothing and fails if the account holds less: such transfers after the instruction bound what it
 * takes and what it pays. Rights that it gave to others are taken back, or the transaction fails.
 */

type Order = Omit<SwapOrder, 'ref'>

type Fee = Readonly<{ units: bigint; account: string | null }>

/** The fee is a share of the claimed output. In the native coin it is paid to the recipient's own account. */
export function feeOf({ tokenOut, feePpm, feeTo }: Order, { amountOut, target }: InstructionCall): Fee {
  if (feePpm === 0 || feeTo === null) return { units: 0n, account: null }
  const account = tokenOut === wrappedSol ? null : associatedToken(feeTo, tokenOut, target.program)
  return { units: referrerFeeOf(amountOut, feePpm), account }
}

/** The account of wrapped SOL, which is closed after the swap. */
export function closedAccount(
  { tokenIn, tokenOut }: Pick<Order, 'tokenIn' | 'tokenOut'>,
  { source, target }: Pick<InstructionCall, 'source' | 'target'>,
): GuardedAccount | null {
  return tokenIn === wrappedSol ? source : tokenOut === wrappedSol ? target : null
}

/** Everything but the memo and the compute budget. */
export function aggregatorInstructions(order: Order, call: InstructionCall): readonly Instruction[] {
  const { account, tokenIn, tokenOut, amountIn, minReceived, feePpm, feeTo } = order
  const { source, target, others } = call
  const fee = feeOf(order, call)
  const create = ({ address, mint, program }: GuardedAccount) =>
    createAssociated(account, address, account, mint, program)
  const heldBy = ({ held }: GuardedAccount) => held ?? 0n
  const [missing, existing] = [others.filter(({ held }) => held === null), others.filter(({ held }) => held !== null)]
  const isWrapping = tokenIn === wrappedSol
  const unwrapped = closedAccount(order, call)
  const staying = [source, target, ...existing].filter((one) => one !== unwrapped)
  return [
    ...(isWrapping
      ? [create(source), transferLamports(account, source.address, amountIn), syncNative(source.address)]
      : []),
    ...[create(target), ...missing.map(create)],
    toInstruction(call.instruction),
    guardBalance(account, source, heldBy(source) - (isWrapping ? 0n : amountIn)),
    guardBalance(account, target, heldBy(target) + minReceived + fee.units),
    ...existing.map((one) => guardBalance(account, one, heldBy(one))),
    ...staying.flatMap(({ address, program }) => [
      revokeDelegate(address, account, program),
      requireNoCloser(address, account, program),
    ]),
    // Their rent comes back. With a rest of the token in it, the transaction fails.
    ...missing.map((one) => closeAccount(one.address, account, one.program)),
    ...(unwrapped === null ? [] : [closeAccount(unwrapped.address, account)]),
    // What follows is ours and costs what it states.
    transferLamports(account, account, leastLamports(order, call)),
    ...(fee.account !== null && feeTo !== null
      ? [
          createAssociated(account, fee.account, feeTo, tokenOut, target.program),
          transferChecked({ ...transferOf(target), to: fee.account, owner: account, units: fee.units }),
        ]
      : []),
    ...(fee.account === null && feeTo !== null && feePpm > 0 ? [transferLamports(account, feeTo, fee.units)] : []),
  ]
}

/** The most that a transaction of ours pays for its signature and its priority. */
const FEE_MAX = simulatedFee(PRICE_MAX)

/**
 * Why a signed swap would fail for the priority fee that its wallet set; null if it would not. An output in SOL is bounded by its minimum,
 * so that a higher fee counts against the slippage there.
 */
export function refuseFee(signer: string, instructions: readonly Instruction[]): string | null {
  const action = readAggregatorAction(signer, instructions)
  if (action === null || action.tokenOut === wrappedSol) return null
  const fee = statedFee(instructions)
  if (fee <= FEE_MAX) return null
  return `it pays ${fee} lamports to the network, and this swap fails above ${FEE_MAX}: set a lower priority fee`
}

/**
 * What the user must hold after the swap. An output in SOL is bounded in lamports, so that what the instruction spends besides counts
 * against it; there only the least fee of the network is allowed for. Else the instruction can take what the allowance for that fee
 * leaves, which the simulations refuse.
 */
function leastLamports(order: Order, call: InstructionCall): bigint {
  const { tokenIn, tokenOut, amountIn, minReceived } = order
  const { target, lamports } = call
  const rent = target.held === null ? rentOfToken(target.program) : 0n
  const least =
    tokenOut === wrappedSol
      ? lamports + minReceived + feeOf(order, call).units - SIGNATURE_FEE
      : lamports - (tokenIn === wrappedSol ? amountIn : 0n) - rent - FEE_MAX
  return least > 0n ? least : 0n
}

const transferOf = ({ address, mint, program, decimals }: GuardedAccount) => ({
  ...{ program, mint, decimals, from: address },
})

/** Fails if the account holds less. */
const guardBalance = (owner: string, account: GuardedAccount, units: bigint): Instruction =>
  transferChecked({ ...transferOf(account), to: account.address, owner, units: units > 0n ? units : 0n })

const toInstruction = ({ program, accounts, data }: AggregatorInstruction): Instruction => ({
  ...{ program, accounts, data: new Uint8Array(Buffer.from(data, 'base64')) },
})

/** Our reference and the terms that no instruction states. The reference binds all of them. */
export function aggregatorMemo({ ref, feePpm, amountIn, minReceived }: SwapOrder): Instruction {
  return writeMemo(`${Buffer.from(ref.slice(2), 'hex').toString('base64url')}:${feePpm}:${amountIn}:${minReceived}`)
}

const MEMO = /^([\w-]{43}):(0|[1-9]\d{0,6}):(0|[1-9]\d{0,19}):(0|[1-9]\d{0,19})$/
const TRANSFER_CHECKED = 12
const isGuard = ({ accounts, data }: Instruction): boolean =>
  data[0] === TRANSFER_CHECKED && accounts.length === 4 && accounts[0]?.address === accounts[2]?.address

/** The swap of a transaction by an aggregator's instruction; null if it has none. */
export function readAggregatorAction(signer: string, instructions: readonly Instruction[]): SwapAction | null {
  const memos = instructions.filter(({ program }) => program === memoProgram)
  const text = memos.length === 1 && memos[0] !== undefined ? Buffer.from(memos[0].data).toString('latin1') : ''
  const [, ref, rate = '', amountIn = '', minReceived = ''] = MEMO.exec(text) ?? []
  const [source, target] = instructions.filter(isGuard)
  const [tokenIn, tokenOut] = [source?.accounts[1]?.address, target?.accounts[1]?.address]
  if (ref === undefined || tokenIn === undefined || tokenOut === undefined) return null
  const feePpm = Number.parseInt(rate, 10)
  return {
    ...{ kind: 'swap', executor: null, recipient: signer, tokenIn, tokenOut },
    ...{ amountIn: BigInt(amountIn), minReceived: BigInt(minReceived), feePpm, expiry: null },
    feeTo: feePpm === 0 ? null : readFeeRecipient(instructions, tokenOut),
    ref: `0x${Buffer.from(ref, 'base64url').toString('hex')}`,
    callHash: hashInstructions(instructions),
    ...{ pools: [], routeTokens: [] },
  }
}

const TRANSFER_LAMPORTS = 2

/** The last transfer of lamports pays it, or the last token account that is created is its recipient's. */
function readFeeRecipient(instructions: readonly Instruction[], tokenOut: string): string | null {
  const [isPayment, place]: readonly [(one: Instruction) => boolean, number] =
    tokenOut === wrappedSol
      ? [({ program, data }) => program === systemProgram && data[0] === TRANSFER_LAMPORTS, 1]
      : [({ program }) => program === associatedTokenProgram, 2]
  return instructions.findLast(isPayment)?.accounts[place]?.address ?? null
}
