import type { CallNode } from './utxo-wallets.ts'

/** ERC-20 `balanceOf(address)`. */
const BALANCE_OF = '0x70a08231'

/** What an account holds by its node, in units: of a token, or of the native coin if `contract` is null. */
export async function readEvmBalance(call: CallNode, address: string, contract: string | null): Promise<bigint> {
  if (contract === null) return BigInt(String(await call('eth_getBalance', [address, 'latest'])))
  const data = `${BALANCE_OF}${address.slice(2).toLowerCase().padStart(64, '0')}`
  return BigInt(String(await call('eth_call', [{ to: contract, data }, 'latest'])))
}

/** Topic of the ERC-20 event `Transfer(address,address,uint256)`. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

type Receipt = Readonly<{
  status: string
  logs: readonly { address: string; topics: readonly string[]; data: string }[]
}>
/** A call of a transaction, in the format of geth's `callTracer`. */
type Call = Readonly<{ type: string; to?: string; value?: string; error?: string; calls?: readonly Call[] }>

const isSame = (one: string | undefined, other: string) => one?.toLowerCase() === other.toLowerCase()

/** What a transaction in a block paid to an address: of a token by its events, of the native coin by its calls. */
export async function readEvmReceived(
  call: CallNode,
  txHash: string,
  address: string,
  contract: string | null,
): Promise<bigint> {
  const receipt = (await call('eth_getTransactionReceipt', [txHash])) as Receipt | null
  if (receipt?.status !== '0x1') return 0n
  if (contract === null)
    return sumValues((await call('debug_traceTransaction', [txHash, { tracer: 'callTracer' }])) as Call, address)
  const to = `0x${address.slice(2).padStart(64, '0')}`
  return receipt.logs
    .filter(({ address: from, topics }) => isSame(from, contract) && topics[0] === TRANSFER && isSame(topics[2], to))
    .reduce((sum, { data }) => sum + BigInt(data), 0n)
}

/** A delegated call shows the value of its caller again. */
function sumValues({ type, to, value, error, calls = [] }: Call, address: string): bigint {
  if (error !== undefined) return 0n
  const own = isSame(to, address) && type !== 'DELEGATECALL' && type !== 'CALLCODE' ? BigInt(value ?? '0x0') : 0n
  return calls.reduce((sum, inner) => sum + sumValues(inner, address), own)
}
