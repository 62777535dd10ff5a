import { encodeFunctionData, type Hex, keccak256, parseAbi, toHex } from 'viem'
import type { Asset } from '../../../core/domain/asset.ts'
import type { Network } from '../../../core/domain/network.ts'
import { type FeeRate, sweepRate } from '../../../core/ports/chain.ts'
import { assert } from '../../../lib/assert.ts'
import { largest, smallest } from '../../../lib/bigint.ts'
import { maxOf, minOf } from '../shared/min-max.ts'
import { askEveryNode, type EvmNode, ethCall } from './node.ts'
import { bytes, count, type Decode, fields, list, orNull, quantity } from './replies.ts'
import { isRevert, refusalOf, unavailable } from './rpc.ts'

/** Maximum wei per gas, so that a lying node or a fee spike cannot drain the wallet. */
export type FeeCaps = Readonly<{ rate: bigint; tip: bigint }>
const GWEI = 10n ** 9n
/**
 * The highest fee rates of each network, in gwei: several times the worst that it has had. A plain transfer at the cap costs
 * about 0.02 ETH on Ethereum and 0.2 POL on Polygon, which has reached several thousand gwei.
 */
const capsGwei: Readonly<Record<string, bigint>> = {
  eth: 1_000n,
  arbitrum: 100n,
  base: 100n,
  bsc: 100n,
  cchain: 2_000n,
  celo: 1_000n,
  linea: 100n,
  matic: 10_000n,
  op: 100n,
  sei: 1_000n,
  sonic: 5_000n,
  uni: 100n,
}
/** geth's own limit for a suggested tip. */
const TIP_MAX_GWEI = 500n

/** The caps of a network; of one without an own cap those of Ethereum. */
export function feeCapsOf({ id }: Pick<Network, 'id'>): FeeCaps {
  const rate = capsGwei[id] ?? 1_000n
  return { rate: rate * GWEI, tip: smallest(rate, TIP_MAX_GWEI) * GWEI }
}

/** Typical gas of a payout with a margin of 20 %: a native transfer takes 21 000, a token transfer about 65 000. */
const TYPICAL_GAS = { native: 25_200n, token: 78_000n }
const FEE_HISTORY_BLOCKS = 5
const TIP_PERCENTILE = 60

/** The OP stack's GasPriceOracle, a predeploy with the same address on every chain: the fees beside gas. */
const ORACLE = '0x420000000000000000000000000000000000000F'
const oracle = parseAbi([
  'function getL1Fee(bytes) view returns (uint256)',
  'function getOperatorFee(uint256) view returns (uint256)',
])
/** A signed ERC-20 transfer has about 180 bytes. */
const SIGNED_BYTES = 200

export function typicalFee(asset: Pick<Asset, 'contract'>, fee: FeeRate): bigint {
  return (asset.contract === null ? TYPICAL_GAS.native : TYPICAL_GAS.token) * fee.rate + (fee.l1Fee ?? 0n)
}

/** Bringing a deposit to the hot wallet: its sweep, and for a token the supply of the sweep's gas. */
export function depositFee(asset: Asset, fee: FeeRate): bigint {
  const rate = sweepRate(fee)
  const l1Fee = fee.l1Fee ?? 0n
  if (asset.contract === null) return TYPICAL_GAS.native * rate + l1Fee
  return (TYPICAL_GAS.native + TYPICAL_GAS.token) * rate + 2n * l1Fee
}

/** Twice the next base fee, which covers six blocks of maximum increase (12.5 % each), plus the current tip. */
export async function readFeeRate(nodes: readonly EvmNode[], network: Network, caps: FeeCaps): Promise<FeeRate> {
  return feeRateOf(await askEveryNode(nodes, (node) => readPrice(node, network)), network, caps)
}

/** A node's price counts up to this multiple of what another node says: in six blocks the base fee doubles. */
const AGREED_MULTIPLE = 2n
/** Nodes whose prices differ by more than this factor contradict each other. */
const CONTRADICTING_MULTIPLE = 20n

/**
 * As `readFeeRate`, from the prices of the nodes that answered. With two of them no node can raise the fee far above what the other one
 * says; with one alone only the caps bound it.
 */
export function agreeOnFeeRate(prices: readonly Price[], network: Network, caps: FeeCaps): FeeRate {
  const least = minOf(prices.map(({ base }) => base))
  if (maxOf(prices.map(({ base }) => base)) > CONTRADICTING_MULTIPLE * largest(least, 1n))
    throw unavailable(`the nodes of ${network.id} contradict each other about the base fee`)
  const limit = largest(AGREED_MULTIPLE * least, 1n)
  const leastL1Fee = minOf(prices.map(({ l1Fee }) => l1Fee))
  const agreed = prices.map(({ base, tip, l1Fee }) => ({
    tip,
    base: smallest(base, limit),
    l1Fee: smallest(l1Fee, AGREED_MULTIPLE * leastL1Fee),
  }))
  return feeRateOf(agreed, network, caps)
}

function feeRateOf(prices: readonly Price[], { id, evm }: Network, caps: FeeCaps): FeeRate {
  // The highest base fee avoids a stuck transfer; unused base fee is not charged. The tip is charged in full: the lowest.
  const base = maxOf(prices.map((price) => price.base))
  const tip = smallest(caps.tip, ...prices.map((price) => price.tip))
  if (base + tip > caps.rate)
    throw unavailable(`the fee rate of ${id} is ${base + tip} wei per gas, above the limit of ${caps.rate}`)
  const l1Fee = maxOf(prices.map((price) => price.l1Fee))
  // Without EIP-1559 the price has no base fee: `readLegacyPrice` states 5/8 of it.
  const least = evm?.dynamicFees === false ? (base * 8n) / 5n : base + tip
  return { rate: smallest(2n * base + tip, caps.rate), tip, least, ...(l1Fee > 0n ? { l1Fee } : {}) }
}

export async function readPrice(node: EvmNode, { evm }: Network): Promise<Price> {
  assert(evm, 'an evm network has its parameters')
  const [price, l1Fee] = await Promise.all([
    evm.dynamicFees ? readDynamicPrice(node) : readLegacyPrice(node),
    readTypicalRollupFee(node),
  ])
  return { ...price, l1Fee }
}

type Price = Readonly<{ base: bigint; tip: bigint; l1Fee: bigint }>

async function readDynamicPrice(node: EvmNode): Promise<Omit<Price, 'l1Fee'>> {
  const [history, suggested] = await Promise.all([
    node.ask('eth_feeHistory', [toHex(FEE_HISTORY_BLOCKS), 'latest', [TIP_PERCENTILE]], feeHistory),
    node.ask('eth_maxPriorityFeePerGas', [], quantity).catch((error: unknown) => {
      // Some networks lack this method. A missing answer still fails.
      if (refusalOf(error) === null) throw error
      return 0n
    }),
  ])
  return { base: history.base, tip: largest(suggested, history.tip) }
}

async function readLegacyPrice(node: EvmNode): Promise<Omit<Price, 'l1Fee'>> {
  const price = await node.ask('eth_gasPrice', [], quantity)
  // 5/8 of the price as base fee: `readFeeRate` doubles it to 125 % of the price.
  return { base: (price * 5n) / 8n, tip: 0n }
}

/** The base fee of the next block, and the median tip of the non-empty blocks. */
const feeHistory: Decode<{ base: bigint; tip: bigint }> = (reply) => {
  const history = fields(reply)
  count(history['oldestBlock'])
  const bases = list(quantity)(history['baseFeePerGas'])
  const rewards = orNull(list(list(quantity)))(history['reward']) ?? []
  const tips = rewards.flatMap((block) => block.slice(0, 1)).filter((tip) => tip > 0n)
  tips.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return { base: bases.at(-1) ?? 0n, tip: tips[tips.length >> 1] ?? 0n }
}

const readTypicalRollupFee = (node: EvmNode): Promise<bigint> =>
  readRollupFee(node, incompressible(SIGNED_BYTES), TYPICAL_GAS.token)

/**
 * What the OP stack charges beside gas for a transaction with these bytes and gas limit: 150 % of the fee of layer 1, whose
 * base fee may rise, and the operator's fee, which Isthmus added. 0 without an oracle.
 */
export async function readRollupFee(node: EvmNode, raw: Hex, gas: bigint): Promise<bigint> {
  const code = await node.ask('eth_getCode', [ORACLE, 'latest'], bytes)
  if (code === '0x') return 0n
  const ask = (data: Hex) => ethCall(node, { to: ORACLE, data }, 'latest')
  const [l1Fee, operatorFee] = await Promise.all([
    ask(encodeFunctionData({ abi: oracle, functionName: 'getL1Fee', args: [raw] })),
    ask(encodeFunctionData({ abi: oracle, functionName: 'getOperatorFee', args: [gas] })).catch((error: unknown) => {
      const refusal = refusalOf(error)
      if (refusal === null || !isRevert(refusal)) throw error
      return '0x' as const
    }),
  ])
  return (wordOf(l1Fee) * 3n) / 2n + wordOf(operatorFee)
}

const wordOf = (answer: Hex): bigint => (answer.length === 66 ? BigInt(answer) : 0n)

/** The oracle charges compressed bytes. Signatures and addresses are incompressible, so the sample is, too. */
function incompressible(bytes: number): Hex {
  let text = ''
  for (let n = 0; text.length < 2 * bytes; n++) text += keccak256(toHex(n)).slice(2)
  return `0x${text.slice(0, 2 * bytes)}`
}
