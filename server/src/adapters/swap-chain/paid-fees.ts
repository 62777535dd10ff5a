import { swapRouter } from '@swapyard/contracts'
import { decodeEventLog, type Hex, pad, toEventSelector, zeroAddress } from 'viem'
import type { Network } from '../../core/domain/network.ts'
import type { FoundFees, PaidFee } from '../../swap/ports/swap-chain.ts'
import { nativeAddress } from '../chains/evm/native-coin.ts'
import { askEveryNode, type EvmNode, hex } from '../chains/evm/node.ts'
import { findAgreedHead } from '../chains/evm/reader.ts'
import { count, type Decode, fields, list, log } from '../chains/evm/replies.ts'
import { failureOf, refusalOf, unavailable } from '../chains/evm/rpc.ts'

const { abi, address: router } = swapRouter
const [swapped] = abi.filter((item) => item.type === 'event' && item.name === 'Swapped')
const SWAPPED = swapped?.type === 'event' ? toEventSelector(swapped) : '0x'
const LOGS_MAX = 100_000

export async function readFinalHeight(nodes: readonly EvmNode[], network: Network): Promise<number> {
  const { height } = await findAgreedHead(nodes)
  return Math.max(0, height - Math.max(network.finalityBlocks, network.confirmations) + 1)
}

type Query = Readonly<{ from: number; to: number /** The recipients of the fees. */; feeTo: readonly string[] }>

/** Reads the router's events with one query per node; halves the range if a node refuses it as too large. */
export async function listPaidFees(nodes: readonly EvmNode[], query: Query): Promise<FoundFees> {
  const { from, to, feeTo } = query
  // For a node an empty list of topics matches every event.
  if (feeTo.length === 0) return { fees: [], to }
  const [first = [], ...others] = await askEveryNode(nodes, (node) => feesOf(node, query))
  const text = textOf(first)
  // A node whose log index lags would hide fees permanently.
  if (others.some((one) => textOf(one) !== text))
    throw unavailable(`the nodes disagree about the swaps in blocks ${from} to ${to}`)
  return { fees: first, to }
}

const textOf = (fees: readonly PaidFee[]): string =>
  fees
    .map(({ hash, logIndex, token, units, ref, sender, feeTo, executor }) =>
      [hash, logIndex, token, units, ref, sender, feeTo, executor].join(),
    )
    .join()

async function feesOf(node: EvmNode, { from, to, feeTo }: Query): Promise<readonly PaidFee[]> {
  try {
    const recipients = feeTo.map((one) => pad(one as Hex))
    const topics = [SWAPPED, null, null, recipients]
    const range = { fromBlock: hex(from), toBlock: hex(to), address: router, topics }
    const events = await node.ask('eth_getLogs', [range], list(paidFee, LOGS_MAX))
    return events
      .filter((one) => one !== null)
      .filter((one) => one.units > 0n && feeTo.includes(one.feeTo))
      .sort((a, b) => a.height - b.height || a.logIndex - b.logIndex)
  } catch (error) {
    const exceedsLimit = refusalOf(error) !== null || failureOf(error)?.isTooLarge === true
    if (from === to || !exceedsLimit) throw error
    const middle = Math.floor((from + to) / 2)
    return [
      ...(await feesOf(node, { from, to: middle, feeTo })),
      ...(await feesOf(node, { from: middle + 1, to, feeTo })),
    ]
  }
}

/** Null for an event of another contract, which the query did not request. */
const paidFee: Decode<PaidFee | null> = (reply) => {
  const entry = log(reply)
  if (entry.address !== router || entry.topics[0] !== SWAPPED) return null
  const topics = [...entry.topics] as [Hex, ...Hex[]]
  const { args } = decodeEventLog({ abi, eventName: 'Swapped', topics, data: entry.data })
  return {
    hash: entry.txHash,
    logIndex: entry.index,
    height: count(fields(reply)['blockNumber']),
    ref: args.ref.toLowerCase(),
    sender: args.sender.toLowerCase(),
    token: args.tokenOut === zeroAddress ? nativeAddress : args.tokenOut.toLowerCase(),
    units: args.fee,
    feeTo: args.feeTo.toLowerCase(),
    executor: args.executor.toLowerCase(),
  }
}
