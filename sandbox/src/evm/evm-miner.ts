import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { ControlError } from '../control-error.ts'
import type { JsonRpc, RpcCall } from '../json-rpc.ts'
import type { Tip } from '../local-chain.ts'
import type { EvmBank } from './evm-bank.ts'
import { drainTxpool, refillTxpool } from './txpool.ts'

type Dependencies = Readonly<{ rpc: JsonRpc; baseFeeWei: bigint; bank: EvmBank }>

/** Makes blocks and takes them back. Its caller sees to it that only one of these runs at a time. */
export async function createEvmMiner({ rpc, baseFeeWei, bank }: Dependencies) {
  // A node that was started again knows the newest state only: the branch point can't lie before it.
  const startHeight = Number(await rpc.call('eth_blockNumber'))
  // Without its base fee being set, a quiet chain's would fall to nothing.
  const blockCalls = (): RpcCall[] => [
    ['anvil_setNextBlockBaseFeePerGas', [`0x${baseFeeWei.toString(16)}`]],
    ['evm_mine', []],
  ]

  const readTip = async (): Promise<Tip> => {
    const { number, hash } = (await rpc.call('eth_getBlockByNumber', ['latest', false])) as { number: Hex; hash: Hex }
    return { height: Number(number), hash }
  }

  /** Not those that wait for an earlier nonce. */
  const countPending = async (): Promise<number> =>
    Number(((await rpc.call('txpool_status')) as { pending: Hex }).pending)

  const mine = async (count: number): Promise<void> => {
    // The node does all of a batch at once: of more blocks than one, only the first would have the fee.
    for (let remaining = count; remaining > 0; remaining--) await rpc.batch(blockCalls())
  }

  const reorganize = async (depth: number): Promise<Tip> => {
    const { height } = await readTip()
    if (height - depth < startHeight) {
      const message = `only the ${height - startHeight} blocks since the chain was started can be replaced`
      throw new ControlError(409, 'REORG_TOO_DEEP', message)
    }
    const transactions = await drainTxpool(rpc)
    // A new beneficiary makes every block of the new branch differ from the old one's.
    await rpc.call('anvil_setCoinbase', [privateKeyToAddress(generatePrivateKey())])
    await rpc.call('anvil_reorg', [depth, []])
    // The new blocks are dated from the fork on, and the node keeps that difference.
    await rpc.call('evm_setTime', [Math.floor(Date.now() / 1000)])
    // Before the others come back: the branch is longer than the old one, and holds nothing.
    await mine(1)
    await refillTxpool(rpc, transactions, bank)
    return readTip()
  }

  return { readTip, countPending, mine, reorganize }
}
