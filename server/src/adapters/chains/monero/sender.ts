import { sumUnits } from '../../../core/domain/amount.ts'
import { AppError } from '../../../core/domain/errors.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { FeeRate } from '../../../core/ports/chain.ts'
import type { BroadcastResult, ChainSender, SpendRequest, UnsignedTransaction } from '../../../exchange/ports/chain.ts'
import type { Payment, Utxo } from '../../../exchange/ports/spend.ts'
import { assert } from '../../../lib/assert.ts'
import { combineResults } from '../shared/agreement.ts'
import { readAddress } from './address.ts'
import type { MoneroNode } from './node.ts'
import { createObserve } from './observe.ts'
import { createRebroadcast } from './rebroadcast.ts'
import { fromHex, parseTransaction } from './transaction.ts'
import type { BuiltTransaction, Wallet, WalletOutput, WalletSession } from './wallet.ts'
import type { WalletOutputs } from './wallet-outputs.ts'

/** Outputs of one transaction (BULLETPROOF_PLUS_MAX_OUTPUTS); one is the change. */
const OUTPUTS_MAX = 16
const PAYMENTS_MAX = OUTPUTS_MAX - 1
/** Upper bounds of a transaction's weight in bytes; each input has a ring of 16 and a signature. */
const WEIGHT = { base: 1_000n, input: 750n, output: 200n } as const
/** The minimum size of a change output, as a multiple of the fee of a transaction that spends it. */
const SPLIT_FEES_MIN = 20n

export type SenderOptions = Readonly<{
  network: Network
  nodes: readonly MoneroNode[]
  /** null in a process without the seed, which cannot build transactions. */
  wallet: WalletSession | null
  hot: string
  outputs: WalletOutputs
  /** Target number of spendable outputs: change is locked for ten blocks, and other outputs pay meanwhile. */
  outputsReady: number
}>

export function createSender(options: SenderOptions): ChainSender {
  const { network, nodes, wallet, outputs } = options
  return {
    prefersSeparatePayouts: true,
    buildsSlowly: true,
    // Called before the database transaction that selects outputs, so slow wallet work happens here.
    gasLimit: async () => {
      await wallet?.run((openWallet) => outputs.repair(openWallet))
      return null
    },
    payoutFee: (_asset, fee) => feeBound(fee, 2, 2),
    depositFee: (_asset, fee) => WEIGHT.input * fee.rate,
    build: async (request) => {
      checkPayments(network, request)
      if (wallet === null) throw new AppError('INTERNAL', 'a process without the seed cannot build transactions')
      return wallet.runIfOpen((openWallet) => build(options, openWallet, request))
    },
    broadcast: (raw) => broadcastAll(nodes, raw),
    observe: createObserve(network, nodes),
    rebroadcast: createRebroadcast(nodes),
  }
}

const feeBound = ({ rate }: FeeRate, inputs: number, outputs: number): bigint =>
  (WEIGHT.base + WEIGHT.input * BigInt(inputs) + WEIGHT.output * BigInt(outputs)) * rate

function checkPayments({ id, name }: Network, { payments, sweepAll }: SpendRequest): void {
  assert(payments.length > 0 && !sweepAll, 'a transaction has a payment and is no sweep')
  let integrated = 0
  for (const { asset, memo, address, units } of payments) {
    assert(
      asset.network === id && asset.contract === null && memo === null,
      'a payment is in the native currency and has no memo',
    )
    assert(units > 0n, 'a payment is above 0')
    const recipient = readAddress(address)
    if (recipient === null) throw new AppError('INVALID_ADDRESS', `${address} is no address of ${name}`)
    if (recipient.kind === 'integrated') integrated += 1
  }
  // A transaction carries one payment id only. On this error the dispatcher retries with fewer payments.
  const fits = payments.length <= PAYMENTS_MAX && (integrated === 0 || payments.length === 1)
  if (!fits) throw insufficient(payments, `the payment does not fit into one transaction of ${name}`)
}

async function build(options: SenderOptions, wallet: Wallet, request: SpendRequest): Promise<UnsignedTransaction> {
  const { network, hot, outputsReady } = options
  const { payments } = request
  const replaced = replacedInputs(request)
  const candidates = replaced ?? request.utxos
  const outputs = await options.outputs.read(wallet, candidates)
  // The wallet spends its own output: the larger one of two with the same key (D41).
  const spendable = candidates.flatMap((utxo) => {
    const output = outputs.get(utxo.outpoint)
    return output?.unlocked === true && output.units >= utxo.units ? [{ ...utxo, units: output.units }] : []
  })
  const selected = replaced === null ? selectInputs(spendable, payments, request.fee) : spendable
  if (replaced !== null && selected.length < replaced.length)
    throw new AppError('NETWORK_UNAVAILABLE', 'the inputs of the replaced transaction are not available at the moment')
  const splits = planSplits({ outputs, selected, payments, fee: request.fee, outputsReady })
  await freezeOthers(wallet, outputs, selected)
  const built = await wallet.transfer([...payments, ...splits.map((units) => ({ address: hot, units }))])
  return toUnsigned(network, request, selected, built, replaced)
}

function replacedInputs({ replaces }: SpendRequest): readonly Utxo[] | null {
  if (replaces === null) return null
  assert(replaces.intent.family === 'monero', 'a replacement is of the same family')
  return replaces.intent.inputs
}

/** The smallest sufficient output, so that large ones remain for large payments; else the fewest, largest first. */
function selectInputs(utxos: readonly Utxo[], payments: readonly Payment[], fee: FeeRate): readonly Utxo[] {
  const paidUnits = sumUnits(payments)
  const needed = (inputs: number) => paidUnits + feeBound(fee, inputs, payments.length + 1)
  const bySize = [...utxos].sort((a, b) => (a.units === b.units ? 0 : a.units < b.units ? -1 : 1))
  const single = bySize.find(({ units }) => units >= needed(1))
  if (single) return [single]
  const selected: Utxo[] = []
  for (const utxo of bySize.reverse()) {
    selected.push(utxo)
    if (sumUnits(selected) >= needed(selected.length)) return selected
  }
  throw insufficient(payments, 'the spendable outputs do not cover the payment and its fee')
}

type SplitInput = Readonly<{
  outputs: ReadonlyMap<string, WalletOutput>
  selected: readonly Utxo[]
  payments: readonly Payment[]
  fee: FeeRate
  outputsReady: number
}>

/** Additional change outputs, if fewer than `outputsReady` outputs would remain. The wallet adds the last one itself. */
function planSplits({ outputs, selected, payments, fee, outputsReady }: SplitInput): readonly bigint[] {
  const remaining = outputs.size - selected.length + 1
  const partsMax = Math.min(outputsReady - remaining, PAYMENTS_MAX - payments.length)
  const change = sumUnits(selected) - sumUnits(payments) - feeBound(fee, selected.length, OUTPUTS_MAX)
  const partMin = SPLIT_FEES_MIN * feeBound(fee, 1, 2)
  for (let parts = partsMax; parts > 0; parts--) {
    const units = change / BigInt(parts + 1)
    if (units >= partMin) return Array.from({ length: parts }, () => units)
  }
  return []
}

/** Freezes all other outputs, so that the wallet spends only those that the store reserved for this transaction. */
async function freezeOthers(
  wallet: Wallet,
  outputs: ReadonlyMap<string, WalletOutput>,
  selected: readonly Utxo[],
): Promise<void> {
  const selectedOutpoints = new Set(selected.map(({ outpoint }) => outpoint))
  for (const [keyImage, { frozen }] of outputs) {
    if (frozen === selectedOutpoints.has(keyImage)) await wallet.setFrozen(keyImage, !selectedOutpoints.has(keyImage))
  }
}

function toUnsigned(
  network: Network,
  request: SpendRequest,
  selected: readonly Utxo[],
  { raw, secrets, feeUnits, keyImages }: BuiltTransaction,
  replaced: readonly Utxo[] | null,
): UnsignedTransaction {
  const keyImagesSpent = parseTransaction(fromHex(raw), null)?.keyImages ?? []
  assert(
    keyImagesSpent.length > 0 && keyImagesSpent.length === keyImages.length,
    'the wallet reports the spent key images',
  )
  const byImage = new Map(selected.map((utxo) => [utxo.outpoint, utxo]))
  const inputs = keyImagesSpent.map((keyImage) => {
    const utxo = byImage.get(keyImage)
    assert(utxo, 'the wallet spends the selected outputs only')
    return utxo
  })
  const first = replaced?.[0]?.outpoint ?? inputs[0]?.outpoint ?? ''
  const isFirst = ({ outpoint }: Utxo) => outpoint === first
  const ordered = [...inputs.filter(isFirst), ...inputs.filter((utxo) => !isFirst(utxo))]
  assert(ordered[0]?.outpoint === first, 'a replacement spends the first input of the replaced transaction')
  return {
    intent: { family: 'monero', network: network.id, inputs: ordered, pays: request.payments, feeUnits, raw, secrets },
    conflictKey: first,
    resources: inputs.map(({ outpoint }) => outpoint),
    feeUnits,
    // The change goes to the hot address and is scanned like a deposit.
    change: null,
  }
}

/**
 * Sends the stored bytes to every daemon, not through the wallet: the metadata of `relay_tx` refers to outputs by index,
 * and a restored wallet may order them differently.
 */
async function broadcastAll(nodes: readonly MoneroNode[], raw: string): Promise<BroadcastResult> {
  const transaction = parseTransaction(fromHex(raw), null)
  if (transaction === null) return { kind: 'rejected', reason: 'not a transaction' }
  return combineResults(await Promise.all(nodes.map((node) => broadcastTo(node, raw, transaction.txHash))))
}

async function broadcastTo(node: MoneroNode, raw: string, txHash: string): Promise<BroadcastResult> {
  try {
    if ((await node.transactions([txHash])).length > 0) return { kind: 'known' }
    const answer = await node.send(raw)
    if (answer.kind === 'unknown') return { kind: 'unknown', reason: `${node.host}: ${answer.reason}` }
    if (answer.kind === 'error') return { kind: 'unknown', reason: `${node.host}: ${answer.code} ${answer.message}` }
    // Accepted only if the node has it.
    if ((await node.transactions([txHash])).length > 0) return { kind: 'accepted' }
    const { status, reason } = answer.result
    const flags = REFUSALS.filter((flag) => answer.result[flag] === true)
    const text = `${node.host}: ${String(status)} ${String(reason ?? '')} ${flags.join(' ')}`.trim()
    return status === 'Failed' && flags.length > 0
      ? { kind: 'rejected', reason: text }
      : { kind: 'unknown', reason: text }
  } catch (error) {
    return { kind: 'unknown', reason: `${node.host}: ${error instanceof Error ? error.message : 'no answer'}` }
  }
}

/** The flags by which monerod rejects a transaction that it has checked. */
const REFUSALS = [
  'double_spend',
  'fee_too_low',
  'invalid_input',
  'invalid_output',
  'low_mixin',
  'overspend',
  'too_big',
  'too_few_outputs',
  'tx_extra_too_big',
] as const

function insufficient(payments: readonly Payment[], message: string): AppError {
  return new AppError('INSUFFICIENT_LIQUIDITY', message, { extra: { neededUnits: sumUnits(payments).toString() } })
}
