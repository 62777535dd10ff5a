import { hex } from '@scure/base'
import { Script, SigHash, Transaction } from '@scure/btc-signer'
import { pubECDSA, signECDSA } from '@scure/btc-signer/utils.js'
import { scale } from '../../../core/domain/amount.ts'
import type { BitcoinParameters, Network } from '../../../core/domain/network.ts'
import type { KeySource, SignedTransaction, SignIntent, FamilySigner } from '../../../exchange/ports/signer.ts'
import { assert, present } from '../../../lib/assert.ts'
import { hasSegwit, keyScript, parametersOf } from './address.ts'
import { splitOutpoint } from './rpc.ts'
import { transferSize } from './size.ts'
import { feeRateMax, payScript } from './transfer.ts'

type BitcoinIntent = Extract<SignIntent, { family: 'bitcoin' }>
type Output = Readonly<{ script: Uint8Array; amount: bigint }>

/** BIP-125: the most that still says "may be replaced", and the most that says "may not" and allows a lock time. */
const SEQUENCE = { replaceable: 0xfffffffd, final: 0xfffffffe } as const
/** SIGHASH_ALL with the fork id of Bitcoin Cash, which is 0: only this bit tells its signatures from Bitcoin's. */
const SIGHASH_ALL_FORKID = SigHash.ALL | 0x40

/**
 * Signs for the networks given. The transaction is built here from the intent alone, read back from its bytes, and held
 * against the intent. Signatures are deterministic (RFC 6979): one intent gives one transaction, however often.
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
  // Dogecoin relays version 1 alone; version 2 only adds relative lock times, which nothing here uses.
  const version = hasSegwit(parameters) ? 2 : 1
  // The amounts of legacy inputs are the store's, read from the chain by all nodes; a wrong one spoils the signature of
  // the other kinds, and here no more than the fee, which is bounded.
  const transaction = new Transaction({ version, allowLegacyWitnessUtxo: true })
  const sequence = parameters.replaceable ? SEQUENCE.replaceable : SEQUENCE.final
  for (const coin of intent.inputs) {
    const [txid, index] = splitOutpoint(coin.outpoint)
    const script = keyScript(parameters, pubECDSA(keys.privateKey(coin.path)))
    transaction.addInput({ txid, index, sequence, witnessUtxo: { script, amount: coin.units } })
  }
  for (const output of outputs) transaction.addOutput(output)
  intent.inputs.forEach((coin, index) => {
    signInput(parameters, transaction, index, keys.privateKey(coin.path))
  })
  const raw = transaction.extract()
  checkBytes(raw, intent, outputs)
  return { txHash: transaction.id, raw: hex.encode(raw) }
}

function outputsOf(network: Network, intent: BitcoinIntent, keys: KeySource): readonly Output[] {
  const pays = intent.pays.map((pay) => ({ script: payScript(network, pay), amount: pay.units }))
  if (intent.change === null) return pays
  const { path, units } = intent.change
  assert(path.branch === 'change', 'change goes to a change address')
  return [...pays, { script: keyScript(parametersOf(network), pubECDSA(keys.privateKey(path))), amount: units }]
}

/** A transaction that burns money as fee is refused, whoever asks for it. */
function checkAmounts(parameters: BitcoinParameters, intent: BitcoinIntent, outputs: readonly Output[]): void {
  assert(intent.inputs.length > 0 && intent.pays.length > 0, 'a transaction spends and pays something')
  assert(
    outputs.every(({ amount }) => amount >= parameters.dustUnits),
    'no output is dust',
  )
  const outpoints = new Set(intent.inputs.map(({ outpoint }) => outpoint))
  assert(outpoints.size === intent.inputs.length, 'no coin is spent twice')
  const held = intent.inputs.reduce((total, { units }) => total + units, 0n)
  const fee = held - outputs.reduce((total, { amount }) => total + amount, 0n)
  const size = transferSize(
    parameters,
    intent.inputs.length,
    outputs.map(({ script }) => script.length),
  )
  // Twice the highest rate: change too small to keep has gone to the fee.
  const most = scale(size, 2n * feeRateMax(parameters), 1000n, 'down')
  assert(fee > 0n && fee <= most, 'what the network takes lies within its bounds')
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
  // Bitcoin Cash signs legacy inputs by the digest of BIP-143 with the fork id in the hash type:
  // https://reference.cash/protocol/forks/replay-protected-sighash
  const { script, amount } = present(transaction.getInput(index).witnessUtxo, 'the coin of an input')
  const digest = transaction.preimageWitnessV0(index, script, SIGHASH_ALL_FORKID, amount)
  const signature = Uint8Array.of(...signECDSA(digest, privateKey), SIGHASH_ALL_FORKID)
  const finalScriptSig = Script.encode([signature, pubECDSA(privateKey)])
  transaction.updateInput(index, { finalScriptSig }, true)
}

/** What goes out is read back: exactly the inputs, pays and change of the intent, in their order. */
function checkBytes(raw: Uint8Array, intent: BitcoinIntent, outputs: readonly Output[]): void {
  const read = Transaction.fromRaw(raw)
  assert(read.inputsLength === intent.inputs.length && read.outputsLength === outputs.length, 'nothing was added')
  intent.inputs.forEach(({ outpoint }, index) => {
    const { txid, index: vout } = read.getInput(index)
    assert(txid !== undefined && `${hex.encode(txid)}:${vout}` === outpoint, 'an input is the coin of the intent')
  })
  outputs.forEach(({ script, amount }, index) => {
    const output = read.getOutput(index)
    const same = output.script !== undefined && hex.encode(output.script) === hex.encode(script)
    assert(same && output.amount === amount, 'an output is as the intent says')
  })
}
