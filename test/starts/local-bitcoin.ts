import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Address, NETWORK, OutScript, p2wpkh, Transaction } from '@scure/btc-signer'
import { pubECDSA, randomPrivateKeyBytes } from '@scure/btc-signer/utils.js'
import { freePort } from '@swapyard/lib/free-port.ts'
import { createJsonRpc, unwrapAnswer } from '@swapyard/lib/json-rpc.ts'
import { startBcoin } from '../../sandbox/src/bitcoin/nodes.ts'
import { type FaultyNode, startFaultyNode } from '../../server/test/adapters/chains/evm/faulty-node.ts'

const FEE_UNITS = 20_000n
/** The reward of a block of this chain's first halving period. */
const REWARD_UNITS = 50n * 10n ** 8n
/** BTC per 1000 virtual bytes. A local chain has no blocks from which a node could estimate it. */
const FEE_RATE = { feerate: 0.0001, blocks: 2 }

/** A local Bitcoin chain, and two endpoints in front of its node. Addresses are those of the main network: scripts are the same on both. */
export type LocalBitcoin = Readonly<{
  endpoints: readonly [FaultyNode, FaultyNode]
  mine(count: number): Promise<void>
  head(): Promise<Readonly<{ height: number; hash: string }>>
  /** Pays the units from a mined reward as output 0, and mines the payment. Returns its hash. */
  pay(address: string, units: bigint): Promise<string>
  /** Unspent units of an address, in blocks. */
  unspent(address: string): Promise<bigint>
  stop(): Promise<void>
}>

const scriptOf = (address: string) => OutScript.encode(Address(NETWORK).decode(address))
const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

export async function startLocalBitcoin(): Promise<LocalBitcoin> {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-local-bitcoin-'))
  const node = await startBcoin(folder, await freePort())
  const rpc = createJsonRpc({ url: node.rpcUrl })
  const call = async (method: string, ...params: readonly unknown[]) =>
    unwrapAnswer(method, await rpc.call(method, params)) as never
  const key = randomPrivateKeyBytes()
  const wallet = p2wpkh(pubECDSA(key), NETWORK)
  await node.mineInitialBlocks(toHex(wallet.script), 0)
  const estimate = () => ({ result: FEE_RATE })
  const endpoints = [await startFaultyNode(node.rpcUrl), await startFaultyNode(node.rpcUrl)] as const
  for (const endpoint of endpoints)
    endpoint.set(({ method }) => (method === 'estimatesmartfee' ? estimate() : undefined))
  const mine = (count: number) => call('generatetodescriptor', count, 'raw(6a00)')
  let nextReward = 1
  return {
    endpoints,
    mine,
    async head() {
      const height = await call('getblockcount')
      return { height, hash: await call('getblockhash', height) }
    },
    async pay(address, units) {
      const { tx } = (await call('getblock', await call('getblockhash', nextReward++), 1)) as { tx: string[] }
      const transaction = new Transaction()
      const witnessUtxo = { script: wallet.script, amount: REWARD_UNITS }
      transaction.addInput({ txid: tx[0] ?? '', index: 0, sequence: 0xffffffff, witnessUtxo })
      transaction.addOutput({ script: scriptOf(address), amount: units })
      transaction.addOutput({ script: wallet.script, amount: REWARD_UNITS - units - FEE_UNITS })
      transaction.sign(key)
      transaction.finalize()
      await call('sendrawtransaction', transaction.hex)
      await mine(1)
      return transaction.id
    },
    async unspent(address) {
      const found = (await call('scantxoutset', 'start', [`raw(${toHex(scriptOf(address))})`])) as {
        total_amount: number | string
      }
      return BigInt(Math.round(Number(found.total_amount) * 1e8))
    },
    async stop() {
      await Promise.all(endpoints.map((endpoint) => endpoint.stop()))
      await rpc.close()
      await node.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
