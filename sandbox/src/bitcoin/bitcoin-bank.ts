import { Transaction } from '@scure/btc-signer'
import { RpcError } from '@swapyard/lib/json-rpc.ts'
import pLimit from 'p-limit'
import { formatUnits, parseUnits } from '../amount.ts'
import type { JsonRpc } from '../json-rpc.ts'
import { Refusal } from '../refusal.ts'
import type { BitcoinKey } from './addresses.ts'

type Coin = Readonly<{
  txid: string
  vout: number
  units: bigint /** Unconfirmed transactions before it. */
  depth: number
}>

export type BitcoinBank = Readonly<{
  pay(script: Uint8Array, units: bigint): Promise<string>
  /** A transaction that pays the coins back to the bank: it conflicts with whatever spends one of them. */
  takeBack(coins: readonly { txid: string; vout: number; units: bigint }[]): string
  /** Whether the bank's key signed this input. */
  signed(witness: readonly string[] | undefined): boolean
}>

/** Units per virtual byte: ten times the least that is relayed. */
const feeRate = 10n
/** P2WPKH in virtual bytes, rounded up: input 68, output 43 (P2WSH, the largest we pay), rest 11. */
const inputBytes = 68n
const restBytes = 11n + 43n + 31n
/** Change below this stays with the fee; above every relay's dust limit (Litecoin's is the highest: 5460). */
const leastChange = 10_000n
/** Nodes refuse chains of more than 25 unconfirmed transactions. */
const deepest = 20
/** Replaceable, as most wallets' payments are (BIP-125). */
const sequence = 0xfffffffd

/** Pays from one key with many coins. Confirmed coins first; then the change of its own unconfirmed payments. */
export function createBitcoinBank(rpc: JsonRpc, key: BitcoinKey): BitcoinBank {
  const inTurn = pLimit(1)
  const purse = createPurse(rpc, key)

  const payOnce = async (script: Uint8Array, units: bigint): Promise<string> => {
    const { chosen, fee } = choose(await purse.coins(), units)
    const change = chosen.reduce((sum, coin) => sum + coin.units, 0n) - units - fee
    const tx = buildTransaction(key, chosen)
    tx.addOutput({ script, amount: units })
    if (change >= leastChange) tx.addOutput({ script: key.script, amount: change })
    tx.sign(key.privateKey)
    tx.finalize()
    await rpc.call('sendrawtransaction', [tx.hex])
    purse.spent(tx.id, chosen, change >= leastChange ? change : null)
    return tx.id
  }

  return {
    pay: (script, units) =>
      inTurn(async () => {
        try {
          return await payOnce(script, units)
        } catch (error) {
          if (!(error instanceof RpcError)) throw error
          if (error.message.includes('dust'))
            throw new Refusal(400, 'AMOUNT_TOO_SMALL', 'nodes refuse to relay so little', error)
          // A coin was not where it was thought to be (a reorg): look again, once.
          purse.forget()
          return await payOnce(script, units)
        }
      }),
    takeBack(coins) {
      const tx = buildTransaction(key, coins)
      const total = coins.reduce((sum, coin) => sum + coin.units, 0n)
      tx.addOutput({ script: key.script, amount: total - feeRate * (BigInt(coins.length) * inputBytes + restBytes) })
      tx.sign(key.privateKey)
      tx.finalize()
      purse.forget()
      return tx.hex
    },
    signed: (witness) => witness?.length === 2 && witness[1] === Buffer.from(key.publicKey).toString('hex'),
  }
}

function buildTransaction(
  key: BitcoinKey,
  coins: readonly { txid: string; vout: number; units: bigint }[],
): Transaction {
  const tx = new Transaction({ allowUnknownOutputs: true })
  for (const { txid, vout, units } of coins) {
    tx.addInput({ txid, index: vout, sequence, witnessUtxo: { script: key.script, amount: units } })
  }
  return tx
}

/** The smallest single coin that is enough, else the largest ones together. */
function choose(coins: readonly Coin[], units: bigint): { chosen: Coin[]; fee: bigint } {
  const feeOf = (count: number) => feeRate * (BigInt(count) * inputBytes + restBytes)
  const bySize = [...coins].sort((a, b) => a.depth - b.depth || (a.units < b.units ? -1 : 1))
  const single = bySize.find((coin) => coin.units >= units + feeOf(1))
  if (single) return { chosen: [single], fee: feeOf(1) }
  const chosen: Coin[] = []
  let sum = 0n
  for (const coin of [...coins].sort((a, b) => (a.units > b.units ? -1 : 1))) {
    chosen.push(coin)
    sum += coin.units
    if (sum >= units + feeOf(chosen.length)) return { chosen, fee: feeOf(chosen.length) }
  }
  throw new Refusal(409, 'BANK_IS_SHORT', `the sandbox's bank has ${formatUnits(sum, 8)} only`)
}

type Scan = { unspents: { txid: string; vout: number; amount: string | number }[] }

/** Payments that a reorganisation may make wait once more. */
const paymentsKept = 2_000

/** What the bank can spend now. Looked up again when a block has come, known from its own payments in between. */
function createPurse(rpc: JsonRpc, key: BitcoinKey) {
  type Payment = Readonly<{ spends: readonly string[]; change: Coin | null }>
  const payments = new Map<string, Payment>()
  let waiting = new Map<string, Payment>()
  const outpoint = (coin: { txid: string; vout: number }) => `${coin.txid}:${coin.vout}`
  const descriptor = `raw(${Buffer.from(key.script).toString('hex')})`
  let confirmed: Coin[] = []
  let seenTip = ''

  const refresh = async () => {
    const tip = (await rpc.call('getbestblockhash')) as string
    if (tip === seenTip) return
    const scan = (await rpc.call('scantxoutset', ['start', [descriptor]])) as Scan
    const pool = new Set((await rpc.call('getrawmempool')) as string[])
    confirmed = scan.unspents.map(({ txid, vout, amount }) => ({
      txid,
      vout,
      units: parseUnits(String(amount), 8),
      depth: 0,
    }))
    for (const txid of [...payments.keys()].slice(0, -paymentsKept)) payments.delete(txid)
    waiting = new Map([...payments].filter(([txid]) => pool.has(txid)))
    seenTip = tip
  }

  return {
    async coins(): Promise<Coin[]> {
      await refresh()
      const used = new Set([...waiting.values()].flatMap((payment) => payment.spends))
      const known = new Set(confirmed.map(outpoint))
      const change = [...waiting.values()].flatMap((payment) => (payment.change ? [payment.change] : []))
      return [...confirmed, ...change.filter((coin) => !known.has(outpoint(coin)) && coin.depth <= deepest)].filter(
        (coin) => !used.has(outpoint(coin)),
      )
    },
    spent(txid: string, coins: readonly Coin[], changeUnits: bigint | null): void {
      const depth = Math.max(...coins.map((coin) => coin.depth)) + coins.filter((coin) => coin.depth > 0).length + 1
      const change = changeUnits === null ? null : { txid, vout: 1, units: changeUnits, depth }
      const payment = { spends: coins.map(outpoint), change }
      payments.set(txid, payment)
      waiting.set(txid, payment)
    },
    forget(): void {
      seenTip = ''
    },
  }
}
