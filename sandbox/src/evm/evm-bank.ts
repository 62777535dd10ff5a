import { encodeFunctionData, getAddress, type Hex, isAddress, parseAbi } from 'viem'
import { formatUnits, parseUnits } from '../amount.ts'
import { ControlError } from '../control-error.ts'
import type { JsonRpc } from '../json-rpc.ts'
import type { SandboxToken } from '../tokens.ts'

const abi = parseAbi([
  'function balanceOf(address owner) view returns (uint256)',
  'function transfer(address to, uint256 value)',
])
const nativeDecimals = 18
/** Enough for a token's transfer, and for a contract's `receive`. */
const paymentGas = 100_000n

type Dependencies = Readonly<{
  rpc: JsonRpc
  network: string
  nativeTicker: string
  address: Hex
  listedTokens: readonly SandboxToken[]
  contracts: Readonly<Record<string, Hex>>
  feeWei: bigint
  tipWei: bigint
}>

export type EvmBank = Readonly<{
  address: Hex
  /** Checks a payment, and answers what makes it. That runs alone: it takes the bank's next nonce. */
  preparePayment(payment: { currency: string; address: string; amount: string }): () => Promise<Hex>
  readBalance(query: { currency: string; address: string }): Promise<string>
  /** Takes a nonce with an empty payment. */
  fillNonce(nonce: Hex): Promise<Hex>
}>

/** The first of the node's own accounts: the node signs. */
export function createEvmBank({
  rpc,
  network,
  nativeTicker,
  address: bank,
  listedTokens,
  contracts,
  feeWei,
  tipWei,
}: Dependencies): EvmBank {
  const findAsset = (currency: string): { contract: Hex | null; decimals: number } => {
    if (currency === 'native' || currency === nativeTicker) return { contract: null, decimals: nativeDecimals }
    const token = listedTokens.find((one) => one.ticker === currency)
    const contract = contracts[currency]
    if (token && contract) return { contract, decimals: token.decimals }
    const message = `${network} has no currency "${currency.slice(0, 40)}" in the sandbox`
    throw new ControlError(404, 'CURRENCY_NOT_FOUND', message)
  }

  const readUnits = async (contract: Hex | null, owner: Hex): Promise<bigint> => {
    if (contract === null) return BigInt((await rpc.call('eth_getBalance', [owner, 'latest'])) as Hex)
    const data = encodeFunctionData({ abi, functionName: 'balanceOf', args: [owner] })
    return BigInt((await rpc.call('eth_call', [{ to: contract, data }, 'latest'])) as Hex)
  }

  const sendTransaction = async (transaction: { to: Hex; value?: Hex; data?: Hex }, nonce?: Hex): Promise<Hex> => {
    const fees = { gas: toHex(paymentGas), maxFeePerGas: toHex(feeWei), maxPriorityFeePerGas: toHex(tipWei) }
    const next = nonce ?? (await rpc.call('eth_getTransactionCount', [bank, 'pending']))
    return (await rpc.call('eth_sendTransaction', [{ from: bank, nonce: next, ...transaction, ...fees }])) as Hex
  }

  return {
    address: bank,
    preparePayment({ currency, address, amount }) {
      const { contract, decimals } = findAsset(currency)
      const to = parseAddress(network, address)
      const units = parseUnits(amount, decimals)
      if (units === 0n) throw new ControlError(400, 'AMOUNT_TOO_SMALL', 'the amount is zero')
      return async () => {
        const available = await readUnits(contract, bank)
        if (available < units) {
          throw new ControlError(
            409,
            'BANK_IS_SHORT',
            `the sandbox's bank has ${formatUnits(available, decimals)} only`,
          )
        }
        if (contract === null) return sendTransaction({ to, value: toHex(units) })
        return sendTransaction({
          to: contract,
          data: encodeFunctionData({ abi, functionName: 'transfer', args: [to, units] }),
        })
      }
    },
    async readBalance({ currency, address }) {
      const { contract, decimals } = findAsset(currency)
      return formatUnits(await readUnits(contract, parseAddress(network, address)), decimals)
    },
    fillNonce: (nonce) => sendTransaction({ to: bank, value: '0x0' }, nonce),
  }
}

const toHex = (value: bigint | number): Hex => `0x${value.toString(16)}`

function parseAddress(network: string, text: string): Hex {
  // Mixed case is EIP-55 and must be right; one case carries no checksum.
  if (!isAddress(text)) {
    throw new ControlError(400, 'INVALID_ADDRESS', `"${text.slice(0, 120)}" is no address of ${network} in the sandbox`)
  }
  return getAddress(text)
}
