import { encodeFunctionData, getAddress, type Hex, isAddress, numberToHex, parseAbi } from 'viem'
import { formatUnits, parseUnits } from '../amount.ts'
import { ControlError, currencyNotFound } from '../control-error.ts'
import type { JsonRpc } from '../json-rpc.ts'
import type { SandboxToken } from '../tokens.ts'

const abi = parseAbi([
  'function balanceOf(address owner) view returns (uint256)',
  'function transfer(address to, uint256 value)',
])
const nativeDecimals = 18
/** Gas limit of a payment: enough for a token transfer or a contract's `receive`. */
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
  /**
   * Validates a payment and returns the function that sends it. Run that one under the chain's lock: it takes the next
   * nonce.
   */
  preparePayment(payment: { currency: string; address: string; amount: string }): () => Promise<Hex>
  readBalance(query: { currency: string; address: string }): Promise<string>
  /** Uses up a nonce with a zero-value payment to the bank. */
  fillNonce(nonce: Hex): Promise<Hex>
}>

/** The bank is the first of anvil's accounts; anvil signs for it. */
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
    throw currencyNotFound(network, currency)
  }

  const readUnits = async (contract: Hex | null, owner: Hex): Promise<bigint> => {
    if (contract === null) return BigInt((await rpc.call('eth_getBalance', [owner, 'latest'])) as Hex)
    const data = encodeFunctionData({ abi, functionName: 'balanceOf', args: [owner] })
    return BigInt((await rpc.call('eth_call', [{ to: contract, data }, 'latest'])) as Hex)
  }

  const sendTransaction = async (transaction: { to: Hex; value?: Hex; data?: Hex }, nonce?: Hex): Promise<Hex> => {
    const fees = {
      gas: numberToHex(paymentGas),
      maxFeePerGas: numberToHex(feeWei),
      maxPriorityFeePerGas: numberToHex(tipWei),
    }
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
          throw new ControlError(409, 'BANK_IS_SHORT', `the sandbox bank has only ${formatUnits(available, decimals)}`)
        }
        if (contract === null) return sendTransaction({ to, value: numberToHex(units) })
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

function parseAddress(network: string, text: string): Hex {
  // A mixed-case address must match its EIP-55 checksum; an address in one case has none.
  if (!isAddress(text)) {
    throw new ControlError(400, 'INVALID_ADDRESS', `"${text.slice(0, 120)}" is not a valid ${network} address`)
  }
  return getAddress(text)
}
