import { coins } from '../../server/currencies/coins.ts'

/** One side of a transaction. `holder` identifies a key as far as the chain shows it, in a format common to all chains. */
export type Side = Readonly<{ holder: string; asset: string; units: bigint }>

/** A transaction as a public node shows it. */
export type Movement = Readonly<{
  network: string
  txHash: string
  height: number
  /** Time of its block in seconds. */
  time: number
  from: readonly Side[]
  to: readonly Side[]
  /** Pairs of holders with one public key, on any chain. A signature revealed the key. */
  keys: readonly (readonly [holder: string, same: string])[]
  /** Data that the transaction carries in addition to its payments, in hex. */
  payloads: readonly string[]
}>

/** The asset id of a network's native currency. Its ticker is not always the network's id. */
export function findNativeAsset(network: string): string {
  const native = coins.find((currency) => currency.network === network)
  if (!native) throw new Error(`the catalogue has no native currency of ${network}`)
  return `${native.ticker}@${network}`
}

export const formatWhere = ({ network, txHash }: Pick<Movement, 'network' | 'txHash'>): string =>
  `${network} ${txHash.replace(/^0x/, '')}`

/** Chains of the bitcoin family share the 20-byte hash of a public key, in whatever address format. */
export const toKeyHolder = (hash: string): string => `key:${hash}`
export const toEvmHolder = (address: string): string => address.toLowerCase()
