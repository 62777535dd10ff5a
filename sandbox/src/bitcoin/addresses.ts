import { Address, NETWORK, OutScript, p2wpkh, WIF } from '@scure/btc-signer'
import { pubECDSA, randomPrivateKeyBytes } from '@scure/btc-signer/utils.js'
import { invalidAddress } from '../control-error.ts'
import { bitcoinNetworks } from '../networks.ts'

export type BitcoinTicker = keyof typeof bitcoinNetworks

export const parametersOf = (network: BitcoinTicker) => ({ ...NETWORK, ...bitcoinNetworks[network] })

/** A private key with its public key, P2WPKH script and address. */
export type BitcoinKey = Readonly<{
  privateKey: Uint8Array
  publicKey: Uint8Array
  script: Uint8Array
  address: string
}>

export function keyOf(network: BitcoinTicker, privateKey: Uint8Array): BitcoinKey {
  const publicKey = pubECDSA(privateKey)
  const { script, address } = p2wpkh(publicKey, parametersOf(network))
  if (address === undefined) throw new Error('the key has no address')
  return { privateKey, publicKey, script, address }
}

export function createExternalWallet(network: BitcoinTicker) {
  const { privateKey, address } = keyOf(network, randomPrivateKeyBytes())
  return { network, address, memo: null, privateKey: WIF(parametersOf(network)).encode(privateKey) }
}

export function scriptOfAddress(network: BitcoinTicker, address: string): Uint8Array {
  try {
    return OutScript.encode(Address(parametersOf(network)).decode(address))
  } catch (cause) {
    throw invalidAddress(network, address, cause)
  }
}
