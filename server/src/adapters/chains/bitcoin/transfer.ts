import { scale, sumUnits } from '../../../core/domain/amount.ts'
import { AppError } from '../../../core/domain/errors.ts'
import type { BitcoinParameters, Network } from '../../../core/domain/network.ts'
import type { FeeRate } from '../../../core/ports/chain.ts'
import type { SpendRequest, UnsignedTransaction } from '../../../exchange/ports/chain.ts'
import type { CompressedKeys } from '../../../exchange/ports/signer.ts'
import type { KeyPath, Payment, Utxo } from '../../../exchange/ports/spend.ts'
import { assert } from '../../../lib/assert.ts'
import { largest } from '../../../lib/bigint.ts'
import { keyAddress, parametersOf, scriptOf } from './address.ts'
import { inputSize, ownScriptLength, transferSize } from './size.ts'

/** Inputs of one transaction: 500 P2PKH inputs have 74 kvB, below the 100 kvB that nodes relay. */
export const INPUTS_MAX = 500
/** Bitcoin Core, MAX_STANDARD_TX_WEIGHT ÷ 4. */
const SIZE_MAX = 100_000n
/** BIP-125 rules 3 and 4: units per virtual byte that a replacement adds to the fees of all that it evicts, for its own relay. */
const INCREMENT = 1n
/** A replacement must also raise the fee rate. 5 % exceeds the difference between the maximum size and the real size. */
const RATE_RISE = { numerator: 105n, denominator: 100n }
/** A transaction that offers more than this many times the current estimate does not wait because of its fee. */
const ESTIMATES_MAX = 4n
/** Maximum fee in units per virtual byte, as a multiple of the dust limit: 2184 on Bitcoin. */
const RATE_MAX_DUST = 4n

/** The maximum fee rate in units per 1000 vB. Above it we wait instead of paying. */
export function feeRateMax(parameters: BitcoinParameters): bigint {
  return parameters.dustUnits * RATE_MAX_DUST * 1000n
}

/** The fee of a payment with two inputs and change. */
export function payoutFee(network: Network, fee: FeeRate): bigint {
  const parameters = parametersOf(network)
  const own = ownScriptLength(parameters)
  return scale(transferSize(parameters, 2, [own, own]), fee.rate, 1000n, 'up')
}

/** Virtual bytes of an input: 68 with a witness (P2WPKH), else 148. A deposit is spent where it lies, as one more input. */
export function depositFee(network: Network, fee: FeeRate): bigint {
  const size = parametersOf(network).bech32 === null ? 148n : 68n
  return scale(size, fee.rate, 1000n, 'up')
}

type Draft = Readonly<{
  inputs: readonly Utxo[]
  payments: readonly Payment[]
  changeUnits: bigint | null
  feeUnits: bigint
}>
/** The parameters of a request that do not depend on the selected inputs. */
type Terms = Readonly<{
  parameters: BitcoinParameters
  payments: readonly Payment[]
  scriptLengths: readonly number[]
  rate: bigint
  /** The minimum fee of a transaction with this size. */
  feeFor: (size: bigint) => bigint
}>

/**
 * Outputs are the payments in order, then the change. The first input is the conflict key: a replacement spends all inputs
 * of the replaced transaction again, in the same order.
 */
export function buildTransfer(
  network: Network,
  publicKeys: CompressedKeys,
  request: SpendRequest,
): UnsignedTransaction {
  const terms = termsOf(network, request)
  const draft = request.replaces === null ? draftPayment(terms, request) : draftReplacement(terms, request)
  assert(new Set(draft.inputs.map(({ outpoint }) => outpoint)).size === draft.inputs.length, 'no UTXO is spent twice')
  const size = transferSize(terms.parameters, draft.inputs.length, [
    ...terms.scriptLengths,
    ownScriptLength(terms.parameters),
  ])
  if (size > SIZE_MAX)
    throw new AppError('INSUFFICIENT_LIQUIDITY', `the payment does not fit into one transaction of ${network.name}`)
  const path = changePath(request)
  const change =
    draft.changeUnits === null
      ? null
      : {
          path,
          units: draft.changeUnits,
          address: keyAddress(terms.parameters, publicKeys.publicKey(network.coinType, path)),
          vout: draft.payments.length,
        }
  const [first] = draft.inputs
  assert(first !== undefined, 'a transaction has an input')
  return {
    intent: {
      family: 'bitcoin',
      network: network.id,
      inputs: draft.inputs,
      pays: draft.payments,
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
  assert(rate > 0n && rate <= feeRateMax(parameters), 'the fee rate is within its bounds')
  const payments = replacedIntent(request)?.pays ?? request.payments
  assert(
    payments.length > 0 && (!request.sweepAll || payments.length === 1),
    'a transaction has a payment, and a sweep exactly one',
  )
  const scriptLengths = payments.map((payment) => paymentScript(network, payment).length)
  return { parameters, payments, scriptLengths, rate, feeFor: feeRule(network, request, scriptLengths) }
}

/** The output script of a payment. Throws for dust, which nodes do not relay. */
export function paymentScript(network: Network, payment: Payment): Uint8Array {
  const parameters = parametersOf(network)
  assert(
    payment.asset.network === network.id && payment.asset.contract === null && payment.memo === null,
    'a payment is in the native currency of its network and has no memo',
  )
  const script = scriptOf(parameters, payment.address)
  if (script === null) throw new AppError('INVALID_ADDRESS', `${payment.address} is no address of ${network.name}`)
  if (payment.units < parameters.dustUnits)
    throw new AppError('AMOUNT_BELOW_MIN', `the amount is below the smallest output of ${network.name}`)
  return script
}

function replacedIntent(request: SpendRequest) {
  if (request.replaces === null) return null
  const { intent } = request.replaces
  assert(intent.family === 'bitcoin', 'a replacement is of the same family')
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
  assert(parameters.replaceable, 'nodes of the network accept replacements')
  const own = replaced.change === null ? [] : [ownScriptLength(parameters)]
  const oldSize = transferSize(parameters, replaced.inputs.length, [...scriptLengths, ...own])
  const { feeUnits: oldFee, evictedUnits = 0n } = request.replaces
  return (size) => {
    const withRelayIncrement = largest(oldFee, evictedUnits) + size * INCREMENT
    const withRaisedRate = scale(oldFee * RATE_RISE.numerator, size, oldSize * RATE_RISE.denominator, 'up')
    const feeUnits = largest(byRate(size), withRelayIncrement, withRaisedRate)
    if (feeUnits > byRate(size) * ESTIMATES_MAX)
      throw new AppError('NETWORK_UNAVAILABLE', 'the transaction offers several times the current fee rate already')
    return feeUnits
  }
}

function draftPayment(terms: Terms, request: SpendRequest): Draft {
  const candidates = sortSpendable(terms, request.utxos, new Set())
  if (request.sweepAll) return draftSweep(terms, request, candidates.slice(0, INPUTS_MAX))
  const draft = selectInputs(terms, request, [], candidates)
  return { ...draft, inputs: [...draft.inputs].sort((a, b) => depositsLast(a) - depositsLast(b)) }
}

/** Sorts deposits behind our own outputs: a reorganisation may remove a deposit, so it should not be the conflict key. */
const depositsLast = ({ path }: Utxo): number => (path.branch === 'deposit' ? 1 : 0)

function draftReplacement(terms: Terms, request: SpendRequest): Draft {
  const required = replacedIntent(request)?.inputs ?? []
  const requiredOutpoints = new Set(required.map(({ outpoint }) => outpoint))
  const draft = request.sweepAll
    ? draftSweep(terms, request, required)
    : selectInputs(terms, request, required, sortSpendable(terms, request.utxos, requiredOutpoints))
  const size = transferSize(terms.parameters, draft.inputs.length, terms.scriptLengths)
  if (draft.feeUnits > scale(size, 2n * feeRateMax(terms.parameters), 1000n, 'down')) {
    throw new AppError('NETWORK_UNAVAILABLE', 'the network fee is above the limit at the moment')
  }
  return draft
}

/**
 * Largest first and, among equal amounts, oldest first: this needs the fewest inputs and so the lowest fee. Omits UTXOs that
 * cost more to spend than they are worth.
 */
function sortSpendable(terms: Terms, utxos: readonly Utxo[], excluded: ReadonlySet<string>): readonly Utxo[] {
  const cost = scale(inputSize(terms.parameters), terms.rate, 1000n, 'up')
  return utxos
    .filter(({ outpoint, units }) => units > cost && !excluded.has(outpoint))
    .sort((a, b) => (a.units === b.units ? 0 : a.units > b.units ? -1 : 1))
}

/** Adds candidates to the required inputs until they cover the payments and the fee. */
function selectInputs(
  terms: Terms,
  request: SpendRequest,
  required: readonly Utxo[],
  candidates: readonly Utxo[],
): Draft {
  const inputs = [...required]
  let inputUnits = sumUnits(required)
  const paidUnits = sumUnits(terms.payments)
  for (const next of [null, ...candidates]) {
    if (next !== null) {
      inputs.push(next)
      inputUnits += next.units
    }
    if (inputs.length > INPUTS_MAX) break
    if (inputs.length === 0 || inputUnits <= paidUnits) continue
    const split = splitRemainder(terms, inputs.length, inputUnits - paidUnits)
    if (split !== null) return { inputs, payments: terms.payments, ...split }
  }
  throw insufficientFor(terms, request)
}

/** Spends all inputs. The payment gets the sum less the fee, at most its requested units; the rest is change. */
function draftSweep(terms: Terms, request: SpendRequest, inputs: readonly Utxo[]): Draft {
  const [payment] = terms.payments
  const unitsMax = request.payments[0]?.units
  assert(payment !== undefined && unitsMax !== undefined, 'a sweep has one payment')
  const inputUnits = sumUnits(inputs)
  const split = inputUnits > unitsMax ? splitRemainder(terms, inputs.length, inputUnits - unitsMax) : null
  if (split !== null) return { inputs, payments: [{ ...payment, units: unitsMax }], ...split }
  const feeUnits = terms.feeFor(transferSize(terms.parameters, inputs.length, terms.scriptLengths))
  const units = inputUnits - feeUnits
  if (inputs.length === 0 || units < terms.parameters.dustUnits) throw insufficientFor(terms, request)
  return { inputs, payments: [{ ...payment, units }], changeUnits: null, feeUnits }
}

/** Splits the units above the payments into fee and change; null if they do not cover the fee. */
function splitRemainder(
  terms: Terms,
  inputs: number,
  remainder: bigint,
): Pick<Draft, 'changeUnits' | 'feeUnits'> | null {
  const { parameters, scriptLengths, feeFor, rate } = terms
  const feeWithChange = feeFor(transferSize(parameters, inputs, [...scriptLengths, ownScriptLength(parameters)]))
  const changeUnits = remainder - feeWithChange
  // Change that is dust, or worth less than the cost of spending it, goes to the fee.
  const spendCost = scale(inputSize(parameters), rate, 1000n, 'up')
  const changeMin = largest(parameters.dustUnits, spendCost)
  if (changeUnits >= changeMin) return { changeUnits, feeUnits: feeWithChange }
  const feeWithoutChange = feeFor(transferSize(parameters, inputs, scriptLengths))
  return remainder >= feeWithoutChange ? { changeUnits: null, feeUnits: remainder } : null
}

function insufficientFor(terms: Terms, request: SpendRequest): AppError {
  const needed = request.sweepAll ? terms.parameters.dustUnits : sumUnits(terms.payments)
  return new AppError('INSUFFICIENT_LIQUIDITY', 'the spendable outputs do not cover the payment and its fee', {
    extra: { neededUnits: needed.toString(), coins: request.utxos.length },
  })
}
