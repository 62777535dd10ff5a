import { randomBytes } from 'node:crypto'
import { formatUnits, parseUnits } from '../amount.ts'
import { createJsonRpc, RpcError } from '../json-rpc.ts'
import { bitcoinBankKey } from '../keys.ts'
import type { LocalChain, Tip } from '../local-chain.ts'
import { createMutex } from '../mutex.ts'
import { Refusal } from '../refusal.ts'
import { type BitcoinTicker, createOutsideWallet, keyOf, scriptOfAddress } from './addresses.ts'
import { createBitcoinBank } from './bitcoin-bank.ts'

export type BitcoinNodeProcess = Readonly<{
  client: string
  rpcUrl: string
  /** Mines the first blocks that are missing, some time back, so that the chain's clock is not ahead of ours. */
  prepare(bankScript: string, height: number): Promise<void>
  stop(): Promise<void>
}>

/** Segwit is active from 432 on; the rewards of the first blocks are the bank's, the last hundred make them mature. */
export const bankBlocks = 440
export const preparedBlocks = bankBlocks + 101
const decimals = 8

type Vin = { txid?: string; vout?: number; txinwitness?: string[] }
type Transaction = {
  txid: string
  vin: Vin[]
  vout: { value: string | number; n: number; scriptPubKey: { hex: string } }[]
}

/** The controls of one chain of the bitcoin family, in Bitcoin Core's own RPC: bcoin's wrapper and litecoind alike. */
export async function createBitcoinChain(network: BitcoinTicker, node: BitcoinNodeProcess): Promise<LocalChain> {
  const rpc = createJsonRpc(node.rpcUrl)
  const key = keyOf(network, bitcoinBankKey(network))
  const exclusively = createMutex()
  // The node refuses a second scan of the outputs while one runs.
  const scanning = createMutex()
  const height = (await rpc.call('getblockcount')) as number
  if (height < preparedBlocks) await node.prepare(Buffer.from(key.script).toString('hex'), height)
  const bank = createBitcoinBank(
    {
      ...rpc,
      call: (method, params) =>
        method === 'scantxoutset' ? scanning(() => rpc.call(method, params)) : rpc.call(method, params),
    },
    key,
  )

  const tip = async (): Promise<Tip> => {
    const height = (await rpc.call('getblockcount')) as number
    return { height, hash: (await rpc.call('getbestblockhash')) as string }
  }

  const requireCoin = (currency: string) => {
    if (currency === 'native' || currency === network) return
    throw new Refusal(404, 'CURRENCY_NOT_FOUND', `${network} has no currency "${currency.slice(0, 40)}" in the sandbox`)
  }

  const mineBlocks = (count: number) => rpc.call('generatetodescriptor', [count, burn()])

  const reorganize = async (depth: number, drop: boolean): Promise<Tip> => {
    const height = (await rpc.call('getblockcount')) as number
    if (height - depth < preparedBlocks) {
      throw new Refusal(409, 'REORG_TOO_DEEP', `only ${height - preparedBlocks} blocks can be replaced so far`)
    }
    const first = (await rpc.call('getblockhash', [height - depth + 1])) as string
    const spent = drop ? await listBankInputs(first) : []
    await rpc.call('invalidateblock', [first])
    const conflicts = spent.length === 0 ? [] : await findUnspent(spent)
    const raw = conflicts.length === 0 ? [] : [bank.takeBack(conflicts)]
    for (let made = 0; made <= depth; made++) await rpc.call('generateblock', [burn(), made === 0 ? raw : []])
    return tip()
  }

  /** What the bank's transactions from this block on, and its unconfirmed ones, spend. */
  const listBankInputs = async (first: string): Promise<Vin[]> => {
    const found: Transaction[] = await readMempool()
    for (let hash: string | undefined = first; hash; ) {
      const block = (await rpc.call('getblock', [hash, 2])) as { tx: Transaction[]; nextblockhash?: string }
      found.push(...block.tx)
      hash = block.nextblockhash
    }
    return found.flatMap((tx) => tx.vin.filter((input) => input.txid !== undefined && bank.signed(input.txinwitness)))
  }

  const findUnspent = async (inputs: readonly Vin[]) => {
    const outputs = await rpc.batch(inputs.map(({ txid, vout }) => ['gettxout', [txid, vout, false]] as const))
    return inputs.flatMap(({ txid, vout }, at) => {
      const output = outputs[at] as { value: string | number } | null
      if (!output || txid === undefined || vout === undefined) return []
      return [{ txid, vout, units: parseUnits(String(output.value), decimals) }]
    })
  }

  const readMempool = async (): Promise<Transaction[]> => {
    const ids = (await rpc.call('getrawmempool')) as string[]
    const found = ids.map(async (id) => (await rpc.call('getrawtransaction', [id, true])) as Transaction)
    // Mined or replaced between the two questions.
    const settled = await Promise.allSettled(found)
    return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  }

  const balance = async (script: string): Promise<bigint> => {
    type Scan = { unspents: { txid: string; vout: number; amount: string | number }[] }
    const scan = (await scanning(() => rpc.call('scantxoutset', ['start', [`raw(${script})`]]))) as Scan
    const held = new Map(
      scan.unspents.map((one) => [`${one.txid}:${one.vout}`, parseUnits(String(one.amount), decimals)]),
    )
    const unconfirmed = await readMempool()
    for (const tx of unconfirmed) {
      for (const { value, n, scriptPubKey } of tx.vout) {
        if (scriptPubKey.hex === script) held.set(`${tx.txid}:${n}`, parseUnits(String(value), decimals))
      }
    }
    for (const { vin } of unconfirmed) for (const input of vin) held.delete(`${input.txid}:${input.vout}`)
    return [...held.values()].reduce((sum, units) => sum + units, 0n)
  }

  return {
    network,
    family: 'bitcoin',
    client: node.client,
    rpcUrls: [node.rpcUrl],
    tokens: {},
    createWallet: () => createOutsideWallet(network),
    async deposit({ currency, address, amount }) {
      requireCoin(currency)
      const units = parseUnits(amount, decimals)
      if (units === 0n) throw new Refusal(400, 'AMOUNT_TOO_SMALL', 'the amount is zero')
      return bank.pay(scriptOfAddress(network, address), units).catch(refuse)
    },
    async balance({ currency, address }) {
      requireCoin(currency)
      const script = Buffer.from(scriptOfAddress(network, address)).toString('hex')
      return formatUnits(await exclusively(() => balance(script)), decimals)
    },
    mine: (count) =>
      exclusively(async () => {
        await mineBlocks(count)
        return tip()
      }),
    reorganize: (depth, { drop }) => exclusively(() => reorganize(depth, drop)).catch(refuse),
    tick: () =>
      exclusively(async () => {
        const waiting = (await rpc.call('getrawmempool')) as string[]
        await mineBlocks(1)
        return waiting.length
      }),
    async stop() {
      await exclusively(async () => rpc.close())
      await node.stop()
    },
  }
}

/** Rewards go nowhere: the set of unspent outputs stays small. Random, so that two branches never have the same block. */
function burn(): string {
  return `raw(6a10${randomBytes(16).toString('hex')})`
}

function refuse(error: unknown): never {
  if (error instanceof RpcError) throw new Refusal(409, 'NODE_REFUSED', `the node refused: ${error.message}`, error)
  throw error
}
