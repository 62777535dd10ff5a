import { RpcError } from '@swapyard/lib/json-rpc.ts'
import { parseUnits } from '../amount.ts'
import type { JsonRpc } from '../json-rpc.ts'

type Vin = { txid?: string; vout?: number; txinwitness?: string[] }
type Vout = { value: string | number; n: number; scriptPubKey: { hex: string } }
type Transaction = { txid: string; hex: string; vin: Vin[]; vout: Vout[] }
type Scan = { unspents: { txid: string; vout: number; amount: string | number }[] }
type Outpoint = Readonly<{ txid: string; vout: number }>

const decimals = 8
const units = (value: string | number) => parseUnits(String(value), decimals)

/** What the node knows of outputs, confirmed and not. */
export function createOutputs(rpc: JsonRpc) {
  const readMempool = async (): Promise<Transaction[]> => {
    const ids = (await rpc.call('getrawmempool')) as string[]
    const found = ids.map(async (id) => (await rpc.call('getrawtransaction', [id, true])) as Transaction)
    // Mined or replaced between the two questions.
    const settled = await Promise.allSettled(found)
    return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  }

  /** Of this block and those after it, in their order. */
  const readBlocks = async (first: string): Promise<Transaction[]> => {
    const found: Transaction[] = []
    for (let hash: string | undefined = first; hash; ) {
      const block = (await rpc.call('getblock', [hash, 2])) as { tx: Transaction[]; nextblockhash?: string }
      found.push(...block.tx)
      hash = block.nextblockhash
    }
    return found
  }

  return {
    /** Bytes of what was paid in this block and in those after it, parents before children, and of what waits. */
    async paidSince(first: string): Promise<string[]> {
      const isReward = ({ vin }: Transaction) => vin[0]?.txid === undefined
      const mined = (await readBlocks(first)).filter((tx) => !isReward(tx))
      return [...mined, ...(await readMempool())].map(({ hex }) => hex)
    },

    /**
     * Of more than ten blocks Bitcoin Core puts nothing back into its pool, and drops what waited for them (validation.cpp,
     * InvalidateBlock). Twice, for what waits is in no order.
     */
    async offerAgain(paid: readonly string[]): Promise<void> {
      for (const bytes of [...paid, ...paid]) await rpc.call('sendrawtransaction', [bytes]).catch(unlessRefused)
    },

    /** Units of a script: unspent outputs in blocks and in the mempool. */
    async balance(script: string): Promise<bigint> {
      const scan = (await rpc.call('scantxoutset', ['start', [`raw(${script})`]])) as Scan
      const held = new Map(scan.unspents.map((one) => [`${one.txid}:${one.vout}`, units(one.amount)]))
      const unconfirmed = await readMempool()
      for (const tx of unconfirmed) {
        for (const { value, n, scriptPubKey } of tx.vout) {
          if (scriptPubKey.hex === script) held.set(`${tx.txid}:${n}`, units(value))
        }
      }
      for (const { vin } of unconfirmed) for (const input of vin) held.delete(`${input.txid}:${input.vout}`)
      return [...held.values()].reduce((sum, one) => sum + one, 0n)
    },

    /** What is spent in this block, in those after it and in the mempool, by inputs with such a witness. */
    async spentSince(first: string, signed: (witness: readonly string[] | undefined) => boolean): Promise<Outpoint[]> {
      return [...(await readMempool()), ...(await readBlocks(first))].flatMap(({ vin }) =>
        vin.flatMap(({ txid, vout, txinwitness }) =>
          txid !== undefined && vout !== undefined && signed(txinwitness) ? [{ txid, vout }] : [],
        ),
      )
    },

    /** Those that exist in blocks and are unspent there, with their units. */
    async unspent(outpoints: readonly Outpoint[]) {
      const calls = outpoints.map(({ txid, vout }) => ['gettxout', [txid, vout, false]] as const)
      const found = (await rpc.batch(calls)) as ({ value: string | number } | null)[]
      return outpoints.flatMap((one, at) => {
        const output = found[at]
        return output ? [{ ...one, units: units(output.value) }] : []
      })
    },
  }
}

/** In the pool already, or of a coin that is spent otherwise now. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof RpcError)) throw error
}
