import { randomBytes } from 'node:crypto'
import pLimit from 'p-limit'
import { formatUnits, parseUnits } from '../amount.ts'
import { ControlError, requireNativeCurrency, requireReorgDepth } from '../control-error.ts'
import { createJsonRpc, type JsonRpc, rethrowRpcError } from '../json-rpc.ts'
import { bitcoinBankKey } from '../keys.ts'
import type { LocalChain, Tip } from '../local-chain.ts'
import { type BitcoinTicker, createExternalWallet, keyOf, scriptOfAddress } from './addresses.ts'
import { createBitcoinBank } from './bitcoin-bank.ts'
import { createOutputReader } from './outputs.ts'

export type RunningNode = Readonly<{
  client: string
  rpcUrl: string
  /** Mines the missing initial blocks with past timestamps, so that the chain's time is not ahead of the clock. */
  mineInitialBlocks(bankScript: string, height: number): Promise<void>
  stop(): Promise<void>
}>

/** Segwit activates at height 432. Rewards of these blocks go to the bank; 101 more blocks make them mature. */
export const bankRewardBlocks = 440
export const initialBlocks = bankRewardBlocks + 101
const decimals = 8

/** A LocalChain over Bitcoin Core's RPC, which litecoind and the bcoin wrapper both serve. */
export async function createBitcoinChain(network: BitcoinTicker, node: RunningNode): Promise<LocalChain> {
  const rpc = serializeScans(createJsonRpc(node.rpcUrl))
  const key = keyOf(network, bitcoinBankKey(network))
  const runExclusive = pLimit(1)
  const height = (await rpc.call('getblockcount')) as number
  if (height < initialBlocks) await node.mineInitialBlocks(Buffer.from(key.script).toString('hex'), height)
  const bank = createBitcoinBank(rpc, key)
  const outputs = createOutputReader(rpc)

  const mineBlocks = (count: number) => rpc.call('generatetodescriptor', [count, createBurnDescriptor()])

  const reorganize = async (depth: number, drop: boolean): Promise<Tip> => {
    const tipHeight = (await rpc.call('getblockcount')) as number
    requireReorgDepth(depth, tipHeight - initialBlocks)
    const firstHash = (await rpc.call('getblockhash', [tipHeight - depth + 1])) as string
    const bankInputs = drop ? await outputs.findInputsSince(firstHash, bank.isSignedByBank) : []
    const transactions = await outputs.readTransactionsSince(firstHash)
    await rpc.call('invalidateblock', [firstHash])
    const unspentInputs = await outputs.findUnspent(bankInputs)
    const conflicting = unspentInputs.length === 0 ? [] : [bank.buildConflict(unspentInputs)]
    for (let mined = 0; mined <= depth; mined++)
      await rpc.call('generateblock', [createBurnDescriptor(), mined === 0 ? conflicting : []])
    await outputs.rebroadcast(transactions)
    return readTip(rpc)
  }

  return {
    network,
    family: 'bitcoin',
    client: node.client,
    rpcUrls: [node.rpcUrl],
    tokens: {},
    createWallet: () => createExternalWallet(network),
    async deposit({ currency, address, amount }) {
      requireNativeCurrency(network, currency)
      const units = parseUnits(amount, decimals)
      if (units === 0n) throw new ControlError(400, 'AMOUNT_TOO_SMALL', 'the amount is zero')
      const script = scriptOfAddress(network, address)
      // Never during a reorg: UTXOs change until it is complete.
      return runExclusive(() => bank.pay(script, units)).catch(rethrowRpcError)
    },
    async readBalance({ currency, address }) {
      requireNativeCurrency(network, currency)
      const script = Buffer.from(scriptOfAddress(network, address)).toString('hex')
      return formatUnits(await runExclusive(() => outputs.readBalance(script)), decimals)
    },
    mine: (count) =>
      runExclusive(async () => {
        await mineBlocks(count)
        return readTip(rpc)
      }),
    reorganize: (depth, { drop }) => runExclusive(() => reorganize(depth, drop)).catch(rethrowRpcError),
    countPending: async () => ((await rpc.call('getrawmempool')) as string[]).length,
    async stop() {
      await runExclusive(async () => rpc.close())
      await node.stop()
    },
  }
}

async function readTip(rpc: JsonRpc): Promise<Tip> {
  const height = (await rpc.call('getblockcount')) as number
  return { height, hash: (await rpc.call('getbestblockhash')) as string }
}

/** Runs one `scantxoutset` at a time: nodes reject a second one. */
function serializeScans(rpc: JsonRpc): JsonRpc {
  const runExclusive = pLimit(1)
  const call: JsonRpc['call'] = (method, params) =>
    method === 'scantxoutset' ? runExclusive(() => rpc.call(method, params)) : rpc.call(method, params)
  return { ...rpc, call }
}

/** Burns block rewards, so that the UTXO set stays small. Random, so that two branches never have the same block. */
function createBurnDescriptor(): string {
  return `raw(6a10${randomBytes(16).toString('hex')})`
}
