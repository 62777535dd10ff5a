import { scale } from '../../../core/domain/amount.ts'
import { AppError } from '../../../core/domain/errors.ts'
import type { BitcoinParameters, Network } from '../../../core/domain/network.ts'
import type { FeeRate } from '../../../core/ports/chain.ts'
import type { SpendRequest, UnsignedTransaction } from '../../../exchange/ports/chain.ts'
import type { CompressedKeys } from '../../../exchange/ports/signer.ts'
import type { Utxo, KeyPath, Payment } from '../../../exchange/ports/spend.ts'
import { assert } from '../../../lib/assert.ts'
import { largest } from '../../../lib/bigint.ts'
import { keyAddress, parametersOf, scriptOf } from './address.ts'
import { inputSize, ownScriptLength, transferSize } from './size.ts'

/** Coins in one transaction: 500 of P2PKH are 74 kvB, below the 100 kvB that nodes relay. */
export const INPUTS_MAX = 500
/** Bitcoin Core, MAX_STANDARD_TX_WEIGHT ÷ 4. */
const SIZE_MAX = 100_000n
/** BIP-125 rule 4: units per virtual byte that a replacement pays above what it replaces, for its own relay. */
const INCREMENT = 1n
/** The rate, too, must rise: by 5 %, which is more than the shortest signatures make a transaction smaller than its bound. */
const RATE_RISE = { numerator: 105n, denominator: 100n }
/** Units per virtual byte that the house never exceeds, in dust limits: on Bitcoin 2184. */
const RATE_MAX_DUST = 4n

/** Units per 1000 vB above which the house waits rather than pays. */
export function feeRateMax(parameters: BitcoinParameters): bigint {
  return parameters.dustUnits * RATE_MAX_DUST * 1000n
}

/** A payment from two coins with change. */
export function payoutFee(network: Network, fee: FeeRate): bigint {
  const parameters = parametersOf(network)
  const own = ownScriptLength(parameters)
  return scale(transferSize(parameters, 2, [own, own]), fee.rate, 1000n, 'up')
}

type Draft = Readonly<{ inputs: readonly Utxo[]; pays: readonly Payment[]; changeUnits: bigint | null; feeUnits: bigint }>
/** What is common to every choice of coins of one request. */
type Terms = Readonly<{
  parameters: BitcoinParameters
  pays: readonly Payment[]
  scriptLengths: readonly number[]
  rate: bigint
  /** The least that a transaction of a size pays. */
  feeFor: (size: bigint) => bigint
}>

/**
 * Outputs are the pays in their order, then the change. The first input is the conflict key: a replacement spends all
 * inputs of what it replaces again, in their order.
 */
export function buildTransfer(network: Network, publicKeys: CompressedKeys, request: SpendRequest): UnsignedTransaction {
  const terms = termsOf(network, request)
  const draft = request.replaces === null ? draftFresh(terms, request) : draftReplacement(terms, request)
  assert(new Set(draft.inputs.map(({ outpoint }) => outpoint)).size === draft.inputs.length, 'no coin is spent twice')
  const size = transferSize(terms.parameters, draft.inputs.length, [
    ...terms.scriptLengths,
    ownScriptLength(terms.parameters),
  ])
  if (size > SIZE_MAX) throw insufficient(network)
  const path = changePath(request)
  const change =
    draft.changeUnits === null
      ? null
      : {
          path,
          units: draft.changeUnits,
          address: keyAddress(terms.parameters, publicKeys.publicKey(network.coinType, path)),
          vout: draft.pays.length,
        }
  const [first] = draft.inputs
  assert(first !== undefined, 'a transaction spends something')
  return {
    intent: {
      family: 'bitcoin',
      network: network.id,
      inputs: draft.inputs,
      pays: draft.pays,
      change: change && { path: change.path, units: change.units },
    },
    conflictKey: first.outpoint,
    resources: draft.inputs.map(({ outpoint }) => outpoint),
    feeUnits: draft.feeUnits,
    change,
  }
}

function termsOf(network: Network, request: SpendRequest): Terms {
  const parameters = parametersOf(network)
  const { rate } = request.fee
  assert(rate > 0n && rate <= feeRateMax(parameters), 'the fee rate lies within its bounds')
  const pays = replacedIntent(request)?.pays ?? request.payments
  assert(pays.length > 0 && (!request.sweepAll || pays.length === 1), 'there is a pay, and a sweep has one')
  const scriptLengths = pays.map((pay) => payScript(network, pay).length)
  return { parameters, pays, scriptLengths, rate, feeFor: feeRule(network, request, scriptLengths) }
}

/** The output script of a pay. Dust is never paid out: no node relays it. */
export function payScript(network: Network, pay: Payment): Uint8Array {
  const parameters = parametersOf(network)
  assert(
    pay.asset.network === network.id && pay.asset.contract === null && pay.memo === null,
    'a pay is in the coin of its network',
  )
  const script = scriptOf(parameters, pay.address)
  if (script === null) throw new AppError('INVALID_ADDRESS', `${pay.address} is no address of ${network.name}`)
  if (pay.units < parameters.dustUnits)
    throw new AppError('AMOUNT_BELOW_MIN', `${network.name} carries no output as small as this`)
  return script
}

function replacedIntent(request: SpendRequest) {
  if (request.replaces === null) return null
  const { intent } = request.replaces
  assert(intent.family === 'bitcoin', 'a transaction is replaced by one of its own family')
  return intent
}

function changePath(request: SpendRequest): KeyPath {
  return replacedIntent(request)?.change?.path ?? { branch: 'change', index: request.changeIndex }
}

function feeRule(network: Network, request: SpendRequest, scriptLengths: readonly number[]): Terms['feeFor'] {
  const byRate = (size: bigint) => scale(size, request.fee.rate, 1000n, 'up')
  const replaced = replacedIntent(request)
  if (replaced === null || request.replaces === null) return byRate
  const parameters = parametersOf(network)
  assert(parameters.replaceable, 'nodes of the network take replacements')
  const own = replaced.change === null ? [] : [ownScriptLength(parameters)]
  const oldSize = transferSize(parameters, replaced.inputs.length, [...scriptLengths, ...own])
  const oldFee = request.replaces.feeUnits
  return (size) => {
    const relay = oldFee + size * INCREMENT
    const higher = scale(oldFee * RATE_RISE.numerator, size, oldSize * RATE_RISE.denominator, 'up')
    return largest(byRate(size), relay, higher)
  }
}

function draftFresh(terms: Terms, request: SpendRequest): Draft {
  const candidates = spendable(terms, request.utxos, new Set())
  if (request.sweepAll) return sweep(terms, request, candidates.slice(0, INPUTS_MAX))
  const draft = cover(terms, request, [], candidates)
  return { ...draft, inputs: [...draft.inputs].sort((a, b) => byDepositor(a) - byDepositor(b)) }
}

/** What a customer paid may leave the chain with the block that it came in: it is the common coin only where all are such. */
const byDepositor = ({ path }: Utxo): number => (path.branch === 'deposit' ? 1 : 0)

function draftReplacement(terms: Terms, request: SpendRequest): Draft {
  const kept = replacedIntent(request)?.inputs ?? []
  const draft = request.sweepAll
    ? sweep(terms, request, kept)
    : cover(terms, request, kept, spendable(terms, request.utxos, new Set(kept.map(({ outpoint }) => outpoint))))
  const size = transferSize(terms.parameters, draft.inputs.length, terms.scriptLengths)
  if (draft.feeUnits > scale(size, 2n * feeRateMax(terms.parameters), 1000n, 'down')) {
    throw new AppError('NETWORK_UNAVAILABLE', 'the network takes more for a transaction than is paid for it')
  }
  return draft
}

/**
 * Largest first, oldest first among equals: the fewest inputs, and so the least fee, whatever lies in the wallet. Coins
 * that cost more to spend than they are worth stay where they are.
 */
function spendable(terms: Terms, coins: readonly Utxo[], without: ReadonlySet<string>): readonly Utxo[] {
  const cost = scale(inputSize(terms.parameters), terms.rate, 1000n, 'up')
  return coins
    .filter(({ outpoint, units }) => units > cost && !without.has(outpoint))
    .sort((a, b) => (a.units === b.units ? 0 : a.units > b.units ? -1 : 1))
}

/** Adds coins to those that must be spent until they cover pays and fee. */
function cover(terms: Terms, request: SpendRequest, kept: readonly Utxo[], more: readonly Utxo[]): Draft {
  const inputs = [...kept]
  let held = sum(kept)
  const paid = sum(terms.pays)
  for (const next of [null, ...more]) {
    if (next !== null) {
      inputs.push(next)
      held += next.units
    }
    if (inputs.length > INPUTS_MAX) break
    if (inputs.length === 0 || held <= paid) continue
    const settled = settle(terms, inputs.length, held - paid)
    if (settled !== null) return { inputs, pays: terms.pays, ...settled }
  }
  throw insufficientFor(terms, request)
}

/** Spends every coin given. The pay takes what is left after the fee, up to its units; what is above them is change. */
function sweep(terms: Terms, request: SpendRequest, inputs: readonly Utxo[]): Draft {
  const [pay] = terms.pays
  const ceiling = request.payments[0]?.units
  assert(pay !== undefined && ceiling !== undefined, 'a sweep has one pay')
  const held = sum(inputs)
  const settled = held > ceiling ? settle(terms, inputs.length, held - ceiling) : null
  if (settled !== null) return { inputs, pays: [{ ...pay, units: ceiling }], ...settled }
  const feeUnits = terms.feeFor(transferSize(terms.parameters, inputs.length, terms.scriptLengths))
  const units = held - feeUnits
  if (inputs.length === 0 || units < terms.parameters.dustUnits) throw insufficientFor(terms, request)
  return { inputs, pays: [{ ...pay, units }], changeUnits: null, feeUnits }
}

/** Splits what the pays leave into fee and change; null where it does not cover the fee. */
function settle(terms: Terms, inputs: number, left: bigint): Pick<Draft, 'changeUnits' | 'feeUnits'> | null {
  const { parameters, scriptLengths, feeFor, rate } = terms
  const feeWithChange = feeFor(transferSize(parameters, inputs, [...scriptLengths, ownScriptLength(parameters)]))
  const changeUnits = left - feeWithChange
  // Change that is dust, or costs as much to spend as it is worth, goes to the fee instead.
  const spendCost = scale(inputSize(parameters), rate, 1000n, 'up')
  const least = largest(parameters.dustUnits, spendCost)
  if (changeUnits >= least) return { changeUnits, feeUnits: feeWithChange }
  return left >= feeFor(transferSize(parameters, inputs, scriptLengths)) ? { changeUnits: null, feeUnits: left } : null
}

function sum(parts: readonly { units: bigint }[]): bigint {
  return parts.reduce((total, { units }) => total + units, 0n)
}

function insufficientFor(terms: Terms, request: SpendRequest): AppError {
  const needed = request.sweepAll ? terms.parameters.dustUnits : sum(terms.pays)
  return new AppError('INSUFFICIENT_LIQUIDITY', 'the coins at hand do not cover the payment and its fee', {
    extra: { neededUnits: needed.toString(), coins: request.utxos.length },
  })
}

function insufficient(network: Network): AppError {
  return new AppError('INSUFFICIENT_LIQUIDITY', `the payment does not fit into one transaction of ${network.name}`)
}
