import { RpcError } from '@swapyard/lib/json-rpc.ts'
import { parseUnits } from '../amount.ts'
import type { JsonRpc } from '../json-rpc.ts'

type Vin = { txid?: string; vout?: number; txinwitness?: string[] }
type Vout = { value: string | number; n: number; scriptPubKey: { hex: string } }
type Transaction = { txid: string; hex: string; vin: Vin[]; vout: Vout[] }
/** The result of `scantxoutset`. */
export type Scan = { unspents: { txid: string; vout: number; amount: string | number }[] }
type Outpoint = Readonly<{ txid: string; vout: number }>

const decimals = 8
const units = (value: string | number) => parseUnits(String(value), decimals)

/** Reads confirmed and unconfirmed outputs from the node. */
export function createOutputReader(rpc: JsonRpc) {
  const readMempool = async (): Promise<Transaction[]> => {
    const ids = (await rpc.call('getrawmempool')) as string[]
    const requests = ids.map(async (id) => (await rpc.call('getrawtransaction', [id, true])) as Transaction)
    // A transaction may be mined or replaced between the two calls.
    const results = await Promise.allSettled(requests)
    return results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  }

  return {
    /** Raw transactions since this block, then those in the mempool. Parents come before children within the blocks. */
    async readTransactionsSince(first: string): Promise<string[]> {
      const isReward = ({ vin }: Transaction) => vin[0]?.txid === undefined
      const confirmed = (await readBlocks(rpc, first)).filter((tx) => !isReward(tx))
      return [...confirmed, ...(await readMempool())].map(({ hex }) => hex)
    },

    /**
     * After more than ten disconnected blocks Bitcoin Core returns no transactions to the mempool and drops their
     * descendants (validation.cpp, InvalidateBlock). Sends everything twice, because the mempool's part is not sorted.
     */
    async rebroadcast(transactions: readonly string[]): Promise<void> {
      for (const bytes of [...transactions, ...transactions])
        await rpc.call('sendrawtransaction', [bytes]).catch(ignoreRpcError)
    },

    /** Sums the unspent outputs of a script, in blocks and in the mempool. */
    async readBalance(script: string): Promise<bigint> {
      const scan = (await rpc.call('scantxoutset', ['start', [`raw(${script})`]])) as Scan
      const unspent = new Map(scan.unspents.map((one) => [`${one.txid}:${one.vout}`, units(one.amount)]))
      const unconfirmed = await readMempool()
      for (const tx of unconfirmed) {
        for (const { value, n, scriptPubKey } of tx.vout) {
          if (scriptPubKey.hex === script) unspent.set(`${tx.txid}:${n}`, units(value))
        }
      }
      for (const { vin } of unconfirmed) for (const input of vin) unspent.delete(`${input.txid}:${input.vout}`)
      return [...unspent.values()].reduce((sum, one) => sum + one, 0n)
    },

    /** Outpoints spent since this block or in the mempool by inputs whose witness matches. */
    async findInputsSince(
      first: string,
      isSigned: (witness: readonly string[] | undefined) => boolean,
    ): Promise<Outpoint[]> {
      return [...(await readMempool()), ...(await readBlocks(rpc, first))].flatMap(({ vin }) =>
        vin.flatMap(({ txid, vout, txinwitness }) =>
          txid !== undefined && vout !== undefined && isSigned(txinwitness) ? [{ txid, vout }] : [],
        ),
      )
    },

    /** The outpoints that are confirmed and unspent, with their units. */
    async findUnspent(outpoints: readonly Outpoint[]) {
      const calls = outpoints.map(({ txid, vout }) => ['gettxout', [txid, vout, false]] as const)
      const outputs = (await rpc.batch(calls)) as ({ value: string | number } | null)[]
      return outpoints.flatMap((one, index) => {
        const output = outputs[index]
        return output ? [{ ...one, units: units(output.value) }] : []
      })
    },
  }
}

/** Transactions of this block and the blocks after it, in chain order. */
async function readBlocks(rpc: JsonRpc, first: string): Promise<Transaction[]> {
  const transactions: Transaction[] = []
  for (let hash: string | undefined = first; hash; ) {
    const block = (await rpc.call('getblock', [hash, 2])) as { tx: Transaction[]; nextblockhash?: string }
    transactions.push(...block.tx)
    hash = block.nextblockhash
  }
  return transactions
}

/** The transaction is already in the mempool, or a conflicting one has spent its inputs. */
function ignoreRpcError(error: unknown): void {
  if (!(error instanceof RpcError)) throw error
}
