import { randomBytes } from 'node:crypto'
import { RpcError } from '@swapyard/lib/json-rpc.ts'
import pLimit from 'p-limit'
import { formatUnits, parseUnits } from '../amount.ts'
import { createJsonRpc, type JsonRpc } from '../json-rpc.ts'
import { bitcoinBankKey } from '../keys.ts'
import type { LocalChain, Tip } from '../local-chain.ts'
import { Refusal } from '../refusal.ts'
import { type BitcoinTicker, createOutsideWallet, keyOf, scriptOfAddress } from './addresses.ts'
import { createBitcoinBank } from './bitcoin-bank.ts'
import { createOutputs } from './outputs.ts'

export type RunningNode = Readonly<{
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

/** The controls of one chain of the bitcoin family, in Bitcoin Core's own RPC: bcoin's wrapper and litecoind alike. */
export async function createBitcoinChain(network: BitcoinTicker, node: RunningNode): Promise<LocalChain> {
  const rpc = oneScanAtATime(createJsonRpc(node.rpcUrl))
  const key = keyOf(network, bitcoinBankKey(network))
  const exclusively = pLimit(1)
  const height = (await rpc.call('getblockcount')) as number
  if (height < preparedBlocks) await node.prepare(Buffer.from(key.script).toString('hex'), height)
  const bank = createBitcoinBank(rpc, key)
  const outputs = createOutputs(rpc)

  const tip = async (): Promise<Tip> => {
    const count = (await rpc.call('getblockcount')) as number
    return { height: count, hash: (await rpc.call('getbestblockhash')) as string }
  }

  const requireCoin = (currency: string) => {
    if (currency === 'native' || currency === network) return
    const message = `${network} has no currency "${currency.slice(0, 40)}" in the sandbox`
    throw new Refusal(404, 'CURRENCY_NOT_FOUND', message)
  }

  const mineBlocks = (count: number) => rpc.call('generatetodescriptor', [count, burn()])

  const reorganize = async (depth: number, drop: boolean): Promise<Tip> => {
    const top = (await rpc.call('getblockcount')) as number
    if (top - depth < preparedBlocks)
      throw new Refusal(409, 'REORG_TOO_DEEP', `only ${top - preparedBlocks} blocks can be replaced so far`)
    const first = (await rpc.call('getblockhash', [top - depth + 1])) as string
    const spent = drop ? await outputs.spentSince(first, bank.signed) : []
    const paid = await outputs.paidSince(first)
    await rpc.call('invalidateblock', [first])
    const conflicts = await outputs.unspent(spent)
    const raw = conflicts.length === 0 ? [] : [bank.takeBack(conflicts)]
    for (let made = 0; made <= depth; made++) await rpc.call('generateblock', [burn(), made === 0 ? raw : []])
    await outputs.offerAgain(paid)
    return tip()
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
      const script = scriptOfAddress(network, address)
      // While blocks are being replaced, coins are for a moment where they will not stay.
      return exclusively(() => bank.pay(script, units)).catch(refuse)
    },
    async balance({ currency, address }) {
      requireCoin(currency)
      const script = Buffer.from(scriptOfAddress(network, address)).toString('hex')
      return formatUnits(await exclusively(() => outputs.balance(script)), decimals)
    },
    mine: (count) =>
      exclusively(async () => {
        await mineBlocks(count)
        return tip()
      }),
    reorganize: (depth, { drop }) => exclusively(() => reorganize(depth, drop)).catch(refuse),
    waiting: async () => ((await rpc.call('getrawmempool')) as string[]).length,
    async stop() {
      await exclusively(async () => rpc.close())
      await node.stop()
    },
  }
}

/** A node refuses a second scan of its outputs while one runs. */
function oneScanAtATime(rpc: JsonRpc): JsonRpc {
  const scanning = pLimit(1)
  const call: JsonRpc['call'] = (method, params) =>
    method === 'scantxoutset' ? scanning(() => rpc.call(method, params)) : rpc.call(method, params)
  return { ...rpc, call }
}

/** Rewards go nowhere: the set of unspent outputs stays small. Random, so that two branches never have the same block. */
function burn(): string {
  return `raw(6a10${randomBytes(16).toString('hex')})`
}

function refuse(error: unknown): never {
  if (error instanceof RpcError) throw new Refusal(409, 'NODE_REFUSED', `the node refused: ${error.message}`, error)
  throw error
}
