import { type Hex, parseTransaction } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { callNode } from './nodes.ts'

export type SwapUser = Readonly<{
  account: string
  /** Signs an unsigned transaction of `/v1/defi/transaction/swap`. */
  sign(rawTransaction: string): Promise<string>
  /** Sends a signed transaction to the network's node and returns its hash. */
  broadcast(signed: string, network: string): Promise<string>
}>

/** Creates a new account of an EVM network, without coins. */
export function createSwapUser(): SwapUser {
  const account = privateKeyToAccount(generatePrivateKey())
  return {
    account: account.address,
    sign: (rawTransaction) => account.signTransaction(parseTransaction(rawTransaction as Hex)),
    broadcast: (signed, network) => callNode(network, 'eth_sendRawTransaction', [signed]),
  }
}
