import { encodeFunctionData, type Hex, keccak256, parseAbi, toHex } from 'viem'
import type { Network } from '../../../core/domain/network.ts'
import type { FeeRate } from '../../../core/ports/chain.ts'
import { assert } from '../../../lib/assert.ts'
import { largest, smallest } from '../../../lib/bigint.ts'
import { of } from './extremes.ts'
import { type EvmNode, ethCall, askEveryNode } from './node.ts'
import { bytes, count, type Decode, fields, list, orNull, quantity } from './replies.ts'
import { refusalOf, unavailable } from './rpc.ts'

/** A lying node, or a mad hour, must not drain the wallet: wei per gas that are paid at most. */
export type FeeCaps = Readonly<{ rate: bigint; tip: bigint }>
/** Polygon has seen several thousand gwei; 500 gwei is what geth itself suggests at most as a tip. */
export const feeCaps: FeeCaps = { rate: 10_000_000_000_000n, tip: 500_000_000_000n }

const BLOCKS_LOOKED_AT = 5
const TIP_PERCENTILE = 60

/** The OP stack's price oracle: what a transaction's bytes cost on the first layer (predeploy, same on every chain). */
const L1_ORACLE = '0x420000000000000000000000000000000000000F'
const l1Oracle = parseAbi(['function getL1Fee(bytes) view returns (uint256)'])
/** A signed ERC-20 transfer has about 180 bytes. */
const SIGNED_BYTES = 200

/** The next base fee twice over (it rises at most by an eighth a block: six blocks), and the tip that gets in now. */
export async function readFeeRate(nodes: readonly EvmNode[], network: Network, caps: FeeCaps): Promise<FeeRate> {
  assert(network.evm, 'an evm network has its parameters')
  const isDynamic = network.evm.dynamicFees
  const [prices, l1Fees] = await Promise.all([
    askEveryNode(nodes, isDynamic ? dynamicPrice : legacyPrice),
    askEveryNode(nodes, l1FeeOf),
  ])
  // The dearest base keeps the transfer from being stuck and costs nothing; the tip is paid in full: the cheapest.
  const base = of(
    largest,
    prices.map((price) => price.base),
  )
  const cheapest = smallest(caps.tip, ...prices.map((price) => price.tip))
  if (base + cheapest > caps.rate) throw unavailable(`${network.id} asks for ${base + cheapest} wei per gas`)
  const rate = 2n * base + cheapest
  const l1Fee = of(largest, l1Fees)
  return { rate: smallest(rate, caps.rate), tip: cheapest, ...(l1Fee > 0n ? { l1Fee } : {}) }
}

type Price = Readonly<{ base: bigint; tip: bigint }>

async function dynamicPrice(node: EvmNode): Promise<Price> {
  const [history, suggested] = await Promise.all([
    node.ask('eth_feeHistory', [toHex(BLOCKS_LOOKED_AT), 'latest', [TIP_PERCENTILE]], feeHistory),
    node.ask('eth_maxPriorityFeePerGas', [], quantity).catch((error: unknown) => {
      // Not every network has this method; its silence is another matter.
      if (refusalOf(error) === null) throw error
      return 0n
    }),
  ])
  return { base: history.base, tip: largest(suggested, history.tip) }
}

async function legacyPrice(node: EvmNode): Promise<Price> {
  const price = await node.ask('eth_gasPrice', [], quantity)
  // Half of it counts as base, so that twice the base is the price with a quarter more.
  return { base: (price * 5n) / 8n, tip: 0n }
}

/** Base fee of the next block, and the median of what the blocks that were not empty gave as tips. */
const feeHistory: Decode<{ base: bigint; tip: bigint }> = (reply) => {
  const history = fields(reply)
  count(history['oldestBlock'])
  const bases = list(quantity)(history['baseFeePerGas'])
  const rewards = orNull(list(list(quantity)))(history['reward']) ?? []
  const tips = rewards.flatMap((block) => block.slice(0, 1)).filter((tip) => tip > 0n)
  tips.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return { base: bases.at(-1) ?? 0n, tip: tips[tips.length >> 1] ?? 0n }
}

/** 0 where there is no oracle. Half more than it says: the first layer's own base fee moves until we are in. */
const l1FeeOf = (node: EvmNode): Promise<bigint> => l1FeeOfBytes(node, incompressible(SIGNED_BYTES))

/** The same for a transaction of these bytes. */
export async function l1FeeOfBytes(node: EvmNode, raw: Hex): Promise<bigint> {
  const code = await node.ask('eth_getCode', [L1_ORACLE, 'latest'], bytes)
  if (code === '0x') return 0n
  const call = encodeFunctionData({ abi: l1Oracle, functionName: 'getL1Fee', args: [raw] })
  const fee = await ethCall(node, { to: L1_ORACLE, data: call }, 'latest')
  return fee.length === 66 ? (BigInt(fee) * 3n) / 2n : 0n
}

/** The oracle prices bytes after compression: these don't compress, as signatures and addresses don't. */
function incompressible(bytes: number): Hex {
  let text = ''
  for (let n = 0; text.length < 2 * bytes; n++) text += keccak256(toHex(n)).slice(2)
  return `0x${text.slice(0, 2 * bytes)}`
}
