import { AppError } from '../../../core/domain/errors.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { FeeRate } from '../../../core/ports/chain.ts'
import type { BroadcastResult, ChainSender, SpendRequest, UnsignedTransaction } from '../../../exchange/ports/chain.ts'
import type { Payment, Utxo } from '../../../exchange/ports/spend.ts'
import { assert } from '../../../lib/assert.ts'
import { readAddress } from './address.ts'
import { subaddressOf } from './keys.ts'
import type { MoneroNode } from './node.ts'
import { createObserve } from './observe.ts'
import type { OutputOrigins } from './output-origins.ts'
import { createRebroadcast } from './rebroadcast.ts'
import { fromHex, parseTransaction } from './transaction.ts'
import type { BuiltTransaction, Wallet, WalletOutput, WalletSession } from './wallet.ts'

/** Outputs that one transaction may have (BULLETPROOF_PLUS_MAX_OUTPUTS); one is the change. */
const OUTPUTS_MAX = 16
const PAYS_MAX = OUTPUTS_MAX - 1
/** Bytes of a transaction, upwards: each input has a ring of 16 and its signature. */
const WEIGHT = { base: 1_000n, input: 750n, output: 200n } as const
/** An output smaller than this many times its own fee is not split off. */
const SPLIT_FEES_MIN = 20n

export type SenderOptions = Readonly<{
  network: Network
  nodes: readonly MoneroNode[]
  /** null in a process without the seed: it builds nothing. */
  wallet: WalletSession | null
  hot: string
  /** Where coins came from, as far as this process saw them come. */
  origins: OutputOrigins
  /** Outputs that are kept ready: what is spent brings its change back after ten blocks, and meanwhile others pay. */
  outputsReady: number
}>

/** What a build found that the wallet lacks: higher addresses, coins. `lost` were searched for and not found. */
type Wants = { index: number; readonly unknown: Set<string>; readonly lost: Set<string> }

export function createSender(options: SenderOptions): ChainSender {
  const { network, nodes, wallet, origins } = options
  const wants: Wants = { index: 0, unknown: new Set(), lost: new Set() }
  return {
    prefersSeparatePayouts: true,
    // Asked before the transaction in which coins are chosen: the wallet is made ready here.
    gasLimit: async () => {
      await wallet?.use((open) => tend(open, wants, origins))
      return null
    },
    payoutFee: (_asset, fee) => feeBound(fee, 2, 2),
    build: async (request) => {
      checkPays(network, request)
      if (wallet === null) throw new AppError('INTERNAL', 'a process without the seed builds nothing')
      return wallet.useOpen((open) => build(options, wants, open, request))
    },
    broadcast: (raw) => broadcastAll(nodes, raw),
    observe: createObserve(network, nodes),
    rebroadcast: createRebroadcast(nodes),
  }
}

const feeBound = ({ rate }: FeeRate, inputs: number, outputs: number): bigint =>
  (WEIGHT.base + WEIGHT.input * BigInt(inputs) + WEIGHT.output * BigInt(outputs)) * rate

function checkPays({ id, name }: Network, { payments: pays, sweepAll }: SpendRequest): void {
  assert(pays.length > 0 && !sweepAll, 'there is a pay, and coins are spent where they lie')
  let integrated = 0
  for (const { asset, memo, address, units } of pays) {
    assert(asset.network === id && asset.contract === null && memo === null, 'a pay is in the coin of its network')
    assert(units > 0n, 'a pay is of something')
    const to = readAddress(address)
    if (to === null) throw new AppError('INVALID_ADDRESS', `${address} is no address of ${name}`)
    if (to.kind === 'integrated') integrated += 1
  }
  // A transaction carries one payment id. The queue then sends fewer at once.
  const fits = pays.length <= PAYS_MAX && (integrated === 0 || pays.length === 1)
  if (!fits) throw insufficient(pays, `the payment does not fit into one transaction of ${name}`)
}

async function build(
  options: SenderOptions,
  wants: Wants,
  wallet: Wallet,
  request: SpendRequest,
): Promise<UnsignedTransaction> {
  const { network, hot, outputsReady } = options
  const pays = request.payments
  const replaced = replacedCoins(request)
  const candidates = replaced ?? request.utxos
  const known = await knownOutputs(wallet, wants, candidates)
  const ready = candidates.filter(({ outpoint, units }) => {
    const output = known.get(outpoint)
    return output?.unlocked === true && output.units === units
  })
  const chosen = replaced === null ? choose(ready, pays, request.fee) : ready
  if (replaced !== null && chosen.length < replaced.length)
    throw new AppError('NETWORK_UNAVAILABLE', 'the coins of the transaction that is replaced are not at hand now')
  const splits = splitsOf({ known, chosen, pays, fee: request.fee, outputsReady })
  await spendOnly(wallet, known, chosen)
  const built = await wallet.transfer([...pays, ...splits.map((units) => ({ address: hot, units }))])
  return describe(network, request, chosen, built, replaced)
}

/** What the wallet has. What it lacks of the coins is asked for with the next look: it came before it was looked for. */
async function knownOutputs(
  wallet: Wallet,
  wants: Wants,
  coins: readonly Utxo[],
): Promise<ReadonlyMap<string, WalletOutput>> {
  const known = await wallet.outputs()
  wants.index = Math.max(wants.index, ...coins.map(({ path }) => subaddressOf(path).index))
  for (const { outpoint } of coins) if (!known.has(outpoint)) wants.unknown.add(outpoint)
  return known
}

/**
 * What takes longer than a transaction of the database may: opening the wallet, looking for more addresses, looking for
 * coins that were paid to addresses beyond them, and freezing all that came. Where it is known by which transaction a coin
 * came, that one is looked into; for what is still missing the chain is read again, once for each.
 */
async function tend(wallet: Wallet, wants: Wants, origins: OutputOrigins): Promise<void> {
  await wallet.widen(Math.max(wants.index, origins.highest()))
  let known = await wallet.outputs('long')
  const missing = () => [...wants.unknown].filter((keyImage) => !known.has(keyImage) && !wants.lost.has(keyImage))
  const txHashes = new Set(missing().flatMap((keyImage) => origins.of(keyImage) ?? []))
  // One that left the chain meanwhile is refused, and with it all.
  const isScanned = txHashes.size > 0 && (await wallet.scan([...txHashes]).then(always, unlessGone))
  if (isScanned) known = await wallet.outputs('long')
  if (missing().length > 0) {
    await wallet.rescan()
    known = await wallet.outputs('long')
    for (const keyImage of wants.unknown) if (!known.has(keyImage)) wants.lost.add(keyImage)
  }
  wants.unknown.clear()
  for (const [keyImage, { frozen }] of known) if (!frozen) await wallet.freeze(keyImage, true)
}

const always = () => true
function unlessGone(error: unknown): boolean {
  if (error instanceof AppError) return false
  throw error
}

function replacedCoins({ replaces }: SpendRequest): readonly Utxo[] | null {
  if (replaces === null) return null
  assert(replaces.intent.family === 'monero', 'a transaction is replaced by one of its own family')
  return replaces.intent.inputs
}

/** The smallest coin that is enough, so that large ones stay for large payments; else the fewest, the largest first. */
function choose(coins: readonly Utxo[], pays: readonly Payment[], fee: FeeRate): readonly Utxo[] {
  const paid = sum(pays)
  const needed = (inputs: number) => paid + feeBound(fee, inputs, pays.length + 1)
  const bySize = [...coins].sort((a, b) => (a.units === b.units ? 0 : a.units < b.units ? -1 : 1))
  const single = bySize.find(({ units }) => units >= needed(1))
  if (single) return [single]
  const chosen: Utxo[] = []
  for (const coin of bySize.reverse()) {
    chosen.push(coin)
    if (sum(chosen) >= needed(chosen.length)) return chosen
  }
  throw insufficient(pays, 'the coins at hand do not cover the payment and its fee')
}

type Holdings = Readonly<{
  known: ReadonlyMap<string, WalletOutput>
  chosen: readonly Utxo[]
  pays: readonly Payment[]
  fee: FeeRate
  outputsReady: number
}>

/** Parts of the change beside the one that the wallet makes itself, where fewer outputs than wanted would be left. */
function splitsOf({ known, chosen, pays, fee, outputsReady }: Holdings): readonly bigint[] {
  const left = known.size - chosen.length + 1
  const wanted = Math.min(outputsReady - left, PAYS_MAX - pays.length)
  const change = sum(chosen) - sum(pays) - feeBound(fee, chosen.length, OUTPUTS_MAX)
  const least = SPLIT_FEES_MIN * feeBound(fee, 1, 2)
  for (let parts = wanted; parts > 0; parts--) {
    const units = change / BigInt(parts + 1)
    if (units >= least) return Array.from({ length: parts }, () => units)
  }
  return []
}

/** The wallet spends what is not frozen: that is, what the store has chosen and reserved for this transaction. */
async function spendOnly(
  wallet: Wallet,
  known: ReadonlyMap<string, WalletOutput>,
  chosen: readonly Utxo[],
): Promise<void> {
  const wanted = new Set(chosen.map(({ outpoint }) => outpoint))
  for (const [keyImage, { frozen }] of known) {
    if (frozen === wanted.has(keyImage)) await wallet.freeze(keyImage, !wanted.has(keyImage))
  }
}

function describe(
  network: Network,
  request: SpendRequest,
  chosen: readonly Utxo[],
  { raw, secrets, feeUnits, keyImages }: BuiltTransaction,
  replaced: readonly Utxo[] | null,
): UnsignedTransaction {
  const spent = parseTransaction(fromHex(raw), null)?.keyImages ?? []
  assert(spent.length > 0 && spent.length === keyImages.length, 'the wallet says what it spends')
  const byImage = new Map(chosen.map((coin) => [coin.outpoint, coin]))
  const inputs = spent.map((keyImage) => {
    const coin = byImage.get(keyImage)
    assert(coin, 'the wallet spends what was chosen')
    return coin
  })
  const first = replaced?.[0]?.outpoint ?? inputs[0]?.outpoint ?? ''
  const isFirst = ({ outpoint }: Utxo) => outpoint === first
  const ordered = [...inputs.filter(isFirst), ...inputs.filter((coin) => !isFirst(coin))]
  assert(ordered[0]?.outpoint === first, 'what replaces a transaction conflicts with it')
  return {
    intent: { family: 'monero', network: network.id, inputs: ordered, pays: request.payments, feeUnits, raw, secrets },
    conflictKey: first,
    resources: inputs.map(({ outpoint }) => outpoint),
    feeUnits,
    // It comes back to the hot wallet's own address.
    change: null,
  }
}

/**
 * The stored bytes go to every daemon, and no wallet: `relay_tx` of stored metadata names the wallet's outputs by their
 * place in its memory, which another restore may order otherwise.
 */
async function broadcastAll(nodes: readonly MoneroNode[], raw: string): Promise<BroadcastResult> {
  const transaction = parseTransaction(fromHex(raw), null)
  if (transaction === null) return { kind: 'rejected', reason: 'not a transaction' }
  const results = await Promise.all(nodes.map((node) => broadcastTo(node, raw, transaction.txHash)))
  const of = (kind: BroadcastResult['kind']) => results.find((result) => result.kind === kind)
  return of('accepted') ?? of('known') ?? of('unknown') ?? of('rejected') ?? { kind: 'unknown', reason: 'no node' }
}

async function broadcastTo(node: MoneroNode, raw: string, txHash: string): Promise<BroadcastResult> {
  try {
    if ((await node.transactions([txHash])).length > 0) return { kind: 'known' }
    const answer = await node.send(raw)
    if (answer.kind === 'unknown') return { kind: 'unknown', reason: `${node.host}: ${answer.reason}` }
    if (answer.kind === 'error') return { kind: 'unknown', reason: `${node.host}: ${answer.code} ${answer.message}` }
    // What counts is that the node has it.
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

/** What monerod says of bytes that it looked at and does not take. */
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

function sum(parts: readonly { units: bigint }[]): bigint {
  return parts.reduce((total, { units }) => total + units, 0n)
}

function insufficient(pays: readonly Payment[], message: string): AppError {
  return new AppError('INSUFFICIENT_LIQUIDITY', message, { extra: { neededUnits: sum(pays).toString() } })
}
