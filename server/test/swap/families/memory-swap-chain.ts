import { AppError } from '../../../src/core/domain/errors.ts'
import { U64_MAX } from '../../../src/lib/bigint.ts'
import type { TransactionObservation } from '../../../src/swap/domain/swap.ts'
import { InsufficientBalance } from '../../../src/swap/ports/insufficient-balance.ts'
import {
  BelowMinimum,
  type PaidFee,
  type SignedTransaction,
  type SwapChain,
  type SwapOrder,
  type TokenFacts,
} from '../../../src/swap/ports/swap-chain.ts'
import type { MemoryFamily } from './memory-families.ts'
import {
  callHashOf,
  EPOCH,
  encodeUnsigned,
  type MemoryLedger,
  type Signed,
  type SwapTransaction,
  type Transaction,
  WINDOW,
} from './memory-ledger.ts'

/** The port of swaps over a ledger in memory: no approvals, no nonces, no executor. */
export function createMemorySwapChain(
  family: MemoryFamily,
  ledger: MemoryLedger,
  tokens: ReadonlyMap<string, TokenFacts>,
): SwapChain {
  const { network, expiresBy, keepsPending } = family
  const epochAt = (height: number) => Math.floor(height / EPOCH)

  function transactionOf(order: Omit<SwapOrder, 'ref'>, memo: string): SwapTransaction {
    const { account, recipient, tokenIn, tokenOut, amountIn, minReceived, feePpm, feeTo, expiry, swaps } = order
    return {
      ...{ kind: 'swap', network: network.id, account, recipient, tokenIn, tokenOut },
      ...{ amountIn: amountIn.toString(), minReceived: minReceived.toString(), feePpm, feeTo },
      steps: swaps.map(({ pool, ...step }) => ({
        ...{ pool: pool.id, tokenIn: step.tokenIn, tokenOut: step.tokenOut, share: step.share },
      })),
      ...{ memo, recent: ledger.state.height, epoch: expiry?.by === 'epoch' ? expiry.at : null },
    }
  }

  function actionOf(transaction: Transaction): SignedTransaction['action'] {
    if (transaction.kind !== 'swap') return null
    const { recipient, tokenIn, tokenOut, feePpm, feeTo, steps, memo, epoch } = transaction
    return {
      ...{ kind: 'swap', executor: null, recipient, tokenIn, tokenOut, feePpm, feeTo, ref: memo },
      ...{ amountIn: BigInt(transaction.amountIn), minReceived: BigInt(transaction.minReceived) },
      expiry: epoch === null ? null : { by: 'epoch', at: epoch },
      callHash: callHashOf(transaction),
      ...{ pools: steps.map(({ pool }) => pool), routeTokens: [tokenIn, tokenOut] },
    }
  }

  const signedOf = ({ transaction, signer, hash }: Signed): SignedTransaction => ({
    ...{ hash, signer, nonce: null, action: actionOf(transaction) },
    recentBlock: transaction.epoch === null ? `block ${transaction.recent}` : null,
    targets: transaction.kind === 'swap' ? transaction.steps.map(({ pool }) => pool) : [transaction.to],
  })

  function find(hash: string): Signed | null {
    return ledger.included.get(hash) ?? ledger.pending.get(hash) ?? null
  }

  function observeIncluded(hash: string): TransactionObservation | null {
    const found = ledger.included.get(hash)
    if (found === undefined) return null
    const { height, paid } = found
    return {
      ...{ kind: 'included', block: { height, hash: `block ${height}` }, ok: paid !== null },
      confirmations: ledger.state.height - height + 1,
      ...{ received: paid?.received ?? null, fee: paid?.fee ?? null },
    }
  }

  return {
    ...family,
    network,
    ...{ wrapped: family.native, spender: null, executor: null, aggregatorTaker: null, paysOthers: true },
    ...{ unitsMax: U64_MAX, aggregatorGas: { unreported: 0, overhead: 0 } },
    ...{ ownContracts: new Set<string>(), keepsPending },
    readToken: async (address) => tokens.get(address) ?? null,
    chooseExpiry: async () => (expiresBy === 'epoch' ? { by: 'epoch', at: epochAt(ledger.state.height) + 1 } : null),
    hashCall: (order) => callHashOf(transactionOf(order, '')),
    prepare: async (order) => {
      const transaction = transactionOf(order, order.ref)
      const available = ledger.balanceOf(order.account, order.tokenIn)
      if (available < order.amountIn)
        throw new InsufficientBalance({ of: 'token', field: 'amount', required: order.amountIn, available })
      const amountOut = ledger.simulate(transaction)?.received ?? 0n
      const simulation = { block: ledger.block(), amountOut }
      if (amountOut < order.minReceived) throw new BelowMinimum('it would fail', 'below the minimum', simulation)
      return { approve: null, swap: encodeUnsigned(transaction), simulatedOut: amountOut, simulations: [simulation] }
    },
    readAggregatorCall: async () => null,
    isKnownCall: async () => false,
    readSigned: (raw) => {
      const signed = ledger.read(raw)
      if (signed.transaction.network !== network.id)
        throw new AppError('TX_CHAIN_MISMATCH', `the transaction is signed for ${signed.transaction.network}`)
      return signedOf(signed)
    },
    broadcast: async (raw) => {
      const signed = ledger.read(raw)
      if (ledger.included.has(signed.hash)) return { kind: 'known' }
      if (!ledger.isValidAt(signed.transaction, ledger.state.height + 1))
        return { kind: 'rejected', reason: 'the block is not recent', because: 'expired' }
      ledger.accept(signed)
      return { kind: 'accepted' }
    },
    readExpiry: async ({ recentBlock, action }) => {
      const [, recent] = /^block (\d+)$/.exec(recentBlock ?? '') ?? []
      // As on Solana, where no call tells the height of a recent block: it counts from now, and so the proof comes late.
      const { height } = ledger.state
      if (recent !== undefined) return { by: 'height', at: height < Number(recent) + WINDOW ? height + WINDOW : height }
      return (action?.kind === 'swap' ? action.expiry : null) ?? { by: 'never' }
    },
    isExpired: async (expiry) => {
      const next = ledger.state.height + 1
      if (expiry.by === 'height') return next > expiry.at
      return expiry.by === 'epoch' && epochAt(next) > expiry.at
    },
    observe: async (hash, sent) => {
      const observed = observeIncluded(hash)
      if (observed !== null) return observed
      if (keepsPending && ledger.pending.has(hash)) return { kind: 'pending' }
      const final = ledger.finalHeight()
      const isOver =
        (sent?.expiry.by === 'height' && final >= sent.expiry.at) ||
        (sent?.expiry.by === 'epoch' && epochAt(final) > sent.expiry.at)
      return { kind: isOver ? 'expired' : 'unseen' }
    },
    findTransaction: async (hash) => {
      const found = find(hash)
      return found && signedOf(found)
    },
    readPayment: async () => null,
    readFinalHeight: async () => ledger.finalHeight(),
    listPaidFees: async ({ from, to, feeTo }) => {
      const fees = [...ledger.included.values()].flatMap(({ transaction, hash, signer, height, paid }): PaidFee[] => {
        if (transaction.kind !== 'swap' || paid === null || height < from || height > to) return []
        if (transaction.feeTo === null || !feeTo.includes(transaction.feeTo)) return []
        const { memo: ref, tokenOut: token, feeTo: recipient } = transaction
        return [
          { hash, logIndex: 0, height, ref, sender: signer, token, units: paid.fee, feeTo: recipient, executor: null },
        ]
      })
      return { fees, to }
    },
    readBalance: async (address, token) => ledger.balanceOf(address, token),
  }
}
