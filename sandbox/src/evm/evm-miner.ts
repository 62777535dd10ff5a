import { type Hex, numberToHex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { ControlError } from '../control-error.ts'
import type { JsonRpc, RpcCall } from '../json-rpc.ts'
import type { Tip } from '../local-chain.ts'
import type { EvmBank } from './evm-bank.ts'
import { drainTxpool, refillTxpool } from './txpool.ts'

type Dependencies = Readonly<{ rpc: JsonRpc; baseFeeWei: bigint; bank: EvmBank }>

/** Mines and reorganises blocks. The caller must serialise the calls. */
export async function createEvmMiner({ rpc, baseFeeWei, bank }: Dependencies) {
  // A restarted node has only its latest state: a reorg cannot fork before this height.
  const startHeight = Number(await rpc.call('eth_blockNumber'))
  // The base fee of an idle chain would fall to zero (EIP-1559): set it for every block.
  const blockCalls = (): RpcCall[] => [
    ['anvil_setNextBlockBaseFeePerGas', [numberToHex(baseFeeWei)]],
    ['evm_mine', []],
  ]

  const readTip = async (): Promise<Tip> => {
    const { number, hash } = (await rpc.call('eth_getBlockByNumber', ['latest', false])) as { number: Hex; hash: Hex }
    return { height: Number(number), hash }
  }

  /** Counts pending transactions, without queued ones that wait for an earlier nonce. */
  const countPending = async (): Promise<number> =>
    Number(((await rpc.call('txpool_status')) as { pending: Hex }).pending)

  const mine = async (count: number): Promise<void> => {
    // Anvil runs the calls of a batch concurrently: with several blocks in one batch only the first would get the base
    // fee.
    for (let remaining = count; remaining > 0; remaining--) await rpc.batch(blockCalls())
  }

  const reorganize = async (depth: number): Promise<Tip> => {
    const { height } = await readTip()
    if (height - depth < startHeight) {
      const message = `depth is ${depth}; only the ${height - startHeight} blocks since the chain started can be replaced`
      throw new ControlError(409, 'REORG_TOO_DEEP', message)
    }
    const transactions = await drainTxpool(rpc)
    // A new fee recipient makes every block of the new branch differ from the old block.
    await rpc.call('anvil_setCoinbase', [privateKeyToAddress(generatePrivateKey())])
    await rpc.call('anvil_reorg', [depth, []])
    // Anvil dates the new blocks from the fork and keeps that clock offset: reset it.
    await rpc.call('evm_setTime', [Math.floor(Date.now() / 1000)])
    // Mine one empty block before the txpool is refilled, so that the new branch is longer than the old one.
    await mine(1)
    await refillTxpool(rpc, transactions, bank)
    return readTip()
  }

  return { readTip, countPending, mine, reorganize }
}
