import { type Hex, parseTransaction } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

/** A new account of an EVM network. Its key is in memory only. Loaded with the first swap, because viem is large. */
export function createWallet() {
  const account = privateKeyToAccount(generatePrivateKey())
  return {
    address: account.address,
    sign: (rawTransaction: string) => account.signTransaction(parseTransaction(rawTransaction as Hex)),
  }
}
