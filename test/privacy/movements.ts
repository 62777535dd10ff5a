import { coins } from '../../server/currencies/coins.ts'

/** A side of a transaction: who holds, and how much. A holder is what the chain shows of a key, in words common to all chains. */
export type Side = Readonly<{ holder: string; asset: string; units: bigint }>

/** One transaction as a public node shows it. */
export type Movement = Readonly<{
  network: string
  txHash: string
  height: number
  /** Of its block, in seconds. */
  time: number
  from: readonly Side[]
  to: readonly Side[]
  /** Holders that one key stands for, whichever chain they are on: a public key that a signature showed. */
  keys: readonly (readonly [holder: string, same: string])[]
  /** Data that the transaction carries beside its payments. */
  contents: readonly string[]
}>

/** A network's own coin, as the catalogue names it: not always by the network's name. */
export function coinOf(network: string): string {
  const found = coins.find((one) => one.network === network)
  if (!found) throw new Error(`the catalogue has no coin of ${network}`)
  return `${found.ticker}@${network}`
}

export const where = ({ network, txHash }: Pick<Movement, 'network' | 'txHash'>): string =>
  `${network} ${txHash.replace(/^0x/, '')}`

/** A hash of 20 bytes of a public key means the same on every chain of the bitcoin family, whatever its address looks like. */
export const keyHolder = (hash: string): string => `key:${hash}`
export const evmHolder = (address: string): string => address.toLowerCase()
