import { evmBankAddress } from '../../sandbox/src/keys.ts'
import { nodeCall, nodeOf } from '../support/nodes.ts'
import type { Json } from '../support/scenario.ts'
import { coinOf, evmHolder, type Movement } from './movements.ts'

/** ERC-20: keccak256 of `Transfer(address,address,uint256)`. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** A selector, an address and a number: the call of a plain transfer, whose address and number are read as such. */
const TRANSFER_CALL = /^0xa9059cbb[0-9a-f]{128}$/

/** Every payment of the blocks above `after`: coin that transactions carry, and tokens that contracts say were moved. */
export async function readEvm(network: string, after: number): Promise<readonly Movement[]> {
  const top = Number(await nodeCall(network, 'eth_blockNumber'))
  const hex = (height: number) => `0x${height.toString(16)}`
  const filter = { fromBlock: hex(after + 1), toBlock: hex(top), topics: [TRANSFER] }
  const moved: Json[] = await nodeCall(network, 'eth_getLogs', [filter])
  const tickers = new Map(
    Object.entries(nodeOf(network).tokens).map(([ticker, address]) => [address.toLowerCase(), ticker]),
  )
  const holderOf = (address: string) => holderOn(network, address)
  const asset = coinOf(network)
  const movements: Movement[] = []
  for (let height = after + 1; height <= top; height++) {
    const block = await nodeCall(network, 'eth_getBlockByNumber', [hex(height), true])
    for (const { hash, from, to, value, input } of block.transactions) {
      const shape = { network, txHash: hash, height, time: Number(block.timestamp), keys: [] }
      const contents = input.length > 2 && !TRANSFER_CALL.test(input) ? [input.slice(2)] : []
      const coin = { asset, units: BigInt(value) }
      const pays = coin.units > 0n && to !== null
      movements.push({
        ...shape,
        from: pays ? [{ ...coin, holder: holderOf(from) }] : [],
        to: pays ? [{ ...coin, holder: holderOf(to) }] : [],
        contents,
      })
      for (const { address, topics, data } of moved.filter((one) => one.transactionHash === hash)) {
        const token = { asset: `${tickers.get(address) ?? address}@${network}`, units: BigInt(data) }
        movements.push({
          ...shape,
          // Who pays the gas of another's transfer acts together with it.
          from: [...new Set([holderOf(addressOf(topics[1])), holderOf(from)])].map((holder) => ({ ...token, holder })),
          to: [{ ...token, holder: holderOf(addressOf(topics[2])) }],
          contents: [],
        })
      }
    }
  }
  return movements
}

const addressOf = (topic: string): string => `0x${topic.slice(-40)}`

const bank = evmHolder(evmBankAddress())
/** The sandbox's bank plays all payers, by one key on all networks: no two customers have that in common. */
function holderOn(network: string, address: string): string {
  const holder = evmHolder(address)
  return holder === bank ? `the payers on ${network}` : holder
}
