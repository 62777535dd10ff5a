import type { Asset } from '../../core/domain/asset.ts'
import type { Network } from '../../core/domain/network.ts'
import type {
  AddressFacts,
  AddressTransfer,
  AssetAmount,
  ChainExplorer,
  TransactionFacts,
} from '../../exchange/ports/explorer.ts'
import { type Fields, fieldsOf, listOf, type Node, NodeError, textOf, timeOf } from './node.ts'

/** ERC-20: `Transfer(address,address,uint256)`. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** ERC-20: the selector of `balanceOf(address)`. */
const BALANCE_OF = '0x70a08231'
/** Token transfers are looked for in this many of the latest blocks. */
const LOG_BLOCKS = 50_000n
/** Movements of one page, of coins and of tokens each. */
const PAGE = 25

export type ExplorerOptions = Readonly<{
  network: Network
  node: Node
  assets: readonly Asset[]
  parse(text: string): string | null
}>

const quantity = (value: unknown): bigint =>
  typeof value === 'string' && /^0x[0-9a-fA-F]+$/.test(value) ? BigInt(value) : 0n
const hex = (value: bigint): string => `0x${value.toString(16)}`
const word = (address: string): string => address.slice(2).toLowerCase().padStart(64, '0')

type Reading = ExplorerOptions & Readonly<{ coin: Asset | null; tokens: ReadonlyMap<string, Asset> }>

export function createEvmExplorer(options: ExplorerOptions): ChainExplorer {
  const { network, node, assets } = options
  const tokens = new Map(assets.flatMap((asset) => (asset.contract ? [[asset.contract.toLowerCase(), asset]] : [])))
  const parse = (text: string) => toAccount(options.parse, tokens, text)
  const reading = { ...options, parse, coin: assets.find(({ contract }) => contract === null) ?? null, tokens }
  return {
    network,
    head: async () => {
      const block = fieldsOf(await node.ask('eth_getBlockByNumber', 'latest', false))
      return {
        height: quantity(block['number']),
        hash: textOf(block['hash']) ?? '',
        at: timeOf(quantity(block['timestamp'])),
      }
    },
    address: (text) => readAddress(reading, text),
    transaction: async (hash) => (/^0x[0-9a-fA-F]{64}$/.test(hash) ? readTransaction(reading, hash) : null),
    close: node.close,
  }
}

/** Contracts are looked up too, which nobody could be paid at: they are no addresses to the exchange. */
function toAccount(parse: ExplorerOptions['parse'], tokens: Reading['tokens'], text: string): string | null {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return null
  return parse(text) ?? tokens.get(text.toLowerCase())?.contract ?? text.toLowerCase()
}

const coinSum = ({ coin }: Reading, units: bigint): AssetAmount => ({ units, asset: coin, contract: null })

function tokenSum({ tokens }: Reading, contract: string, units: bigint): AssetAmount {
  return { units, asset: tokens.get(contract.toLowerCase()) ?? null, contract }
}

async function readAddress(reading: Reading, text: string): Promise<AddressFacts | null> {
  const { node, tokens, parse } = reading
  const address = parse(text)
  if (address === null) return null
  const head = quantity(await node.ask('eth_blockNumber'))
  const [units, sent, coinMovements, tokenMovements, ...held] = await Promise.all([
    node.ask('eth_getBalance', address, 'latest'),
    node.ask('eth_getTransactionCount', address, 'latest'),
    readCoinMovements(reading, address),
    readTokenMovements(reading, address, head),
    ...[...tokens].map(async ([contract]): Promise<AssetAmount> => {
      const call = { to: contract, data: `${BALANCE_OF}${word(address)}` }
      return tokenSum(reading, contract, quantity(await node.ask('eth_call', call, 'latest')))
    }),
  ])
  const movements = coinMovements && [...coinMovements, ...tokenMovements].toSorted(newestFirst)
  return {
    address,
    balances: [coinSum(reading, quantity(units)), ...held.filter((sum) => sum.units > 0n)],
    transfers: movements,
    blocks: null,
    sentCount: quantity(sent),
  }
}

const newestFirst = (a: AddressTransfer, b: AddressTransfer): number => {
  const [left, right] = [a.height ?? 0n, b.height ?? 0n]
  return left < right ? 1 : left > right ? -1 : 0
}

/** Otterscan's search, which anvil has. null where it takes too long, or the node has none. */
async function readCoinMovements(reading: Reading, address: string): Promise<AddressTransfer[] | null> {
  try {
    const found = fieldsOf(await reading.node.ask('ots_searchTransactionsBefore', address, 0, PAGE))
    return listOf(found['txs']).flatMap((one) => toCoinMovements(reading, address, fieldsOf(one)))
  } catch {
    return null
  }
}

function toCoinMovements({ parse, ...reading }: Reading, address: string, tx: Fields): AddressTransfer[] {
  const units = quantity(tx['value'])
  const [from, to] = [parse(textOf(tx['from']) ?? ''), parse(textOf(tx['to']) ?? '')]
  if (units === 0n || (from !== address && to !== address)) return []
  const direction = from === address ? 'out' : 'in'
  return [
    {
      hash: textOf(tx['hash']) ?? '',
      height: quantity(tx['blockNumber']),
      direction,
      counterparty: direction === 'out' ? to : from,
      amount: coinSum({ parse, ...reading }, units),
    },
  ]
}

async function readTokenMovements(reading: Reading, address: string, head: bigint): Promise<AddressTransfer[]> {
  const range = { fromBlock: hex(head > LOG_BLOCKS ? head - LOG_BLOCKS : 0n), toBlock: 'latest' }
  const padded = `0x${word(address)}`
  const [incoming, outgoing] = await Promise.all([
    reading.node.ask('eth_getLogs', { ...range, topics: [TRANSFER, null, padded] }),
    reading.node.ask('eth_getLogs', { ...range, topics: [TRANSFER, padded] }),
  ])
  const of = (direction: AddressTransfer['direction'], logs: unknown) =>
    listOf(logs)
      .slice(-PAGE)
      .flatMap((log) => {
        const transfer = toTransfer(reading, fieldsOf(log))
        if (transfer === null) return []
        const { from, to, amount, hash, height } = transfer
        return [{ hash, height, direction, counterparty: direction === 'in' ? from : to, amount }]
      })
  return [...of('in', incoming), ...of('out', outgoing)]
}

function toTransfer(reading: Reading, log: Fields) {
  const topics = listOf(log['topics']).map((topic) => textOf(topic) ?? '')
  if (topics[0] !== TRANSFER || topics.length !== 3) return null
  const addressOf = (topic = '') => reading.parse(`0x${topic.slice(-40)}`) ?? topic
  return {
    from: addressOf(topics[1]),
    to: addressOf(topics[2]),
    amount: tokenSum(reading, textOf(log['address']) ?? '', quantity(log['data'])),
    hash: textOf(log['transactionHash']) ?? '',
    height: quantity(log['blockNumber']),
  }
}

async function readTransaction(reading: Reading, hash: string): Promise<TransactionFacts | null> {
  const { node, parse } = reading
  const tx = fieldsOf(await node.ask('eth_getTransactionByHash', hash))
  const known = textOf(tx['hash'])
  if (known === null) return null
  const receipt = await readReceipt(node, known)
  const block = receipt && fieldsOf(await node.ask('eth_getBlockByHash', receipt['blockHash'], false))
  const head = quantity(await node.ask('eth_blockNumber'))
  const height = receipt ? quantity(receipt['blockNumber']) : 0n
  const account = (value: unknown) => parse(textOf(value) ?? '')
  return {
    hash: known,
    status: receipt === null ? 'waiting' : quantity(receipt['status']) === 1n ? 'confirmed' : 'failed',
    block: block && {
      height,
      hash: textOf(block['hash']) ?? '',
      at: timeOf(quantity(block['timestamp'])),
      confirmations: head >= height ? head - height + 1n : 1n,
    },
    fee: receipt && coinSum(reading, quantity(receipt['gasUsed']) * quantity(receipt['effectiveGasPrice'])),
    call: {
      from: account(tx['from']) ?? '',
      to: account(tx['to']),
      created: receipt && account(receipt['contractAddress']),
      value: coinSum(reading, quantity(tx['value'])),
      nonce: quantity(tx['nonce']),
    },
    transfers: listOf(receipt?.['logs']).flatMap((log) => toTransfer(reading, fieldsOf(log)) ?? []),
    inputs: [],
    outputs: [],
  }
}

async function readReceipt(node: Node, hash: string): Promise<Fields | null> {
  try {
    const receipt = await node.ask('eth_getTransactionReceipt', hash)
    return receipt === null ? null : fieldsOf(receipt)
  } catch (error) {
    if (error instanceof NodeError) return null
    throw error
  }
}
