import type { Asset } from '../../core/domain/asset.ts'
import type {
  AddressFacts,
  AddressTransfer,
  AssetAmount,
  ChainExplorer,
  TransactionFacts,
} from '../../exchange/ports/explorer.ts'
import { type ExplorerOptions, type Fields, fieldsOf, listOf, type Node, NodeError, textOf, timeOf } from './node.ts'

/** ERC-20: `Transfer(address,address,uint256)`. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** ERC-20: the selector of `balanceOf(address)`. */
const BALANCE_OF = '0x70a08231'
/** Number of latest blocks that are searched for token transfers. */
const LOG_BLOCKS = 50_000n
/** Maximum transfers on a page, native and token transfers each. */
const PAGE = 25

const quantity = (value: unknown): bigint =>
  typeof value === 'string' && /^0x[0-9a-fA-F]+$/.test(value) ? BigInt(value) : 0n
const hex = (value: bigint): string => `0x${value.toString(16)}`
const toWord = (address: string): string => address.slice(2).toLowerCase().padStart(64, '0')

type Context = ExplorerOptions & Readonly<{ native: Asset | null; tokens: ReadonlyMap<string, Asset> }>

export function createEvmExplorer(options: ExplorerOptions): ChainExplorer {
  const { network, node, assets } = options
  const tokens = new Map(assets.flatMap((asset) => (asset.contract ? [[asset.contract.toLowerCase(), asset]] : [])))
  const parse = (text: string) => toAccount(options.parse, tokens, text)
  const context = { ...options, parse, native: assets.find(({ contract }) => contract === null) ?? null, tokens }
  return {
    network,
    head: async () => {
      const block = fieldsOf(await node.call('eth_getBlockByNumber', 'latest', false))
      return {
        height: quantity(block['number']),
        hash: textOf(block['hash']) ?? '',
        at: timeOf(quantity(block['timestamp'])),
      }
    },
    address: (text) => readAddress(context, text),
    transaction: async (hash) => (/^0x[0-9a-fA-F]{64}$/.test(hash) ? readTransaction(context, hash) : null),
    close: node.close,
  }
}

/** Accepts token contracts too, which `parse` of the exchange rejects because a payment to one is lost. */
function toAccount(parse: ExplorerOptions['parse'], tokens: Context['tokens'], text: string): string | null {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return null
  return parse(text) ?? tokens.get(text.toLowerCase())?.contract ?? text.toLowerCase()
}

const nativeAmount = ({ native }: Context, units: bigint): AssetAmount => ({ units, asset: native, contract: null })

function tokenAmount({ tokens }: Context, contract: string, units: bigint): AssetAmount {
  return { units, asset: tokens.get(contract.toLowerCase()) ?? null, contract }
}

async function readAddress(context: Context, text: string): Promise<AddressFacts | null> {
  const { node, tokens, parse } = context
  const address = parse(text)
  if (address === null) return null
  const head = quantity(await node.call('eth_blockNumber'))
  const [units, sent, nativeTransfers, tokenTransfers, ...tokenBalances] = await Promise.all([
    node.call('eth_getBalance', address, 'latest'),
    node.call('eth_getTransactionCount', address, 'latest'),
    readNativeTransfers(context, address),
    readTokenTransfers(context, address, head),
    ...[...tokens].map(async ([contract]): Promise<AssetAmount> => {
      const call = { to: contract, data: `${BALANCE_OF}${toWord(address)}` }
      return tokenAmount(context, contract, quantity(await node.call('eth_call', call, 'latest')))
    }),
  ])
  const transfers = nativeTransfers && [...nativeTransfers, ...tokenTransfers].toSorted(newestFirst)
  return {
    address,
    balances: [nativeAmount(context, quantity(units)), ...tokenBalances.filter((sum) => sum.units > 0n)],
    transfers,
    blocks: null,
    sentCount: quantity(sent),
  }
}

const newestFirst = (a: AddressTransfer, b: AddressTransfer): number => {
  const [left, right] = [a.height ?? 0n, b.height ?? 0n]
  return left < right ? 1 : left > right ? -1 : 0
}

/** Otterscan's search, which anvil supports. null if it takes too long or the node does not support it. */
async function readNativeTransfers(context: Context, address: string): Promise<AddressTransfer[] | null> {
  try {
    const page = fieldsOf(await context.node.call('ots_searchTransactionsBefore', address, 0, PAGE))
    return listOf(page['txs']).flatMap((one) => toNativeTransfers(context, address, fieldsOf(one)))
  } catch {
    return null
  }
}

function toNativeTransfers({ parse, ...context }: Context, address: string, tx: Fields): AddressTransfer[] {
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
      amount: nativeAmount({ parse, ...context }, units),
    },
  ]
}

async function readTokenTransfers(context: Context, address: string, head: bigint): Promise<AddressTransfer[]> {
  const range = { fromBlock: hex(head > LOG_BLOCKS ? head - LOG_BLOCKS : 0n), toBlock: 'latest' }
  const padded = `0x${toWord(address)}`
  const [incoming, outgoing] = await Promise.all([
    context.node.call('eth_getLogs', { ...range, topics: [TRANSFER, null, padded] }),
    context.node.call('eth_getLogs', { ...range, topics: [TRANSFER, padded] }),
  ])
  const of = (direction: AddressTransfer['direction'], logs: unknown) =>
    listOf(logs)
      .slice(-PAGE)
      .flatMap((log) => {
        const transfer = toTransfer(context, fieldsOf(log))
        if (transfer === null) return []
        const { from, to, amount, hash, height } = transfer
        return [{ hash, height, direction, counterparty: direction === 'in' ? from : to, amount }]
      })
  return [...of('in', incoming), ...of('out', outgoing)]
}

function toTransfer(context: Context, log: Fields) {
  const topics = listOf(log['topics']).map((topic) => textOf(topic) ?? '')
  if (topics[0] !== TRANSFER || topics.length !== 3) return null
  const addressOf = (topic = '') => context.parse(`0x${topic.slice(-40)}`) ?? topic
  return {
    from: addressOf(topics[1]),
    to: addressOf(topics[2]),
    amount: tokenAmount(context, textOf(log['address']) ?? '', quantity(log['data'])),
    hash: textOf(log['transactionHash']) ?? '',
    height: quantity(log['blockNumber']),
  }
}

async function readTransaction(context: Context, hash: string): Promise<TransactionFacts | null> {
  const { node, parse } = context
  const tx = fieldsOf(await node.call('eth_getTransactionByHash', hash))
  const txHash = textOf(tx['hash'])
  if (txHash === null) return null
  const receipt = await readReceipt(node, txHash)
  const block = receipt && fieldsOf(await node.call('eth_getBlockByHash', receipt['blockHash'], false))
  const head = quantity(await node.call('eth_blockNumber'))
  const height = receipt ? quantity(receipt['blockNumber']) : 0n
  const account = (value: unknown) => parse(textOf(value) ?? '')
  return {
    hash: txHash,
    status: receipt === null ? 'waiting' : quantity(receipt['status']) === 1n ? 'confirmed' : 'failed',
    block: block && {
      height,
      hash: textOf(block['hash']) ?? '',
      at: timeOf(quantity(block['timestamp'])),
      confirmations: head >= height ? head - height + 1n : 1n,
    },
    fee: receipt && nativeAmount(context, quantity(receipt['gasUsed']) * quantity(receipt['effectiveGasPrice'])),
    call: {
      from: account(tx['from']) ?? '',
      to: account(tx['to']),
      created: receipt && account(receipt['contractAddress']),
      value: nativeAmount(context, quantity(tx['value'])),
      nonce: quantity(tx['nonce']),
    },
    transfers: listOf(receipt?.['logs']).flatMap((log) => toTransfer(context, fieldsOf(log)) ?? []),
    inputs: [],
    outputs: [],
  }
}

async function readReceipt(node: Node, hash: string): Promise<Fields | null> {
  try {
    const receipt = await node.call('eth_getTransactionReceipt', hash)
    return receipt === null ? null : fieldsOf(receipt)
  } catch (error) {
    if (error instanceof NodeError) return null
    throw error
  }
}
