import { callNode, findNode } from '../support/nodes.ts'
import type { Json } from '../support/scenario.ts'
import { findNativeAsset, type Movement, toEvmHolder } from './movements.ts'

/** ERC-20: keccak256 of `Transfer(address,address,uint256)`. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** The sender in the event of a token that is created. It is no holder. */
const ZERO_ADDRESS = toEvmHolder('0x0000000000000000000000000000000000000000')
/** Calldata of a plain `transfer(address,uint256)`. The reader takes recipient and amount from the event instead. */
const TRANSFER_CALL = /^0xa9059cbb[0-9a-f]{128}$/

/** Reads every payment in the blocks above `after`: native currency from transactions, tokens from Transfer events. */
export async function readEvm(network: string, after: number): Promise<readonly Movement[]> {
  const top = Number(await callNode(network, 'eth_blockNumber'))
  const toHex = (height: number) => `0x${height.toString(16)}`
  const filter = { fromBlock: toHex(after + 1), toBlock: toHex(top), topics: [TRANSFER] }
  const transfers: Json[] = await callNode(network, 'eth_getLogs', [filter])
  const tickers = new Map(
    Object.entries(findNode(network).tokens).map(([ticker, address]) => [address.toLowerCase(), ticker]),
  )
  const asset = findNativeAsset(network)
  const movements: Movement[] = []
  for (let height = after + 1; height <= top; height++) {
    const block = await callNode(network, 'eth_getBlockByNumber', [toHex(height), true])
    for (const { hash, from, to, value, input } of block.transactions) {
      const common = { network, txHash: hash, height, time: Number(block.timestamp), keys: [] }
      const payloads = input.length > 2 && !TRANSFER_CALL.test(input) ? [input.slice(2)] : []
      const native = { asset, units: BigInt(value) }
      const pays = native.units > 0n && to !== null
      movements.push({
        ...common,
        from: pays ? [{ ...native, holder: toEvmHolder(from) }] : [],
        to: pays ? [{ ...native, holder: toEvmHolder(to) }] : [],
        payloads,
      })
      for (const { address, topics, data } of transfers.filter(({ transactionHash }) => transactionHash === hash)) {
        const token = { asset: `${tickers.get(address) ?? address}@${network}`, units: BigInt(data) }
        movements.push({
          ...common,
          // The sender of the transaction pays the gas for the token's owner, so the two act together.
          from: [...new Set([toEvmHolder(toAddress(topics[1])), toEvmHolder(from)])]
            .filter((holder) => holder !== ZERO_ADDRESS)
            .map((holder) => ({ ...token, holder })),
          to: [{ ...token, holder: toEvmHolder(toAddress(topics[2])) }],
          payloads: [],
        })
      }
    }
  }
  return movements
}

const toAddress = (topic: string): string => `0x${topic.slice(-40)}`
