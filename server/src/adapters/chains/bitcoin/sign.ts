import { hex } from '@scure/base'
import { Script, SigHash, Transaction } from '@scure/btc-signer'
import { pubECDSA, signECDSA } from '@scure/btc-signer/utils.js'
import { scale, sumUnits } from '../../../core/domain/amount.ts'
import type { BitcoinParameters, Network } from '../../../core/domain/network.ts'
import type { FamilySigner, KeySource, SignedTransaction, SignIntent } from '../../../exchange/ports/signer.ts'
import { assert, present } from '../../../lib/assert.ts'
import { hasSegwit, keyScript, parametersOf } from './address.ts'
import { splitOutpoint } from './rpc.ts'
import { transferSize } from './size.ts'
import { feeRateMax, paymentScript } from './transfer.ts'

type BitcoinIntent = Extract<SignIntent, { family: 'bitcoin' }>
type Output = Readonly<{ script: Uint8Array; amount: bigint }>

/** BIP-125: the highest sequence that signals replaceability, and the highest without it that still allows a lock time. */
const SEQUENCE = { replaceable: 0xfffffffd, final: 0xfffffffe } as const
/** SIGHASH_ALL with SIGHASH_FORKID of Bitcoin Cash (fork id 0). This bit makes signatures invalid on Bitcoin. */
const SIGHASH_ALL_FORKID = SigHash.ALL | 0x40

/**
 * Signs for the given networks. Builds the transaction from the intent alone, then parses the bytes and compares them with
 * the intent. Deterministic (RFC 6979): signing an intent twice gives the same bytes.
 */
export function createBitcoinSigning(networks: readonly Network[]): FamilySigner {
  return (intent, keys) => {
    assert(intent.family === 'bitcoin', 'the intent is for the bitcoin family')
    const network = present(
      networks.find(({ id }) => id === intent.network),
      `the network ${intent.network}`,
    )
    return signIntent(network, intent, keys)
  }
}

function signIntent(network: Network, intent: BitcoinIntent, keys: KeySource): SignedTransaction {
  const parameters = parametersOf(network)
  const outputs = outputsOf(network, intent, keys)
  checkAmounts(parameters, intent, outputs)
  // Dogecoin relays version 1 only; version 2 adds relative lock times, which we do not use.
  const version = hasSegwit(parameters) ? 2 : 1
  // Legacy signatures do not cover input amounts, which come from the store. A wrong amount would only change the fee, which
  // `checkAmounts` bounds. Segwit and Bitcoin Cash signatures cover the amounts.
  const transaction = new Transaction({ version, allowLegacyWitnessUtxo: true })
  const sequence = parameters.replaceable ? SEQUENCE.replaceable : SEQUENCE.final
  for (const utxo of intent.inputs) {
    const [txid, index] = splitOutpoint(utxo.outpoint)
    const script = keyScript(parameters, pubECDSA(keys.privateKey(utxo.path)))
    transaction.addInput({ txid, index, sequence, witnessUtxo: { script, amount: utxo.units } })
  }
  for (const output of outputs) transaction.addOutput(output)
  intent.inputs.forEach((utxo, index) => {
    signInput(parameters, transaction, index, keys.privateKey(utxo.path))
  })
  const raw = transaction.extract()
  checkBytes(raw, intent, outputs)
  return { txHash: transaction.id, raw: hex.encode(raw) }
}

function outputsOf(network: Network, intent: BitcoinIntent, keys: KeySource): readonly Output[] {
  const payments = intent.pays.map((payment) => ({ script: paymentScript(network, payment), amount: payment.units }))
  if (intent.change === null) return payments
  const { path, units } = intent.change
  assert(path.branch === 'change', 'change goes to a change address')
  return [...payments, { script: keyScript(parametersOf(network), pubECDSA(keys.privateKey(path))), amount: units }]
}

/** Bounds the fee, so that no caller can burn money as fee. */
function checkAmounts(parameters: BitcoinParameters, intent: BitcoinIntent, outputs: readonly Output[]): void {
  assert(intent.inputs.length > 0 && intent.pays.length > 0, 'a transaction has an input and a payment')
  assert(
    outputs.every(({ amount }) => amount >= parameters.dustUnits),
    'no output is dust',
  )
  const outpoints = new Set(intent.inputs.map(({ outpoint }) => outpoint))
  assert(outpoints.size === intent.inputs.length, 'no UTXO is spent twice')
  const inputUnits = sumUnits(intent.inputs)
  const fee = inputUnits - outputs.reduce((total, { amount }) => total + amount, 0n)
  const size = transferSize(
    parameters,
    intent.inputs.length,
    outputs.map(({ script }) => script.length),
  )
  // Twice the maximum rate, because the fee may include change too small for an output.
  const feeMax = scale(size, 2n * feeRateMax(parameters), 1000n, 'down')
  assert(fee > 0n && fee <= feeMax, 'the fee is within its bounds')
}

function signInput(
  parameters: BitcoinParameters,
  transaction: Transaction,
  index: number,
  privateKey: Uint8Array,
): void {
  if (parameters.cashAddr === null) {
    transaction.signIdx(privateKey, index)
    transaction.finalizeIdx(index)
    return
  }
  // Bitcoin Cash signs legacy inputs with the BIP-143 digest and the fork id in the hash type:
  // https://reference.cash/protocol/forks/replay-protected-sighash
  const { script, amount } = present(transaction.getInput(index).witnessUtxo, 'the UTXO of an input')
  const digest = transaction.preimageWitnessV0(index, script, SIGHASH_ALL_FORKID, amount)
  const signature = Uint8Array.of(...signECDSA(digest, privateKey), SIGHASH_ALL_FORKID)
  const finalScriptSig = Script.encode([signature, pubECDSA(privateKey)])
  transaction.updateInput(index, { finalScriptSig }, true)
}

/** Parses the bytes: they contain exactly the inputs, payments and change of the intent, in order. */
function checkBytes(raw: Uint8Array, intent: BitcoinIntent, outputs: readonly Output[]): void {
  const parsed = Transaction.fromRaw(raw)
  assert(
    parsed.inputsLength === intent.inputs.length && parsed.outputsLength === outputs.length,
    'the bytes have the inputs and outputs of the intent only',
  )
  intent.inputs.forEach(({ outpoint }, index) => {
    const { txid, index: vout } = parsed.getInput(index)
    assert(txid !== undefined && `${hex.encode(txid)}:${vout}` === outpoint, 'an input is a UTXO of the intent')
  })
  outputs.forEach(({ script, amount }, index) => {
    const output = parsed.getOutput(index)
    const isSameScript = output.script !== undefined && hex.encode(output.script) === hex.encode(script)
    assert(isSameScript && output.amount === amount, 'an output matches the intent')
  })
}
