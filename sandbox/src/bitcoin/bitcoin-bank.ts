import { Transaction } from '@scure/btc-signer'
import { RpcError } from '@swapyard/lib/json-rpc.ts'
import pLimit from 'p-limit'
import { formatUnits, parseUnits } from '../amount.ts'
import { ControlError } from '../control-error.ts'
import type { JsonRpc } from '../json-rpc.ts'
import type { BitcoinKey } from './addresses.ts'
import type { Scan } from './outputs.ts'

type Utxo = Readonly<{
  txid: string
  vout: number
  units: bigint
  /** Number of unconfirmed ancestor transactions. */
  depth: number
}>

export type BitcoinBank = Readonly<{
  pay(script: Uint8Array, units: bigint): Promise<string>
  /** Builds a transaction that pays the UTXOs back to the bank, and so conflicts with every other spend of them. */
  buildConflict(utxos: readonly Omit<Utxo, 'depth'>[]): string
  /** True if the bank's key signed this input. */
  isSignedByBank(witness: readonly string[] | undefined): boolean
}>

/** Satoshis per virtual byte: ten times the minimum relay fee rate. */
const feeRate = 10n
/**
 * Virtual bytes, rounded up: P2WPKH input 68, payment output 43 (P2WSH, the largest), change output 31, overhead 11.
 */
const inputBytes = 68n
const overheadBytes = 11n + 43n + 31n
const feeOf = (inputs: number) => feeRate * (BigInt(inputs) * inputBytes + overheadBytes)
/** Smaller change goes to the fee. Above every dust limit; Litecoin's is the highest with 5460. */
const minChangeUnits = 10_000n
/** Nodes reject chains of more than 25 unconfirmed transactions. */
const unconfirmedAncestorsMax = 20
/** Signals replaceability (BIP-125), as most wallets do. */
const sequence = 0xfffffffd

/** Pays from one key with many UTXOs: confirmed ones first, then change of its own unconfirmed payments. */
export function createBitcoinBank(rpc: JsonRpc, key: BitcoinKey): BitcoinBank {
  const runExclusive = pLimit(1)
  const utxoSet = createUtxoSet(rpc, key)

  const payOnce = async (script: Uint8Array, units: bigint): Promise<string> => {
    const { selected, fee } = selectUtxos(await utxoSet.list(), units)
    const change = selected.reduce((sum, utxo) => sum + utxo.units, 0n) - units - fee
    const tx = buildTransaction(key, selected)
    tx.addOutput({ script, amount: units })
    if (change >= minChangeUnits) tx.addOutput({ script: key.script, amount: change })
    tx.sign(key.privateKey)
    tx.finalize()
    await rpc.call('sendrawtransaction', [tx.hex])
    utxoSet.recordPayment(tx.id, selected, change >= minChangeUnits ? change : null)
    return tx.id
  }

  return {
    pay: (script, units) =>
      runExclusive(async () => {
        try {
          return await payOnce(script, units)
        } catch (error) {
          if (!(error instanceof RpcError)) throw error
          if (error.message.includes('dust'))
            throw new ControlError(400, 'AMOUNT_TOO_SMALL', 'the amount is below the dust limit of the nodes', error)
          // A reorg may have removed a UTXO: scan again and retry once.
          utxoSet.refreshNext()
          return await payOnce(script, units)
        }
      }),
    buildConflict(utxos) {
      const tx = buildTransaction(key, utxos)
      const total = utxos.reduce((sum, utxo) => sum + utxo.units, 0n)
      tx.addOutput({ script: key.script, amount: total - feeOf(utxos.length) })
      tx.sign(key.privateKey)
      tx.finalize()
      utxoSet.refreshNext()
      return tx.hex
    },
    isSignedByBank: (witness) => witness?.length === 2 && witness[1] === Buffer.from(key.publicKey).toString('hex'),
  }
}

function buildTransaction(key: BitcoinKey, utxos: readonly Omit<Utxo, 'depth'>[]): Transaction {
  const tx = new Transaction({ allowUnknownOutputs: true })
  for (const { txid, vout, units } of utxos) {
    tx.addInput({ txid, index: vout, sequence, witnessUtxo: { script: key.script, amount: units } })
  }
  return tx
}

/** Selects the smallest sufficient UTXO, or else the largest ones until they suffice. */
function selectUtxos(utxos: readonly Utxo[], units: bigint): { selected: Utxo[]; fee: bigint } {
  const bySize = [...utxos].sort((a, b) => a.depth - b.depth || (a.units < b.units ? -1 : 1))
  const single = bySize.find((utxo) => utxo.units >= units + feeOf(1))
  if (single) return { selected: [single], fee: feeOf(1) }
  const selected: Utxo[] = []
  let sum = 0n
  for (const utxo of [...utxos].sort((a, b) => (a.units > b.units ? -1 : 1))) {
    selected.push(utxo)
    sum += utxo.units
    if (sum >= units + feeOf(selected.length)) return { selected, fee: feeOf(selected.length) }
  }
  throw new ControlError(409, 'BANK_IS_SHORT', `the sandbox bank has only ${formatUnits(sum, 8)}`)
}

/** How many payments to remember, because a reorg can return them to the mempool. */
const trackedPaymentsMax = 2_000

/** The bank's spendable UTXOs: scanned from the node after each block, updated from its own payments in between. */
function createUtxoSet(rpc: JsonRpc, key: BitcoinKey) {
  type Payment = Readonly<{ spends: readonly string[]; change: Utxo | null }>
  const payments = new Map<string, Payment>()
  let unconfirmed = new Map<string, Payment>()
  const toOutpoint = (utxo: { txid: string; vout: number }) => `${utxo.txid}:${utxo.vout}`
  const descriptor = `raw(${Buffer.from(key.script).toString('hex')})`
  let confirmed: Utxo[] = []
  let scannedTip = ''

  const refresh = async () => {
    const tip = (await rpc.call('getbestblockhash')) as string
    if (tip === scannedTip) return
    const scan = (await rpc.call('scantxoutset', ['start', [descriptor]])) as Scan
    const mempool = new Set((await rpc.call('getrawmempool')) as string[])
    confirmed = scan.unspents.map(({ txid, vout, amount }) => ({
      txid,
      vout,
      units: parseUnits(String(amount), 8),
      depth: 0,
    }))
    for (const txid of [...payments.keys()].slice(0, -trackedPaymentsMax)) payments.delete(txid)
    unconfirmed = new Map([...payments].filter(([txid]) => mempool.has(txid)))
    scannedTip = tip
  }

  return {
    async list(): Promise<Utxo[]> {
      await refresh()
      const spentOutpoints = new Set([...unconfirmed.values()].flatMap((payment) => payment.spends))
      const confirmedOutpoints = new Set(confirmed.map(toOutpoint))
      const change = [...unconfirmed.values()].flatMap((payment) => (payment.change ? [payment.change] : []))
      return [
        ...confirmed,
        ...change.filter((utxo) => !confirmedOutpoints.has(toOutpoint(utxo)) && utxo.depth <= unconfirmedAncestorsMax),
      ].filter((utxo) => !spentOutpoints.has(toOutpoint(utxo)))
    },
    recordPayment(txid: string, utxos: readonly Utxo[], changeUnits: bigint | null): void {
      const depth = Math.max(...utxos.map((utxo) => utxo.depth)) + utxos.filter((utxo) => utxo.depth > 0).length + 1
      const change = changeUnits === null ? null : { txid, vout: 1, units: changeUnits, depth }
      const payment = { spends: utxos.map(toOutpoint), change }
      payments.set(txid, payment)
      unconfirmed.set(txid, payment)
    },
    refreshNext(): void {
      scannedTip = ''
    },
  }
}
